from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from support.optima import candidate_at, moved_theta, wave_context
from support.rungs import optimised

from vbks.inference import finalise as finalise_module
from vbks.inference.candidate import Candidate
from vbks.inference.context import FitContext
from vbks.inference.finalise import finalise
from vbks.inference.optimise import optimise_from
from vbks.inference.result import LocalFit
from vbks.inference.screening import ScreeningPolicy
from vbks.kernels.bank.bank import Bank

MODE_MARGIN, MODES = ScreeningPolicy().mode_margin, ScreeningPolicy().max_modes


@pytest.fixture(scope="module")
def context() -> FitContext:
    return wave_context()


@pytest.fixture(scope="module")
def top(context: FitContext) -> Candidate:
    """PER at its highest optimum."""
    return optimised("PER", context)


def finalise_one(candidate: Candidate, context: FitContext) -> LocalFit:
    (found,) = finalise([candidate], context)
    return found


@pytest.mark.parametrize("posterior", ["point", "full"])
def test_separated_modes__make_a_mixture(top: Candidate, posterior: str) -> None:
    """A wave of twice the period is another optimum, nearly as high."""
    context = wave_context(posterior)
    theta = top.thetas[0]
    slow = moved_theta(theta, top, ".period", np.log(2))
    double = moved_theta(slow, top, ".lengthscales", np.log(0.6))
    evidence = context.final_evidence(top.jitter)
    (both,) = optimise_from([top], [np.stack([theta, double])], context, evidence, [()], 100)
    assert len(both.values) == 2
    # However far apart in height, as two modes they are judged here.
    both = replace(both, values=both.values[0] - np.array([0.0, 0.5 * MODE_MARGIN]))
    fit = finalise_one(both, context)
    assert len(fit.modes) == 2
    values = [
        mode.log_likelihood + mode.log_prior + mode.log_volume
        if posterior == "point"
        else mode.elbo
        for mode in fit.modes
    ]
    assert values[0] >= values[1]
    weights = np.exp(values - logsumexp(values))
    np.testing.assert_allclose([mode.weight for mode in fit.modes], weights, rtol=1e-9)
    if posterior == "point":
        assert fit.elbo == fit.modes[0].log_likelihood
        assert fit.log_evidence() == pytest.approx(logsumexp(values), abs=1e-9)
        assert np.isnan([mode.elbo for mode in fit.modes]).all()
    else:
        assert fit.elbo == pytest.approx(logsumexp(values), abs=1e-9)
        assert fit.elbo > values[0]


def test_modes_that_overlap__count_once(context: FitContext, top: Candidate) -> None:
    theta = top.thetas[0]
    twins = candidate_at(top, context, [theta, moved_theta(theta, top, ".lengthscales", 0.2)])
    assert twins.values[1] > twins.best - MODE_MARGIN
    fit = finalise_one(twins, context)
    assert len(fit.modes) == 1
    assert fit.modes[0].weight == 1
    np.testing.assert_array_equal(fit.theta, theta)


def test_low_modes__are_left_out(context: FitContext, top: Candidate) -> None:
    theta = top.thetas[0]
    low = candidate_at(top, context, [theta, moved_theta(theta, top, ".period", 1.0)])
    assert low.values[1] < low.best - MODE_MARGIN
    assert len(finalise_one(low, context).modes) == 1


def test_modes__are_few(context: FitContext, top: Candidate) -> None:
    steps = 0.5 * np.arange(MODES + 2)
    thetas = np.stack([moved_theta(top.thetas[0], top, ".period", step) for step in steps])
    crowd = replace(top, thetas=thetas, values=np.full(len(thetas), top.best))
    assert len(finalise_one(crowd, context).modes) <= MODES


def test_fit__has_likelihood_and_prior_of_its_point(context: FitContext, top: Candidate) -> None:
    fit = finalise_one(top, context)
    mode = fit.modes[0]
    theta = mode.mean[None, None]
    likelihood = context.final_evidence(fit.jitter)(Bank(["PER"]), theta).numpy().item()
    assert mode.log_likelihood == pytest.approx(likelihood, abs=1e-8)
    assert mode.log_likelihood + mode.log_prior == pytest.approx(top.best, abs=1e-6)


def test_candidate_without_finite_curvature__fails(
    context: FitContext, top: Candidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = finalise_module.approximate

    def broken(*given: Any) -> Any:
        found = whole(*given)
        return replace(found, log_volume=np.full_like(found.log_volume, np.nan))

    monkeypatch.setattr(finalise_module, "approximate", broken)
    fit = finalise_one(top, context)
    message = "no finite curvature or bound around the best θ found."
    assert (fit.status, fit.reason) == ("failed", message)

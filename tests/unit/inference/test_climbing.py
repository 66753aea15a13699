from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from vbks.arrays import Array
from vbks.grammar.parser import parse
from vbks.inference import climbing
from vbks.inference.candidate import Candidate, make_candidate
from vbks.inference.choices import make_context
from vbks.inference.climbing import MODE_MARGIN, MODES, climb, climb_from, finish, look
from vbks.inference.context import FitContext
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitSettings
from vbks.kernels.bank.bank import Bank, Objective
from vbks.kernels.layout import lay_out


def make_comparison(posterior: Any = "point") -> FitContext:
    rng = np.random.default_rng(0)
    X = np.linspace(0, 10, 40)
    y = np.sin(2 * X) + 0.2 * rng.normal(size=40)
    return make_context((X, y), 1, FitSettings(inference="exact", posterior=posterior, restarts=4))[
        0
    ]


@pytest.fixture(scope="module")
def comparison() -> FitContext:
    return make_comparison()


@pytest.fixture(scope="module")
def top(comparison: FitContext) -> Candidate:
    """PER at its highest optimum."""
    return look_and_climb("PER", comparison)


def look_and_climb(text: str, comparison: FitContext) -> Candidate:
    (found,) = climb(look([make_candidate(parse(text), comparison, None)], comparison), comparison)
    return found


def log_posteriors(candidate: Candidate, comparison: FitContext, thetas: Sequence[Array]) -> Array:
    evidence = comparison.final_evidence(candidate.jitter)
    posterior = comparison.log_posterior([candidate.expression] * len(thetas), evidence)
    value, _ = posterior(np.arange(len(thetas)), np.stack(thetas))
    return value


def at(candidate: Candidate, comparison: FitContext, thetas: Sequence[Array]) -> Candidate:
    """The candidate as if these θ were its optima."""
    values = log_posteriors(candidate, comparison, thetas)
    order = np.argsort(-values)
    return replace(candidate, thetas=np.stack(thetas)[order], values=values[order])


def moved(theta: Array, candidate: Candidate, name: str, step: float) -> Array:
    there = theta.copy()
    there[candidate.layout.names.index(name)] += step
    return there


def test_look__keeps_the_optima_of_all_starts_best_first(comparison: FitContext) -> None:
    (looked,) = look([make_candidate(parse("SE * PER"), comparison, None)], comparison)
    assert looked.restarts == comparison.restarts
    assert 1 <= len(looked.values) <= comparison.restarts
    assert (np.diff(looked.values) <= 0).all()
    np.testing.assert_allclose(
        looked.values, log_posteriors(looked, comparison, list(looked.thetas)), atol=1e-6
    )


def test_climb__ends_where_no_step_leads_higher(comparison: FitContext, top: Candidate) -> None:
    assert top.converged
    steps = 0.02 * np.random.default_rng(0).normal(size=(20, len(top.layout)))
    around = log_posteriors(top, comparison, list(top.thetas[0] + steps))
    assert (around <= top.best + 1e-3).all()


def test_climb__does_not_end_lower_than_the_look(comparison: FitContext) -> None:
    (looked,) = look([make_candidate(parse("SE + LIN"), comparison, None)], comparison)
    (climbed,) = climb([looked], comparison)
    assert climbed.best >= looked.best - 1e-9


def test_starts_that_meet__count_once(comparison: FitContext, top: Candidate) -> None:
    theta = top.thetas[0]
    near = np.stack([theta, moved(theta, top, ".lengthscales", 0.1), theta + 0.01])
    evidence = comparison.final_evidence(top.jitter)
    (found,) = climb_from([top], [near], comparison, evidence, [()], 60)
    assert len(found.values) == 1
    np.testing.assert_allclose(found.best, top.best, atol=1e-3)


def test_candidate_without_a_finite_start__gets_more_jitter_then_is_given_up(
    comparison: FitContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    jitters = set()

    def nothing(self: Bank, objective: Objective, theta: Any, *tensors: Any) -> Any:
        jitters.add(float(tensors[-1]))
        value, gradient = whole(self, objective, theta, *tensors)
        return np.nan * value, gradient

    whole = Bank.with_gradient
    monkeypatch.setattr(Bank, "with_gradient", nothing)
    (lost,) = look([make_candidate(parse("LIN"), comparison, None)], comparison)
    assert jitters == {1e-8, 1e-6}
    assert not lost.is_going
    message = "no covariance could be factorised at any of 4 starts, also with a jitter of 1e-06."
    assert lost.reason == message


def finish_one(candidate: Candidate, comparison: FitContext) -> LocalFit:
    (found,) = finish([candidate], comparison)
    return found


@pytest.mark.parametrize("posterior", ["point", "full"])
def test_separated_modes__make_a_mixture(top: Candidate, posterior: str) -> None:
    """A wave of twice the period is another optimum, nearly as high."""
    comparison = make_comparison(posterior)
    theta = top.thetas[0]
    double = moved(moved(theta, top, ".period", np.log(2)), top, ".lengthscales", np.log(0.6))
    evidence = comparison.final_evidence(top.jitter)
    (both,) = climb_from([top], [np.stack([theta, double])], comparison, evidence, [()], 100)
    assert len(both.values) == 2
    # However far apart in height, as two modes they are judged here.
    both = replace(both, values=both.values[0] - np.array([0.0, 0.5 * MODE_MARGIN]))
    fit = finish_one(both, comparison)
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


def test_modes_that_overlap__count_once(comparison: FitContext, top: Candidate) -> None:
    theta = top.thetas[0]
    twins = at(top, comparison, [theta, moved(theta, top, ".lengthscales", 0.2)])
    assert twins.values[1] > twins.best - MODE_MARGIN
    fit = finish_one(twins, comparison)
    assert len(fit.modes) == 1
    assert fit.modes[0].weight == 1
    np.testing.assert_array_equal(fit.theta, theta)


def test_low_modes__are_left_out(comparison: FitContext, top: Candidate) -> None:
    theta = top.thetas[0]
    low = at(top, comparison, [theta, moved(theta, top, ".period", 1.0)])
    assert low.values[1] < low.best - MODE_MARGIN
    assert len(finish_one(low, comparison).modes) == 1


def test_modes__are_few(comparison: FitContext, top: Candidate) -> None:
    thetas = np.stack([moved(top.thetas[0], top, ".period", 0.5 * k) for k in range(MODES + 2)])
    crowd = replace(top, thetas=thetas, values=np.full(len(thetas), top.best))
    assert len(finish_one(crowd, comparison).modes) <= MODES


def test_fit__has_likelihood_and_prior_of_its_point(comparison: FitContext, top: Candidate) -> None:
    fit = finish_one(top, comparison)
    mode = fit.modes[0]
    theta = mode.mean[None, None]
    likelihood = comparison.final_evidence(fit.jitter)(Bank(["PER"]), theta).numpy().item()
    assert mode.log_likelihood == pytest.approx(likelihood, abs=1e-8)
    assert mode.log_likelihood + mode.log_prior == pytest.approx(top.best, abs=1e-6)


def test_candidate_without_finite_curvature__fails(
    comparison: FitContext, top: Candidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = climbing.approximate

    def broken(*given: Any) -> Any:
        found = whole(*given)
        return replace(found, log_volume=np.full_like(found.log_volume, np.nan))

    monkeypatch.setattr(climbing, "approximate", broken)
    fit = finish_one(top, comparison)
    message = "no finite curvature or bound around the best θ found."
    assert (fit.status, fit.reason) == ("failed", message)


def test_climb__finds_that_a_wave_repeats_twice_as_often(
    comparison: FitContext, top: Candidate
) -> None:
    period = top.layout.names.index(".period")
    double = moved(moved(top.thetas[0], top, ".period", np.log(2.0)), top, ".lengthscales", -0.7)
    (found,) = climb([at(top, comparison, [double])], comparison)
    assert found.thetas[0][period] == pytest.approx(top.thetas[0][period], abs=0.01)
    assert found.best == pytest.approx(top.best, abs=0.01)


@pytest.mark.parametrize(
    ("text", "parent", "num"),
    [
        ("PER", None, 8),
        ("PER + PER", None, 32),
        ("LIN * PER", "LIN", 8),
        ("LIN * SE", "LIN", 4),
        ("PER + SE", "PER", 4),
        ("PER + PER", "PER", 4),
        ("PER + PER + PER", "PER", 16),
    ],
)
def test_look_starts__are_fewer_where_a_parent_knows_the_waves(
    text: str, parent: str | None, num: int
) -> None:
    known = None if parent is None else lay_out(parent)
    assert climbing.look_starts(lay_out(text), 8, known)[0] == num


def test_look_on__ends_as_high_as_a_whole_look(comparison: FitContext) -> None:
    fresh = make_candidate(parse("SE + PER"), comparison, None)
    (whole,) = look([fresh], comparison)
    (glanced,) = climbing.glance([fresh], comparison)
    (in_two,) = climbing.look_on([glanced], comparison)
    assert glanced.best <= in_two.best
    assert in_two.best == pytest.approx(whole.best, abs=0.5)


def test_climb_on__ends_as_high_as_a_whole_climb(comparison: FitContext) -> None:
    (looked,) = look([make_candidate(parse("SE + PER"), comparison, None)], comparison)
    (whole,) = climb([looked], comparison)
    (begun,) = climbing.begin_climb([looked], comparison)
    (in_two,) = climbing.climb_on([begun], comparison)
    assert begun.best <= in_two.best + 1e-9
    assert in_two.best == pytest.approx(whole.best, abs=0.03)


def test_climb__puts_one_of_several_changes_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.linspace(0, 10, 120)
    sds = np.where((X > 2) & (X < 3), 1.0, np.where((X > 7) & (X < 8), 5.0, 0.2))
    y = sds * np.random.default_rng(1).normal(size=len(X))
    bursts = make_context((X, y), 1, FitSettings(inference="exact", posterior="point", restarts=4))[
        0
    ]
    candidate = make_candidate(parse("CW[1](WN, WN) + CW[1](WN, WN)"), bursts, None)
    at_one = {"location": 0.87, "steepness": 3.5, "width": -1.06}
    slots = [slot.parameter for slot in candidate.layout.slots]
    theta = np.array([at_one.get(slot.name, slot.prior.mean) for slot in slots])
    begun = at(candidate, bursts, [theta])
    (moved,) = climb([begun], bursts)
    monkeypatch.setattr(climbing, "MOVES", ())
    (stayed,) = climb([begun], bursts)
    assert moved.best > stayed.best + 5.0
    assert stayed.best in moved.values


def test_climb__finds_a_short_wave_beside_a_strong_smooth_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.linspace(0, 10, 60)
    rng = np.random.default_rng(2)
    y = 5 * np.sin(0.7 * X) + np.sin(2 * np.pi * X / 0.45) + 0.2 * rng.normal(size=len(X))
    waves = make_context((X, y), 1, FitSettings(inference="exact", posterior="point", restarts=4))[
        0
    ]
    candidate = make_candidate(parse("SE + PER"), waves, None)
    begun = at(candidate, waves, [candidate.layout.prior_mean])
    (moved,) = climb([begun], waves)
    monkeypatch.setattr(climbing, "MOVES", ())
    (stayed,) = climb([begun], waves)
    assert moved.best > stayed.best + 5.0
    period = candidate.layout.names.index(".kernels[1].period")
    assert np.exp(moved.thetas[0, period]) * X.std() == pytest.approx(0.45, rel=0.01)

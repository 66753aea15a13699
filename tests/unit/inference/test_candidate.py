from dataclasses import replace

import numpy as np
import pytest

from vbks.data.training import prepare
from vbks.data.warps import Identity, Log
from vbks.grammar.parser import parse
from vbks.inference.candidate import make_candidate, unfinished
from vbks.inference.choices import make_context
from vbks.inference.evaluator import fit_candidates
from vbks.inference.result import PruningStep
from vbks.inference.settings import FitSettings


def positive_rows(num_rows=25):
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 10, num_rows))
    return X, 40 * np.exp(np.sin(X) + 0.2 * rng.normal(size=num_rows))


def fit(data):
    (found,) = fit_candidates(["SE"], data, inference="exact", restarts=2)
    return found


def test_fit_of_warped_targets__is_that_of_their_logarithms_and_the_jacobian():
    X, y = positive_rows()
    warped, by_hand = fit(prepare((X, y)).warped(Log())), fit((X, np.log(y)))
    jacobian = -np.log(y).sum() + len(y) * np.log(y.std() / np.log(y).std())
    np.testing.assert_allclose(warped.elbo, by_hand.elbo, atol=1e-8)
    np.testing.assert_allclose(warped.log_jacobian, jacobian, atol=1e-8)
    for correction in ("laplace", "bic", "none"):
        np.testing.assert_allclose(
            warped.log_evidence(correction), by_hand.log_evidence(correction) + jacobian, atol=1e-8
        )
    assert (warped.warp, by_hand.warp) == (Log(), Identity())


def test_evidence__prefers_the_warp_that_the_data_have():
    data = prepare(positive_rows())
    plain, warped = fit(data), fit(data.warped(Log()))
    assert warped.log_evidence() > plain.log_evidence() + 3


def test_dropped_and_failed_fits__know_their_warp():
    data = prepare(positive_rows()).warped(Log())
    comparison, _ = make_context(data, 1, FitSettings(inference="exact"))
    candidate = make_candidate(parse("SE"), comparison, None)
    behind = PruningStep("screening", -60.0, -10.0, False)
    dropped = unfinished(replace(candidate, thetas=np.zeros((1, 3)), pruning=(behind,)), comparison)
    failed = unfinished(candidate.failed("no memory"), comparison)
    assert (dropped.status, failed.status) == ("dropped", "failed")
    assert dropped.warp == failed.warp == Log()
    assert dropped.log_evidence() == pytest.approx(-60 + data.log_jacobian, rel=1e-12)
    assert failed.log_evidence() == -np.inf


@pytest.mark.parametrize(
    ("num_rows", "seen", "stage"), [(40, 40, "screening"), (200, 150, "screening at 150 rows")]
)
def test_who_is_pruned_after_a_screening__has_its_rows(num_rows, seen, stage):
    comparison, _ = make_context(
        positive_rows(num_rows), 1, FitSettings(inference="exact", posterior="point")
    )
    candidate = make_candidate(parse("SE"), comparison)
    step = PruningStep("screening", -30.0, -10.0, went_on=False)
    left = replace(candidate, thetas=np.zeros((1, 3)), values=np.array([-20.0]), pruning=(step,))
    fit = unfinished(left, comparison)
    assert fit.status == "dropped"
    assert fit.num_rows == seen
    assert fit.reason == f"20 nats behind the best after the {stage}"
    later = replace(left, pruning=(step, PruningStep("optimisation", -30.0, -10.0, went_on=False)))
    assert unfinished(later, comparison).num_rows == num_rows

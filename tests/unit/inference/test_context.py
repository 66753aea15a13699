from typing import Any

import numpy as np
import pytest

from vbks.grammar.parser import parse
from vbks.inference import context as comparison_module
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import make_context
from vbks.inference.climbing import climb, look
from vbks.inference.context import EXACT_LOOK_ROWS, MIDDLE_ROWS, FitContext
from vbks.inference.objectives.evidence import ExactEvidence
from vbks.inference.settings import FitSettings


def make_comparison(num_rows: int, num_inputs: int = 1, **settings: Any) -> FitContext:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(num_rows, num_inputs))
    y = np.sin(X.sum(axis=1)) + 0.2 * rng.normal(size=num_rows)
    return make_context(
        (X, y), 1, FitSettings(**{"inference": "exact", "posterior": "point", **settings})
    )[0]


@pytest.mark.parametrize(
    ("num_rows", "num_seen"),
    [
        (40, 40),
        (EXACT_LOOK_ROWS[0], EXACT_LOOK_ROWS[0]),
        (200, EXACT_LOOK_ROWS[0]),
        (400, 200),
        (700, EXACT_LOOK_ROWS[1]),
    ],
)
def test_exact_look__is_at_half_of_the_rows_within_limits(num_rows: int, num_seen: int) -> None:
    comparison = make_comparison(num_rows)
    assert comparison.num_look_rows == num_seen
    seen = comparison.look_evidence(0.0).num_rows
    # Runs of neighbours are whole, so that there may be a few rows less.
    assert num_seen - 15 < seen <= num_seen
    assert comparison.looks_at_all == (num_rows == num_seen)


def test_exact_look__has_neighbours_along_one_input() -> None:
    comparison = make_comparison(450)
    X, _ = comparison.data.arrays()
    seen, _ = comparison.look_rows.arrays()
    places = np.flatnonzero(np.isin(np.sort(X[:, 0]), seen[:, 0]))
    assert (np.diff(places) == 1).mean() > 0.9
    assert places[0] == 0 and places[-1] == 449


def test_exact_look__takes_rows_at_random_of_several_inputs() -> None:
    seen, targets = make_comparison(450, num_inputs=2).look_rows.arrays()
    assert seen.shape == (225, 2) and targets.shape == (225,)


def test_look__counts_as_close_where_the_bound_is_that_of_the_fit() -> None:
    assert make_comparison(450).looks_closely
    assert make_comparison(450, inference="collapsed", num_inducing=80).looks_closely
    assert not make_comparison(450, inference="collapsed", num_inducing=10).looks_closely
    assert not make_comparison(6000, inference="collapsed", num_inducing=60).looks_closely


def test_few_inducing_points__are_looked_at_exactly() -> None:
    few = make_comparison(450, inference="collapsed", num_inducing=10)
    assert few.looks_exactly and not few.looks_at_all
    assert few.look_evidence(0.0).shape == (150, 150)
    more = make_comparison(450, inference="collapsed", num_inducing=50)
    assert more.look_evidence(0.0).shape == (200, 200)
    small = make_comparison(100, inference="collapsed", num_inducing=10)
    assert small.look_evidence(0.0).shape == (100, 100)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> FitContext:
    """A collapsed fit that has a part of its rows climbed on first."""
    monkeypatch.setattr(comparison_module, "MIDDLE_ELEMENTS", 20 * 220)
    return make_comparison(600, inference="collapsed", num_inducing=20, restarts=3)


def test_middle__has_some_rows_and_all_inducing_inputs(large: FitContext) -> None:
    assert large.has_middle
    middle = large.middle_evidence(1e-6)
    assert middle.num_rows == 200
    assert middle.shape == (20, 220)


def test_middle__is_left_out_where_all_rows_are_cheap() -> None:
    assert not make_comparison(600, inference="collapsed", num_inducing=20).has_middle
    assert not make_comparison(600, inference="stochastic", num_inducing=20).has_middle
    assert not make_comparison(2 * MIDDLE_ROWS).has_middle


def test_middle_of_exact_fits__is_exact_and_has_neighbours() -> None:
    comparison = make_comparison(2 * MIDDLE_ROWS + 1)
    assert comparison.has_middle
    middle = comparison.middle_evidence(0.0)
    assert isinstance(middle, ExactEvidence)
    assert MIDDLE_ROWS - 15 < middle.num_rows <= MIDDLE_ROWS
    apart = np.diff(np.sort(comparison.data.arrays()[0][:, 0]))
    assert np.median(np.diff(np.sort(middle.X.numpy()[:, 0]))) < 2 * np.median(apart)


@pytest.mark.parametrize(
    ("num_rows", "stage", "seen"),
    [
        (100, "glance", 100),
        (400, "look", 200),
        (400, "first climb", 400),
        (900, "first climb", MIDDLE_ROWS),
        (900, "climb", 900),
    ],
)
def test_seen_by__tells_the_rows_of_a_stage(num_rows: int, stage: str, seen: int) -> None:
    assert make_comparison(num_rows).seen_by(stage) == seen


def test_climb__ends_as_high_from_some_of_the_rows(
    large: FitContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    (looked,) = look([make_candidate(parse("SE + PER"), large)], large)
    (by_some,) = climb([looked], large)
    monkeypatch.setattr(FitContext, "has_middle", False)
    (by_all,) = climb([looked], large)
    assert by_some.best == pytest.approx(by_all.best, abs=0.1)


def test_strong_priors__count_by_the_share_of_rows() -> None:
    strong, usual = (
        make_comparison(400, inference="collapsed", num_inducing=20, prior=prior)
        for prior in ("skc", "vbks")
    )
    for comparison, share in ((strong, 0.5), (usual, 1.0)):
        whole = comparison.final_evidence(1e-6)
        half = type(whole)(whole.X[:200], whole.y[:200], whole.Z, 1e-6)
        expressions = [parse("SE")]
        theta = np.full((1, 3), 0.3)
        row = np.array([0])
        for evidence, expected in ((whole, 1.0), (half, share)):
            posterior = comparison.log_posterior(expressions, evidence)
            value, slope = posterior(row, theta)
            likelihood, by_likelihood = posterior.log_likelihood(row, theta)
            prior, by_prior = posterior.priors.log_density(row, theta)
            np.testing.assert_allclose(value, likelihood + expected * prior, rtol=1e-12)
            np.testing.assert_allclose(slope, by_likelihood + expected * by_prior, rtol=1e-12)

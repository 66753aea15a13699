from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.rungs import screened

from vbks.grammar.parser import parse
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import make_context
from vbks.inference.context import FitContext
from vbks.inference.objectives.evidence import ExactEvidence
from vbks.inference.rungs import optimise
from vbks.inference.screening import ScreeningPolicy
from vbks.inference.seeds import Seed
from vbks.inference.settings import FitSettings

POLICY = ScreeningPolicy()
LEAST, MOST = POLICY.exact_screening_rows


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
        (LEAST, LEAST),
        (200, LEAST),
        (400, 200),
        (700, MOST),
    ],
)
def test_exact_screening__sees_half_of_the_rows_within_limits(num_rows: int, num_seen: int) -> None:
    comparison = make_comparison(num_rows)
    assert comparison.num_screening_rows == num_seen
    seen = comparison.screening_evidence(0.0).num_rows
    # Runs of neighbours are whole, so that there may be a few rows less.
    assert num_seen - 15 < seen <= num_seen
    assert comparison.screens_all_rows == (num_rows == num_seen)


def test_exact_screening__has_neighbours_along_one_input() -> None:
    comparison = make_comparison(450)
    X, _ = comparison.data.arrays()
    seen, _ = comparison.screening_rows.arrays()
    places = np.flatnonzero(np.isin(np.sort(X[:, 0]), seen[:, 0]))
    assert (np.diff(places) == 1).mean() > 0.9
    assert places[0] == 0 and places[-1] == 449


def test_exact_screening__takes_rows_at_random_of_several_inputs() -> None:
    seen, targets = make_comparison(450, num_inputs=2).screening_rows.arrays()
    assert seen.shape == (225, 2) and targets.shape == (225,)


def test_screening__counts_as_close_where_the_bound_is_that_of_the_fit() -> None:
    assert make_comparison(450).screens_closely
    assert make_comparison(450, inference="collapsed", num_inducing=80).screens_closely
    assert not make_comparison(450, inference="collapsed", num_inducing=10).screens_closely
    assert not make_comparison(6000, inference="collapsed", num_inducing=60).screens_closely


def test_few_inducing_points__are_screened_exactly() -> None:
    few = make_comparison(450, inference="collapsed", num_inducing=10)
    assert few.screens_exactly and not few.screens_all_rows
    assert few.screening_evidence(0.0).shape == (150, 150)
    more = make_comparison(450, inference="collapsed", num_inducing=50)
    assert more.screening_evidence(0.0).shape == (200, 200)
    small = make_comparison(100, inference="collapsed", num_inducing=10)
    assert small.screening_evidence(0.0).shape == (100, 100)


@pytest.fixture
def large() -> FitContext:
    """A collapsed fit that is optimised on a part of its rows first."""
    context = make_comparison(600, inference="collapsed", num_inducing=20, restarts=3)
    return replace(context, screening=ScreeningPolicy(intermediate_elements=20 * 220))


def test_intermediate_subset__has_some_rows_and_all_inducing_inputs(large: FitContext) -> None:
    assert large.has_intermediate
    middle = large.intermediate_evidence(1e-6)
    assert middle.num_rows == 200
    assert middle.shape == (20, 220)


def test_intermediate_subset__is_left_out_where_all_rows_are_cheap() -> None:
    assert not make_comparison(600, inference="collapsed", num_inducing=20).has_intermediate
    assert not make_comparison(600, inference="stochastic", num_inducing=20).has_intermediate
    assert not make_comparison(2 * POLICY.intermediate_rows).has_intermediate


def test_intermediate_subset_of_exact_fits__is_exact_and_has_neighbours() -> None:
    comparison = make_comparison(2 * POLICY.intermediate_rows + 1)
    assert comparison.has_intermediate
    middle = comparison.intermediate_evidence(0.0)
    assert isinstance(middle, ExactEvidence)
    assert POLICY.intermediate_rows - 15 < middle.num_rows <= POLICY.intermediate_rows
    apart = np.diff(np.sort(comparison.data.arrays()[0][:, 0]))
    assert np.median(np.diff(np.sort(middle.X.numpy()[:, 0]))) < 2 * np.median(apart)


@pytest.mark.parametrize(
    ("num_rows", "name", "seen"),
    [
        (100, "first screening", 100),
        (400, "screening", 200),
        (400, "first optimisation", 400),
        (900, "intermediate optimisation", POLICY.intermediate_rows),
        (900, "optimisation", 900),
    ],
)
def test_num_rows_of__tells_the_rows_of_a_rung(num_rows: int, name: str, seen: int) -> None:
    assert make_comparison(num_rows).num_rows_of(POLICY.rung(name)) == seen


def test_optimise__ends_as_high_from_some_of_the_rows(
    large: FitContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    (looked,) = screened([make_candidate(parse("SE + PER"), large)], large)
    (by_some,) = optimise([looked], large)
    monkeypatch.setattr(FitContext, "has_intermediate", False)
    (by_all,) = optimise([looked], large)
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


def test_rng__follows_from_the_seed_and_the_text_of_the_purpose() -> None:
    context = make_comparison(40)
    expected = np.random.default_rng([context.seed, *b"grams SE 1 lengthscales 0"])
    found = context.rng(Seed.GRAMS, " SE 1 lengthscales 0")
    assert found.integers(2**62) == expected.integers(2**62)
    assert context.rng(Seed.INDUCING).integers(2**62) != context.rng(Seed.GRAMS).integers(2**62)

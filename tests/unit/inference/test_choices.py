from types import SimpleNamespace
from typing import Any

import gpflow
import numpy as np
import pytest

from vbks.data.training import prepare
from vbks.data.warps import InverseSoftplus
from vbks.errors import DataError, SettingsError
from vbks.inference.choices import (
    NOISE_FLOOR,
    choose_bound,
    make_context,
)
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.settings import FitSettings
from vbks.policies import ChoicePolicy

PLENTY = 2**36
LEAST = 64 * 2**20


def choose(num_rows: int, **changes: Any) -> Any:
    settings = {
        "inference": "auto",
        "rows": SimpleNamespace(num_rows=num_rows, has_known_noise=False),
        "num_candidates": 12,
        "num_inducing": min(num_rows, 100),
        "is_gaussian": True,
        "limit": PLENTY,
        "policy": ChoicePolicy(),
    }
    return choose_bound(**settings | changes)


def make_rows(num_rows: int = 30) -> tuple[Any, Any]:
    return np.arange(num_rows), np.cos(np.arange(num_rows))


@pytest.mark.parametrize(
    ("num_rows", "num_inducing", "bound", "reason"),
    [
        (200, 28, "exact", "12 candidates on 200 rows are few enough"),
        (2000, 89, "collapsed", "exact fits of 12 candidates on 2,000 rows would take about 2 hou"),
        (10**6, 400, "stochastic", "collapsed fits of 12 candidates on 1,000,000 rows would take"),
    ],
)
def test_auto__takes_the_tightest_bound_that_is_not_too_dear(
    num_rows: int, num_inducing: int, bound: str, reason: str
) -> None:
    choice = choose(num_rows, num_inducing=num_inducing)
    assert choice.bound == bound
    assert choice.reason.startswith(reason)


def test_auto__takes_a_cheaper_bound_for_more_candidates() -> None:
    assert choose(600, num_candidates=3).bound == "exact"
    assert choose(600, num_candidates=144).bound == "collapsed"


def test_auto__takes_a_bound_that_fits_into_memory() -> None:
    few = {"num_candidates": 1, "num_inducing": 60}
    assert choose(900, **few).bound == "exact"
    choice = choose(900, **few, limit=LEAST)
    assert choice.bound == "collapsed"
    assert choice.reason == "exact fits of 1 candidates on 900 rows do not fit into 0.1 GB."
    assert choose(20_000, num_candidates=1, num_inducing=283, limit=LEAST).bound == "stochastic"


@pytest.mark.parametrize("bound", ["exact", "collapsed", "stochastic"])
def test_bound_asked_for__is_taken_whatever_it_costs(bound: str) -> None:
    choice = choose(5000, inference=bound, num_candidates=10_000)
    assert (choice.bound, choice.reason) == (bound, "as asked for.")


@pytest.mark.parametrize(
    ("bound", "num_rows", "num_inducing"), [("exact", 900, 60), ("collapsed", 20_000, 283)]
)
def test_bound_asked_for__is_refused_where_memory_is_too_small(
    bound: str, num_rows: int, num_inducing: int
) -> None:
    message = f"{bound} inference with {num_rows:,} rows does not fit into 0.1 GB. Use inference='s"
    with pytest.raises(DataError, match=message):
        choose(num_rows, inference=bound, num_inducing=num_inducing, limit=LEAST)


def test_noise_that_is_not_gaussian__makes_fits_stochastic() -> None:
    for inference in ("auto", "stochastic"):
        choice = choose(50, inference=inference, is_gaussian=False)
        assert (choice.bound, choice.reason) == ("stochastic", "the noise is not Gaussian.")
    with pytest.raises(DataError, match="collapsed inference needs Gaussian noise"):
        choose(50, inference="collapsed", is_gaussian=False)


@pytest.mark.parametrize(
    ("num_rows", "expected"),
    [(10, 10), (30, 16), (400, 40), (60_000, 400)],
)
def test_inducing_points__grow_with_the_root_of_the_rows(num_rows: int, expected: int) -> None:
    comparison, _ = make_context(make_rows(num_rows), 1)
    assert comparison.num_inducing == expected


def test_compare__says_what_it_chose() -> None:
    comparison, notices = make_context(make_rows(), 3, FitSettings(num_inducing=31))
    assert comparison.num_inducing == 30
    assert notices == (
        "31 inducing points are more than the 30 rows: 30 are used.",
        "exact: 3 candidates on 30 rows are few enough.",
    )


def test_compare__passes_on_what_the_data_has_to_say() -> None:
    X, y = make_rows()
    _, notices = make_context((np.column_stack([X, np.ones(30)]), y), 1)
    assert notices[0] == "input 2 has the value 1 in all rows and explains nothing."


def test_jitter__is_the_noise_floor_of_exact_fits_and_that_of_gpflow_for_others() -> None:
    for inference, usual in (("exact", NOISE_FLOOR), ("collapsed", gpflow.config.default_jitter())):
        assert make_context(make_rows(), 1, FitSettings(inference=inference))[0].jitter == usual
        assert (
            make_context(make_rows(), 1, FitSettings(inference=inference, jitter=1e-4))[0].jitter
            == 1e-4
        )


def test_posterior__is_full_unless_fits_are_stochastic() -> None:
    assert make_context(make_rows(), 1)[0].posterior == "full"
    assert make_context(make_rows(), 1, FitSettings(inference="stochastic"))[0].posterior == "point"
    assert (
        make_context(make_rows(), 1, FitSettings(inference="stochastic", posterior="full"))[
            0
        ].posterior
        == "full"
    )


@pytest.mark.parametrize("name", ["inference", "posterior", "ascent"])
def test_unknown_names__are_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is 'best', expected one of "):
        make_context(make_rows(), 1, FitSettings(**{name: "best"}))


@pytest.mark.parametrize("name", ["restarts", "batch_size", "num_inducing"])
def test_counts_below_one__are_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is 0, expected a whole number from 1 on"):
        make_context(make_rows(), 1, FitSettings(**{name: 0}))


def test_warp__goes_with_gaussian_noise_alone() -> None:
    X, y = make_rows()
    warped = prepare((X, 2 + y)).warped(InverseSoftplus(1.0))
    assert make_context(warped, 1)[0].data is warped
    message = "warp 'softplus', which goes with Gaussian noise alone, and the likelihood is Stud"
    with pytest.raises(DataError, match=message):
        make_context(warped, 1, FitSettings(likelihood=make_likelihood("student_t")))


def test_chunks__are_as_large_as_memory_allows_in_stochastic_fits() -> None:
    def chunk_size(**settings: Any) -> int:
        return make_context(make_rows(), 1, FitSettings(num_inducing=30, **settings))[0].chunk_size

    assert chunk_size(inference="exact", batch_size=10**6, memory_limit=LEAST) == 48
    sizes = [
        chunk_size(inference="stochastic", batch_size=batch_size, memory_limit=LEAST)
        for batch_size in (100, 2000, 10**6)
    ]
    assert sizes == [48, 11, 1]
    full = chunk_size(inference="stochastic", batch_size=2000, memory_limit=LEAST, posterior="full")
    assert full == 1

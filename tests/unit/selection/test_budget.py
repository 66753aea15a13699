"""Tests of budgets."""

import math

import pytest

from vbks.errors import DataError
from vbks.selection import Budget, Purse, budget_of


def test_budget_of__a_number_means_seconds() -> None:
    assert budget_of(60) == Budget(seconds=60.0)
    assert budget_of(None) is None
    assert budget_of(Budget(candidates=7)) == Budget(candidates=7)


@pytest.mark.parametrize("wrong", ["long", True, [3]])
def test_budget_of__refuses_other_things(wrong: object) -> None:
    with pytest.raises(DataError, match="expected seconds or vbks"):
        budget_of(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("amount", [0, -1, math.nan])
def test_budget__must_be_something(amount: float) -> None:
    with pytest.raises(DataError, match="expected more than 0"):
        Budget(seconds=amount)
    with pytest.raises(DataError, match="expected more than 0"):
        Budget(candidates=amount)


def test_purse__counts_candidates() -> None:
    purse = Purse(Budget(candidates=10))
    assert purse.affordable(7) == 7
    purse.spend(7, 100.0)
    assert purse.affordable(7) == 3
    purse.spend(3, 0.0)
    assert purse.affordable(1) == 0


def test_purse__judges_seconds_by_the_pace_so_far() -> None:
    purse = Purse(Budget(seconds=1000.0))
    assert purse.affordable(10_000) == 10_000
    purse.spend(10, 50.0)
    assert 150 < purse.affordable(10_000) <= 200


def test_purse__without_limits_affords_everything() -> None:
    purse = Purse(Budget())
    purse.spend(5, 1.0)
    assert purse.affordable(10**6) == 10**6

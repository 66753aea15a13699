"""Tests of budgets."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from support.searches import Clock

from vbks.errors import SettingsError
from vbks.policies import BudgetPolicy, Policies
from vbks.search.budget import Budget, BudgetTracker, beginning_of, budget_of

POLICY = BudgetPolicy()
FEW, CALL_COST = POLICY.few, POLICY.call_cost


def test_budget_of__a_number_means_seconds() -> None:
    assert budget_of(60) == Budget(seconds=60.0)
    assert budget_of(None) is None
    assert budget_of(Budget(candidates=7)) == Budget(candidates=7)


@pytest.mark.parametrize("wrong", ["long", True, [3]])
def test_budget_of__refuses_other_things(wrong: object) -> None:
    with pytest.raises(SettingsError, match="expected seconds or vbks"):
        budget_of(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("amount", [0, -1, math.nan])
def test_budget__must_be_something(amount: float) -> None:
    with pytest.raises(SettingsError, match="expected more than 0"):
        Budget(seconds=amount)
    with pytest.raises(SettingsError, match="expected more than 0"):
        Budget(candidates=amount)


def together(costs: list[float]) -> float:
    """What candidates cost that are fitted in one call."""
    most, share = POLICY.full_cost_candidates, POLICY.pruned_cost_share
    return CALL_COST + sum(costs[:most]) + share * sum(costs[most:])


def test_tracker__counts_candidates() -> None:
    tracker = BudgetTracker(Budget(candidates=10))
    assert tracker.affordable([1.0] * 7) == 7
    tracker.spend([1.0] * 7)
    assert tracker.affordable([1.0] * 7) == 3
    tracker.spend([1.0] * 3)
    assert tracker.affordable([1.0]) == 0


def test_tracker__without_limits_affords_everything() -> None:
    tracker = BudgetTracker(Budget())
    tracker.spend([1.0] * 5)
    assert tracker.affordable([1.0] * 10**5, [1.0] * 10**5) == 10**5
    assert tracker.for_final_fits().affordable([1.0] * 10) == 10


def test_tracker__tries_a_few_whatever_the_budget() -> None:
    assert BudgetTracker(Budget(seconds=0.1)).affordable([0.5] * 100) == FEW
    assert BudgetTracker(Budget(seconds=0.1)).affordable([0.5] * 2) == 2
    assert BudgetTracker(Budget(seconds=0.1)).affordable([100.0] * 100) == 1


def test_budget_of__seconds_run_from_the_call_unless_they_ran_before() -> None:
    for given in (60, Budget(seconds=60.0)):
        budget = budget_of(given, 7.0)
        assert budget == Budget(seconds=60.0)
        assert beginning_of(budget) == 7.0
    assert beginning_of(budget_of(Budget(seconds=60.0, began=3.0), 7.0)) == 3.0


@pytest.mark.parametrize("budget", [None, Budget(seconds=60.0)])
def test_beginning__is_now_if_nothing_is_said(budget: Budget | None) -> None:
    before = time.perf_counter()
    assert before <= beginning_of(budget) <= time.perf_counter()


def test_tracker__what_was_before_it_counts_but_is_no_pace() -> None:
    clock = Clock(now=6.0)
    tracker = BudgetTracker(Budget(seconds=100.0), 0.0, clock)
    assert tracker.seconds == 6.0
    clock.now += 2.0 * together([1.0] * 4)
    tracker.spend([1.0] * 4)
    assert tracker.pace == pytest.approx(2.0)


def test_tracker__graphs_of_the_first_call_are_no_pace_of_later_ones() -> None:
    clock = Clock()
    tracker = BudgetTracker(Budget(seconds=100.0), clock=clock, startup=5.0)
    for extra in (5.0, 0.0):
        clock.now += 2.0 * (extra + together([1.0] * 4))
        tracker.spend([1.0] * 4)
        assert tracker.pace == pytest.approx(2.0)
    assert tracker.for_final_fits().startup == 0.0


def test_tracker__spends_a_share_of_what_starting_leaves_at_first() -> None:
    clock = Clock(now=60.0)
    costs, pace = [0.1] * 1000, POLICY.first_pace
    late = BudgetTracker(Budget(seconds=100.0), 0.0, clock, startup=10.0)
    most = POLICY.first_share * (100.0 - 60.0 - pace * 10.0)
    num = late.affordable(costs)
    assert pace * together(costs[:num]) <= most < pace * together(costs[: num + 2])


def test_tracker__over_before_the_first_call_a_few_are_tried_and_no_more() -> None:
    clock = Clock(now=60.0)
    tracker = BudgetTracker(Budget(seconds=10.0), 0.0, clock, startup=5.0)
    assert tracker.affordable([0.2] * 100) == FEW
    tracker.spend([0.2] * FEW)
    assert tracker.affordable([0.2] * 100) == 0
    assert tracker.for_final_fits().affordable([0.2]) == 0


def test_tracker__learns_the_pace() -> None:
    clock = Clock()
    tracker = BudgetTracker(Budget(seconds=1000.0), clock=clock)
    for _ in range(8):
        clock.now += 3.0 * together([2.0, 2.0])
        tracker.spend([2.0, 2.0])
    assert tracker.pace == pytest.approx(3.0)
    left = 1000.0 - clock.now
    affordable = tracker.affordable([2.0] * 10_000)
    most = POLICY.share_at_once * left
    assert 0.96 * most < 3.0 * together([2.0] * affordable) <= most


def test_tracker__soon_forgets_a_slow_start() -> None:
    clock = Clock()
    tracker = BudgetTracker(Budget(seconds=1000.0), clock=clock)
    for seconds in (20.0, 4.0, 4.0, 4.0):
        clock.now += seconds
        tracker.spend([1.0] * 4)
    assert tracker.pace < 2.0


def test_tracker__keeps_time_for_as_many_final_fits_as_may_be() -> None:
    clock = Clock()
    tracker = BudgetTracker(Budget(seconds=100.0), clock=clock)
    clock.now = together([1.0] * 4)
    tracker.spend([1.0] * 4)
    costs = [1.0] * 100
    free, kept = (together([1.0] * tracker.affordable(costs, r)) for r in ((), (10.0, 10.0, 20.0)))
    assert free - kept == pytest.approx(POLICY.share_at_once * 20.0, abs=1.0)
    assert together([1.0] * tracker.affordable(costs, [50.0])) == free


def test_tracker__final_fits_have_a_pace_of_their_own() -> None:
    clock = Clock()
    tracker = BudgetTracker(Budget(seconds=100.0, candidates=4), clock=clock)
    clock.now = 10.0
    tracker.spend([2.5] * 4)
    assert tracker.affordable([1.0]) == 0
    last = tracker.for_final_fits()
    assert last.pace == pytest.approx(tracker.pace)
    assert last.affordable([1.0] * 3) == 3
    clock.now = 60.0
    last.spend([1.0])
    assert last.pace > 20.0
    assert last.affordable([10.0]) == 0


@pytest.mark.parametrize("seconds", [2.0, 5.0, 20.0, 60.0, 600.0])
@pytest.mark.parametrize("speed", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(5))
def test_tracker__is_used_up_and_not_overdrawn(seconds: float, speed: float, seed: int) -> None:
    """Costs are off by a factor of up to two, and nobody is pruned early."""
    rng, clock = np.random.default_rng(seed), Clock()
    tracker = BudgetTracker(Budget(seconds=seconds), clock=clock)
    costs = [0.5] * FEW + list(rng.choice([0.3, 0.6, 1.5], 10_000))
    clock.now += 1.0
    while num := tracker.affordable(costs[:200]):
        off = np.exp(rng.uniform(-0.35, 0.35, num))
        clock.now += speed * (CALL_COST + float(off @ costs[:num])) * rng.uniform(0.7, 1.4)
        tracker.spend(costs[:num])
        costs = costs[num:]
    assert tracker.candidates >= FEW
    unavoidable = 1.0 + 2.0 * speed * (CALL_COST + 0.5 * FEW)
    assert clock.now <= max(1.1 * seconds, unavoidable)
    assert clock.now >= min(0.8 * seconds, seconds - 3.0 * speed)


def test_policies__try_less_for_each_candidate_within_a_short_budget() -> None:
    usual = Policies()
    assert usual.within(math.inf) is usual
    assert usual.within(POLICY.short_seconds + 1.0) is usual
    short = usual.within(POLICY.short_seconds)
    assert short.starts.max_periods == POLICY.short_periods < usual.starts.max_periods
    assert short.starts.move_rounds == POLICY.short_move_rounds < usual.starts.move_rounds
    assert (short.screening, short.search) == (usual.screening, usual.search)
    fewer = Policies(starts=replace(usual.starts, max_periods=3, move_rounds=0)).within(1.0)
    assert (fewer.starts.max_periods, fewer.starts.move_rounds) == (3, 0)

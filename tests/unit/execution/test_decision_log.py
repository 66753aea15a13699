"""Tests of decisions that an interrupted run makes again."""

from collections.abc import Callable
from pathlib import Path

from vbks.execution.decision_log import DecisionLog


def never() -> int:
    raise AssertionError("this was decided before")


def counting() -> Callable[[], int]:
    numbers = iter(range(5, 99))
    return lambda: next(numbers)


def test_log__decides_anew_without_a_file() -> None:
    log, decide = DecisionLog(), counting()
    assert [log.decide("search", decide) for _ in range(3)] == [5, 6, 7]
    assert log.sections == {"search": [5, 6, 7]}


def test_log__repeats_decisions_of_the_same_budget_section_by_section(tmp_path: Path) -> None:
    file, decide = tmp_path / "log.json", counting()
    log = DecisionLog(file, ["9.0"])
    made = [log.decide(section, decide) for section in ("search", "final", "search")]
    again = DecisionLog(file, ["9.0"])
    found = [again.decide(section, never) for section in ("search", "final", "search")]
    assert found == made == [5, 6, 7]
    assert again.decide("final", decide) == 8


def test_log__with_another_budget_decides_anew_what_ended_and_later_sections(
    tmp_path: Path,
) -> None:
    file = tmp_path / "log.json"
    log = DecisionLog(file, ["9.0"])
    for section, num in (("search", 4), ("search", 0), ("final", 2)):
        log.decide(section, lambda num=num: num)
    longer = DecisionLog(file, ["99.0"])
    assert longer.decide("search", never) == 4
    assert longer.decide("search", lambda: 3) == 3
    assert longer.decide("final", lambda: 1) == 1

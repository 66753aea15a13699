import math

import pytest

from vbks.progress import words
from vbks.progress.tally import Goal, PartOfWork


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (119.4, "119 s"), (120, "2 min"), (200, "3 min 20 s"), (7260, "2 h 1 min")],
)
def test_duration__has_two_units_at_most(seconds, text):
    assert words.duration(seconds) == text


def test_time__is_beside_the_budget_or_alone(tally, clock):
    clock.now = 12.0
    assert words.time_of(tally) == "12 s"
    tally.goal = Goal(30.0, math.inf, 0.0)
    assert words.time_of(tally) == "12 s of 30 s, about 18 s left"
    clock.now = 33.0
    assert words.time_of(tally) == "33 s of 30 s, finishing"


def test_counts__name_failures_and_the_stage(tally):
    assert words.count_of(tally) == ""
    tally.start(3, "Trying", 2, "")
    tally.stage("screening", 3)
    tally.batch.done = 2
    assert words.count_of(tally) == "screening 2 of 3"
    tally.finished("SE", 1.0, True)
    assert words.count_of(tally) == "1 kernel tried; screening 2 of 3"
    tally.finished("LIN", 1.0, False)
    assert words.count_of(tally) == "2 kernels tried, 1 failed; screening 2 of 3"


def test_title__says_which_part(tally):
    tally.begin_part(PartOfWork("cks", 2, 6))
    tally.start(1, "Trying SE", 1, "")
    assert words.title_of(tally) == "cks (2 of 6): Trying SE"


def test_summary__is_of_what_was_tried(tally, clock):
    assert words.summary_of(tally) == ""
    tally.start(1, "Trying SE", 1, "")
    tally.finished("SE", -1.0, True)
    clock.now = 9.0
    assert words.summary_of(tally) == "1 kernel tried in 9 s; the best is SE."


def test_names__are_few():
    assert words.some_names(["SE"]) == "SE"
    assert words.some_names(["SE", "LIN", "PER", "RQ", "OU"]) == "SE, LIN, PER and 2 more"

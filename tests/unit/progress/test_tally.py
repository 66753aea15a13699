import math

import pytest

from vbks.progress.tally import Goal, PartOfWork

INF = math.inf


def test_best__is_over_all_that_was_tried_whatever_list_it_was_in(tally):
    for names in (("SE", "LIN"), ("PER", "RQ"), ("OU",)):
        tally.start(len(names), "Trying", 2, "exact")
        for name in names:
            tally.finished(name, -float(len(name) + ord(name[0])), True)
    assert [name for _, name in tally.best] == ["LIN", "OU", "PER"]
    assert len(tally.tried) == 5


def test_values__of_another_measure_replace_those_before(tally):
    tally.start(2, "Trying", 1, "collapsed")
    tally.finished("SE", -1.0, True)
    tally.finished("LIN", -2.0, True)
    tally.start(1, "Fitting to the end", 1, "exact")
    assert (tally.best, tally.leader) == ([], "SE")
    tally.finished("SE", -50.0, True)
    tally.start(1, "Finding q", 1, "exact")
    tally.finished("SE", -49.0, True)
    assert tally.best == [(-50.0, "SE")]
    assert len(tally.tried) == 2


def test_failed_and_pruned__are_counted_and_not_ranked(tally):
    tally.start(3, "Trying", 1, "")
    tally.finished("SE", 3.0, False)
    tally.finished("LIN", math.nan, True)
    assert (tally.best, tally.num_failed, len(tally.tried)) == ([], 1, 2)


def test_share__is_that_of_the_seconds(tally, clock):
    assert (tally.share(), tally.seconds_left()) == (None, None)
    tally.goal = Goal(20.0, INF, began=-5.0)
    assert (tally.seconds, tally.share(), tally.seconds_left()) == (5.0, 0.25, 15.0)
    clock.now = 30.0
    assert (tally.share(), tally.seconds_left()) == (1.0, 0.0)


def test_share__is_that_of_the_candidates_with_their_stages(tally, clock):
    tally.goal = Goal(INF, 40.0, began=0.0)
    tally.start(10, "Trying", 2, "")
    clock.now = 10.0
    tally.stage("screening", 10)
    tally.advance = tally.batch.done = 5
    assert tally.share() == pytest.approx(10 * 0.25 / 40)
    tally.stage("optimisation", 4)
    tally.batch.done = 4
    assert tally.share() == pytest.approx(0.25)
    tally.start(30, "Trying", 2, "")
    assert tally.share() == pytest.approx(0.25)
    assert tally.seconds_left() == pytest.approx(30.0)


def test_time_left__is_not_guessed_from_next_to_nothing(tally, clock):
    tally.goal = Goal(INF, 100.0, began=0.0)
    tally.start(100, "Trying", 1, "")
    tally.stage("screening", 100)
    clock.now, tally.batch.done = 3.0, 4
    assert tally.seconds_left() is None
    tally.batch.done = 5
    assert tally.seconds_left() == pytest.approx(57.0)


def test_share__without_a_goal_is_unknown(tally):
    tally.goal = Goal(INF, INF, 0.0)
    tally.start(3, "Trying", 2, "")
    assert (tally.share(), tally.seconds_left()) == (None, None)


@pytest.mark.parametrize(("total", "done"), [(0, 1), (2, 5)])
def test_more_work_than_announced__is_no_harm(tally, total, done):
    tally.goal = Goal(INF, 3.0, 0.0)
    tally.start(3, "Trying", 1, "")
    for _ in range(3):
        tally.stage("screening", total)
        tally.batch.done = done
    assert tally.share() == 1.0


def test_parts__share_the_bar_and_forget_each_others_best(tally, clock):
    tally.begin_part(PartOfWork("fold one", 1, 4))
    tally.goal = Goal(10.0, INF, 0.0)
    tally.start(1, "Trying", 1, "")
    tally.finished("SE", -1.0, True)
    clock.now = 5.0
    assert tally.share() == pytest.approx(0.125)
    assert tally.seconds_left() == pytest.approx(35.0)
    tally.begin_part(PartOfWork("fold two", 2, 4))
    assert (tally.best, tally.tried, tally.seconds) == ([], {}, 0.0)
    assert tally.share() == pytest.approx(0.25)

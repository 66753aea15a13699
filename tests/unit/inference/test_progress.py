import io
import sys
import threading

import pytest
from rich.console import Console

from vbks.inference import progress as progress_module
from vbks.inference.progress import Quiet, Table, progress_for, reporting

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class BrokenFile(io.StringIO):
    """A terminal that goes away when told."""

    error = None

    def write(self, text):
        if self.error is not None:
            raise self.error
        return super().write(text)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def screen():
    return BrokenFile()


@pytest.fixture
def table(screen, clock):
    # Without colours, so that words are not torn apart by escape codes.
    console = Console(file=screen, force_terminal=True, width=100, color_system=None)
    return Table(console, clock)


def last_frame(screen):
    """What was drawn last, from the title on."""
    return "144 candidates, collapsed" + screen.getvalue().split("144 candidates, collapsed")[-1]


def begin(table):
    table.start(144, "144 candidates, collapsed, 100 inducing points")


def test_table__shows_candidates_done_and_the_best_with_its_elbo(table, screen):
    begin(table)
    table.finished("SE", -120.5)
    table.finished("SE + PER", -101.25)
    table.finished("LIN", -300.0)
    table.stop()
    frame = last_frame(screen)
    assert "3 of 144 candidates done;" in frame
    assert "best so far" in frame
    assert "-101.25" in frame
    assert "19.25" in frame
    assert frame.index("SE + PER") < frame.index("-120.50") < frame.index("-300.00")


def test_table__counts_failed_candidates_and_does_not_rank_them(table, screen):
    begin(table)
    table.finished("SE", -120.0)
    table.finished("LIN", 7.0, ok=False)
    table.finished("PER", float("nan"), ok=False)
    table.finished("RQ", float("nan"))
    table.stop()
    frame = last_frame(screen)
    assert "4 of 144 candidates done, 2 failed;" in frame
    assert "LIN" not in frame
    assert "RQ" not in frame
    assert "nan" not in frame


def test_table__shows_only_the_top_few(table, screen):
    begin(table)
    for k in range(20):
        table.finished(f"SE[{k}]", float(k))
    table.stop()
    frame = last_frame(screen)
    assert [k for k in range(20) if f"SE[{k}]" in frame] == [15, 16, 17, 18, 19]


@pytest.mark.parametrize("expression", ["SE[2]", "PER[1] * LIN[2]", "[bold]", "SE[/]", ":smile:"])
def test_expressions_and_sentences__are_shown_literally(table, screen, expression):
    table.start(1, f"about {expression}")
    table.stage(f"optimisation {expression}", 5)
    table.finished(expression, -1.0)
    table.say(f"heard of {expression}")
    table.stop()
    for words in ("about", "optimisation", "heard of"):
        assert f"{words} {expression}" in screen.getvalue()
    assert f" {expression} " in last_frame(screen).split("best so far")[1]


def test_table__shows_the_stage_and_the_time_left_at_the_pace_so_far(table, screen, clock):
    begin(table)
    clock.now = 100.0
    table.stage("screening", 10)
    assert "left" not in screen.getvalue()
    clock.now = 130.0
    table.advance(3)
    frame = last_frame(screen)
    assert "screening" in frame
    assert "3/10" in frame
    assert "0:02:10 elapsed" in frame
    assert "about 0:01:10 left" in frame


def test_stage__begins_its_estimate_afresh(table, screen, clock):
    begin(table)
    table.stage("screening", 10)
    clock.now = 1000.0
    table.advance(10)
    table.stage("optimisation", 4)
    clock.now = 1002.0
    table.advance()
    assert "about 0:00:06 left" in last_frame(screen)


@pytest.mark.parametrize(("total", "amount"), [(0, 1), (2, 5)])
def test_more_work_than_announced__is_no_harm(table, screen, clock, total, amount):
    begin(table)
    table.stage("screening", total)
    clock.now = 1.0
    table.advance(amount)
    assert "about 0:00:00 left" in last_frame(screen)


def test_table__is_drawn_at_most_four_times_a_second(table, screen, clock):
    begin(table)
    table.stage("screening", 1000)
    before = screen.getvalue().count("inducing points")
    for _ in range(1000):
        clock.now += 0.002
        table.advance()
    assert 7 <= screen.getvalue().count("inducing points") - before <= 8


def test_table__starts_no_thread(table):
    before = threading.active_count()
    begin(table)
    assert threading.active_count() == before
    table.stop()


def test_stop__gives_the_cursor_back(table, screen):
    begin(table)
    assert HIDE_CURSOR in screen.getvalue()
    assert SHOW_CURSOR not in screen.getvalue()
    table.stop()
    assert screen.getvalue().rindex(SHOW_CURSOR) > screen.getvalue().rindex(HIDE_CURSOR)


def test_stop__may_come_twice_or_without_a_start(table, screen):
    table.stop()
    assert screen.getvalue() == ""
    begin(table)
    table.stop()
    once = screen.getvalue()
    table.stop()
    assert screen.getvalue() == once


def test_start__after_stop_begins_from_nothing(table, screen):
    begin(table)
    table.finished("SE", -120.0)
    table.stop()
    begin(table)
    table.stop()
    assert "0 of 144 candidates done" in last_frame(screen)
    assert "SE" not in last_frame(screen)


def test_start__during_a_run_gives_the_first_table_up(table, screen):
    begin(table)
    begin(table)
    table.stop()
    assert screen.getvalue().count(SHOW_CURSOR) == screen.getvalue().count(HIDE_CURSOR) == 2


def test_sentence__is_heard_before_the_start_too(table, screen):
    table.say("K is large.")
    assert screen.getvalue() == "K is large.\n"


def test_reporting__gives_the_cursor_back_after_an_error(table, screen):
    with pytest.raises(KeyboardInterrupt), reporting(table) as progress:
        begin(progress)
        raise KeyboardInterrupt
    assert screen.getvalue().rindex(SHOW_CURSOR) > screen.getvalue().rindex(HIDE_CURSOR)


@pytest.mark.parametrize("error", [OSError("gone"), ValueError("closed"), RuntimeError("?")])
def test_terminal_that_fails__silences_the_table_and_nothing_else(table, screen, clock, error):
    begin(table)
    screen.error = error
    for _ in range(3):
        clock.now += 1.0
        table.finished("SE", -1.0)
    screen.error = None
    before = screen.getvalue()
    table.stage("optimisation", 3)
    table.advance()
    table.say("Still here.")
    table.stop()
    assert screen.getvalue() == before


def test_reader_that_goes_away__does_not_end_the_program(screen, clock):
    screen.error = BrokenPipeError()
    table = Table(progress_module._Terminal(file=screen, force_terminal=True), clock)
    begin(table)
    table.say("Nobody listens.")
    table.stop()


def test_streams__are_as_before_after_stop(monkeypatch, clock):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    out = sys.stdout
    table = progress_for(True)
    begin(table)
    assert sys.stdout is out
    print("A warning of somebody else.", file=sys.stderr)
    table.stop()
    assert sys.stderr is screen
    assert "A warning of somebody else." in screen.getvalue()


def test_progress_for__shows_a_table_on_terminals_only(monkeypatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    assert isinstance(progress_for(True), Table)
    assert isinstance(progress_for(False), Quiet)
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    assert isinstance(progress_for(True), Quiet)


def test_progress_of_ones_own__is_used(table):
    assert progress_for(table) is table


@pytest.mark.parametrize("wanted", [True, False])
def test_no_terminal__nothing_is_written(monkeypatch, capsys, wanted):
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    with reporting(wanted) as progress:
        begin(progress)
        progress.stage("screening", 3)
        progress.advance()
        progress.finished("SE", -1.0)
        progress.say("Nobody hears this.")
    assert capsys.readouterr() == ("", "")

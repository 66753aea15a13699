import io
import sys
import threading

import pytest
from rich.console import Console

from vbks.progress import live as live_module
from vbks.progress import progress_for, reporting
from vbks.progress.live import LiveDisplay, Terminal, own_stream

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


class BrokenFile(io.StringIO):
    """A terminal that goes away when told."""

    error = None

    def write(self, text):
        if self.error is not None:
            raise self.error
        return super().write(text)


@pytest.fixture
def screen():
    return BrokenFile()


@pytest.fixture
def display(screen, tally, monkeypatch):
    monkeypatch.setattr(live_module, "REFRESH_SECONDS", 0.01)
    # Without colours, so that words are not torn apart by escape codes.
    console = Console(file=screen, force_terminal=True, width=100, color_system=None)
    own = LiveDisplay(console, tally)
    yield own
    own.close()


def wait_until(condition):
    """Let the thread that draws have its turns."""
    for _ in range(1000):
        if condition():
            return
        threading.Event().wait(0.005)
    raise AssertionError("nothing was drawn")


def test_display__is_there_at_once_and_moves_on_its_own(display, screen, clock):
    display.start(0, "Starting TensorFlow")
    assert "Starting TensorFlow" in screen.getvalue()
    clock.now = 7.0
    wait_until(lambda: " 7 s" in screen.getvalue())


def test_display__is_one_for_all_lists_of_candidates(display, screen):
    for names in (["SE"], ["LIN", "PER"]):
        display.start(len(names), f"Trying {names[0]}")
        for name in names:
            display.finished(name, -1.0)
    wait_until(lambda: "3 kernels tried" in screen.getvalue())
    assert screen.getvalue().count(HIDE_CURSOR) == 1
    assert SHOW_CURSOR not in screen.getvalue()
    display.stop()
    assert screen.getvalue().count(SHOW_CURSOR) == 1
    assert screen.getvalue().endswith("3 kernels tried in 0 s; the best is SE.\n")


def test_stop__may_come_twice_or_without_a_start(display, screen):
    display.stop()
    assert screen.getvalue() == ""
    display.start(1, "Trying SE")
    display.stop()
    once = screen.getvalue()
    display.stop()
    assert screen.getvalue() == once
    assert display._thread is None


def test_sentence__stays_above_the_display(display, screen):
    display.start(1, "Trying SE")
    display.say("K is [large].")
    display.stop()
    assert "K is [large]." in screen.getvalue()


def test_reporting__gives_the_cursor_back_after_an_error(display, screen):
    with pytest.raises(KeyboardInterrupt), reporting(display) as progress:
        progress.start(1, "Trying SE")
        raise KeyboardInterrupt
    assert screen.getvalue().rindex(SHOW_CURSOR) > screen.getvalue().rindex(HIDE_CURSOR)


@pytest.mark.parametrize("error", [OSError("gone"), ValueError("closed")])
def test_terminal_that_fails__silences_the_display_and_nothing_else(display, screen, error):
    display.start(1, "Trying SE")
    screen.error = error
    wait_until(lambda: display.is_broken)
    screen.error = None
    before = screen.getvalue()
    display.finished("SE", -1.0)
    display.say("Still here.")
    display.stop()
    assert screen.getvalue() == before


def test_reader_that_goes_away__does_not_end_the_program(screen, tally):
    screen.error = BrokenPipeError()
    display = LiveDisplay(Terminal(file=screen, force_terminal=True), tally)
    display.start(1, "Trying SE")
    display.say("Nobody listens.")
    display.stop()


def test_streams__are_as_before_after_stop(monkeypatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    out = sys.stdout
    display = progress_for(True)
    display.start(1, "Trying SE")
    assert sys.stdout is out
    print("A warning of somebody else.", file=sys.stderr)
    display.stop()
    assert sys.stderr is screen
    assert "A warning of somebody else." in screen.getvalue()


def test_own_stream__stays_open_when_the_first_is_led_elsewhere(tmp_path):
    with open(tmp_path / "first", "w") as first:
        second = own_stream(first)
        first.close()
        second.write("still here")
        second.close()
    assert (tmp_path / "first").read_text() == "still here"
    stream = io.StringIO()
    assert own_stream(stream) is stream

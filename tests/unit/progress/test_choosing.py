import io
import os
import sys

import pytest

from vbks.progress import Quiet, progress_for, reporting
from vbks.progress.choosing import above
from vbks.progress.lines import PlainLines
from vbks.progress.live import LiveDisplay


def test_progress_for__depends_on_what_is_there(monkeypatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    assert isinstance(progress_for(True), LiveDisplay)
    assert isinstance(progress_for(False), Quiet)
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    assert isinstance(progress_for(True), PlainLines)


def test_progress_of_ones_own__is_used():
    own = Quiet()
    assert progress_for(own) is own


def test_reporting__stops_whatever_happens():
    stopped = []
    own = Quiet()
    own.stop = lambda: stopped.append(True)
    with pytest.raises(KeyboardInterrupt), reporting(own):
        raise KeyboardInterrupt
    assert stopped == [True]


def test_above__shows_later_what_libraries_write_to_a_terminal(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(os, "isatty", lambda descriptor: True)
    with above(LiveDisplay()):
        os.write(2, b"no GPU was found\n")
        assert screen.getvalue() == ""
    assert screen.getvalue() == "no GPU was found\n"


@pytest.mark.parametrize("progress", [Quiet(), PlainLines()])
def test_above__leaves_all_else_alone(progress):
    before = os.fstat(2)
    with above(progress):
        assert os.path.samestat(os.fstat(2), before)

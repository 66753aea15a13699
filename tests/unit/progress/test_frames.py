import math

import pytest

from vbks.progress.frames import frame_text
from vbks.progress.tally import Goal

LONG = " + ".join(["SE * PER * LIN"] * 12)


@pytest.fixture
def busy(tally, clock):
    """A tally in the midst of a search."""
    tally.goal = Goal(30.0, math.inf, 0.0)
    tally.start(96, f"Trying 96 kernels: {LONG}", 6, "exact")
    tally.stage("screening", 96)
    tally.batch.done = 34
    for place, name in enumerate(
        ["SE + PER of log targets", f"{LONG} of log targets", "SE[2]", "OU"]
    ):
        tally.finished(name, -512.25 - 4 * place, True)
    clock.now = 12.0
    return tally


@pytest.mark.parametrize("width", [30, 60, 80, 120, 200])
def test_frame__fits_windows_of_any_width_with_all_it_has_to_tell(busy, width):
    lines = frame_text(busy, width).rstrip("\n").split("\n")
    assert len(lines) == 6
    assert all(len(line) <= width for line in lines)
    assert lines[0].startswith("Trying 96 kernels: SE")
    if width >= 60:
        assert "12 s of 30 s, about 18 s left" in lines[1]
        assert lines[2].rstrip() == "4 kernels tried; screening 34 of 96"
        assert "SE + PER of log targets" in lines[3] and "log evidence -512.2" in lines[3]
        assert "…" in lines[4] and lines[4].rstrip().endswith("-4.0")
        assert "SE[2]" in lines[5]


def test_frame__begins_with_what_is_done_and_its_time(tally):
    tally.start(0, "Starting TensorFlow", 1, "")
    first, second = frame_text(tally, 60).rstrip("\n").split("\n")
    assert first.rstrip() == "Starting TensorFlow"
    assert second.rstrip().endswith("0 s")


def test_frame__shows_who_is_ahead_before_anything_is_finished(tally):
    tally.start(3, "Trying", 1, "")
    tally.leader = "SE * PER"
    assert "Ahead: SE * PER" in frame_text(tally, 60)


@pytest.mark.parametrize("name", ["SE[2]", "[bold]", "SE[/]", ":smile:"])
def test_names__are_shown_literally(tally, name):
    tally.start(1, f"Trying {name}", 1, "")
    tally.finished(name, -1.0, True)
    text = frame_text(tally, 80)
    assert f"Trying {name}" in text and f"Best so far  {name}" in text


def test_control_characters__reach_no_terminal(tally):
    tally.start(1, "target \x1b[2Jx", 1, "")
    assert "\x1b" not in frame_text(tally, 80)

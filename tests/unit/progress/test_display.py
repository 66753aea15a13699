import pytest

from vbks.progress.display import Display


class Shown(Display):
    """A display that remembers lines, and fails when told to."""

    def __init__(self, tally):
        super().__init__(tally)
        self.lines, self.num_closed, self.error = [], 0, None

    def changed(self):
        if self.error is not None:
            raise self.error

    def keep(self, line):
        self.lines.append(line)

    def close(self):
        self.num_closed += 1


@pytest.fixture
def shown(tally):
    return Shown(tally)


def test_stop__leaves_one_line_and_begins_anew(shown):
    shown.start(1, "Trying SE")
    shown.finished("SE", -1.0)
    shown.stop()
    shown.stop()
    assert shown.lines == ["1 kernel tried in 0 s; the best is SE."]
    shown.start(1, "Trying LIN")
    shown.finished("LIN", -9.0)
    shown.stop()
    assert shown.lines[1] == "1 kernel tried in 0 s; the best is LIN."


def test_part__leaves_a_line_about_the_one_before(shown):
    shown.part("vbks", 1, 2)
    shown.start(1, "Trying SE")
    shown.finished("SE", -1.0)
    shown.part("cks", 2, 2)
    assert shown.lines == ["vbks: 1 kernel tried in 0 s; the best is SE."]


@pytest.mark.parametrize("error", [OSError("gone"), ValueError("closed"), RuntimeError("?")])
def test_display_that_fails__is_silent_and_nothing_else(shown, error):
    shown.start(1, "Trying SE")
    shown.error = error
    shown.finished("SE", -1.0)
    assert shown.is_broken and shown.num_closed == 1
    shown.error = None
    shown.stage("optimisation", 3)
    shown.advance()
    shown.say("Still here.")
    shown.stop()
    assert shown.lines == []


def test_stop_of_the_user__goes_through(shown):
    shown.start(1, "Trying SE")
    shown.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        shown.advance()

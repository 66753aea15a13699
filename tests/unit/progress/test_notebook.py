import sys
from types import ModuleType

import pytest

from vbks.progress.notebook import NotebookDisplay, has_notebook


class ZMQInteractiveShell:
    """The name of a notebook's shell."""


class Handle:
    """What a notebook gives to replace a text by."""

    def __init__(self, first):
        self.shown = [first]

    def update(self, text):
        self.shown.append(text)


@pytest.fixture
def handles(monkeypatch):
    """Texts that are shown in a notebook of our own."""
    made = []

    def display(text, display_id):
        assert display_id
        made.append(Handle(text))
        return made[-1]

    own = ModuleType("IPython")
    own.get_ipython = ZMQInteractiveShell
    inner = ModuleType("IPython.display")
    inner.display = display
    monkeypatch.setitem(sys.modules, "IPython", own)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    return made


def test_notebook__is_known_by_its_shell(handles, monkeypatch):
    assert has_notebook()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not has_notebook()


def test_text__is_replaced_in_place_and_ends_as_a_line(handles, tally, clock):
    display = NotebookDisplay(tally)
    display.start(1, "Trying SE")
    clock.now = 0.1
    display.advance()
    clock.now = 1.0
    display.finished("SE", -1.0)
    display.say("Well <done>.")
    display.stop()
    (handle,) = handles
    assert len(handle.shown) == 3
    assert "Trying SE" in repr(handle.shown[0])
    assert "Best so far" in repr(handle.shown[1])
    assert repr(handle.shown[2]) == "Well <done>.\n1 kernel tried in 1 s; the best is SE."
    assert "Well &lt;done&gt;." in handle.shown[2]._repr_html_()

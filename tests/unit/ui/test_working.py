import time

import pytest

from vbks.progress.display import Display
from vbks.ui import working


class Shown(Display):
    """A display whose tally can be looked at."""


@pytest.fixture
def shown(monkeypatch):
    own = Shown()
    monkeypatch.setattr("vbks.progress.choosing.progress_for", lambda wanted: own)
    return own


def test_working__shows_what_is_done_and_counts_from_the_beginning_of_the_process(shown):
    with working.working("Reading sales.csv", 30.0) as progress:
        assert progress is shown
        assert shown.tally.what == "Reading sales.csv"
        assert (shown.tally.goal.seconds, shown.tally.goal.began) == (30.0, working.STARTED)
    assert time.perf_counter() > working.STARTED


def test_working__may_have_no_budget(shown):
    with working.working("Reading sales.csv"):
        assert shown.tally.goal is None


def test_loading__imports_tensorflow_first_and_says_so(shown, monkeypatch):
    seen = []
    monkeypatch.setattr(working, "import_tensorflow", lambda: seen.append(shown.tally.what))
    with working.loading("Forecasting"):
        seen.append(shown.tally.what)
    assert seen == ["Starting TensorFlow", "Forecasting"]

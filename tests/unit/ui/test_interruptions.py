import pytest

from vbks.ui.interruptions import Stopped, stoppable


def test_stoppable__says_what_was_kept():
    with (
        pytest.raises(Stopped, match=r"^stopped\. Nothing was kept\.$"),
        stoppable("Nothing was kept."),
    ):
        raise KeyboardInterrupt


def test_stoppable__lets_errors_pass():
    with pytest.raises(ValueError, match="mine"), stoppable("Nothing was kept."):
        raise ValueError("mine")

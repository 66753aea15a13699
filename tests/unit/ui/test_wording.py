import inspect

import pytest

import vbks
from vbks.data.files.settings import FileSettings
from vbks.ui.wording import OPTIONS, in_options


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Give a larger budget=, in seconds.", "Give a larger --budget, in seconds."),
        ("Use inference='stochastic' or 'auto'.", "Use --inference stochastic or 'auto'."),
        ("Give target_range=(0, 100).", "Give --target-range 0 100."),
        ("preset='fast' is a budget", "--preset fast is a budget"),
        ("by freq=, such as 'D'", "by --freq, such as 'D'"),
        ("Leave out noise_variance, or x.", "Leave out --noise-column, or x."),
        ("season is 0, expected more", "--season is 0, expected more"),
        ("The season is short, a step too.", "The season is short, a step too."),
        ("give families= to search in", "give families= to search in"),
    ],
)
def test_in_options__has_the_words_of_the_command_line(said, shown):
    assert in_options(said) == shown


def test_options__are_of_arguments_that_exist():
    arguments = {*inspect.signature(vbks.fit).parameters}
    arguments |= {*inspect.signature(vbks.backtest).parameters}
    arguments |= {*inspect.signature(vbks.selection.Selection.forecast).parameters}
    arguments |= {*inspect.signature(FileSettings).parameters}
    assert arguments >= OPTIONS.keys()

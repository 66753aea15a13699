import pytest

from vbks.ui import cli
from vbks.ui.arguments import about_arguments


def wrong(*arguments):
    """What the reader of arguments raises."""
    with pytest.raises(Exception) as caught:
        cli.app(list(arguments), prog_name="vbks", standalone_mode=False)
    return caught.value


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "a.csv", "--budget", "soon"), "--budget is 'soon', expected a number."),
        (("fit", "a.csv", "--budget", "0.5"), "--budget is '0.5', expected at least 1."),
        (("fit", "a.csv", "--seed", "1.5"), "--seed is '1.5', expected a whole number."),
    ],
)
def test_values__are_said_with_what_is_expected(arguments, words):
    assert about_arguments(wrong(*arguments), ()) == f"{words} See vbks fit --help."


def test_command__is_that_of_the_call_where_the_error_does_not_say(monkeypatch):
    monkeypatch.setattr("sys.argv", ["vbks", "fit", "a.csv", "--budget"])
    error = wrong("fit", "a.csv", "--budget")
    assert about_arguments(error, ["fit"]).endswith("requires an argument. See vbks fit --help.")
    assert about_arguments(error, []).endswith("See vbks --help.")

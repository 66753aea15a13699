import pytest

import vbks
from vbks.ui import cli


def raising(error):
    """What stands in for `vbks.fit`, and fails."""

    def fit(X, y, **settings):
        raise error

    return fit


def test_wrong_option__is_one_clear_message(run, table):
    code, _, errors = run("fit", "data.csv", "--belief", "hope")
    assert code == 2
    assert "--belief" in errors.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "data.csv", "--belief", "hope"], "'hope' is not one of 'bayes', 'vbks'"),
        (["fit", "data.csv", "--bugdet", "3"], "--bugdet"),
        (["nonsense"], "'nonsense'"),
        (["forecast", "data-vbks"], "'--periods'"),
    ],
)
def test_wrong_arguments__are_one_line_that_names_the_help(run, table, arguments, message):
    code, output, errors = run(*arguments)
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert message in errors and errors.startswith("vbks: ") and errors.endswith(" --help.\n")


def test_no_arguments__are_a_question_for_help(run):
    code, output, _ = run()
    assert code == 0
    assert "Usage: vbks" in output and "forecast" in output


def test_ctrl_c__says_what_was_kept_and_how_to_go_on(run, table, monkeypatch):
    monkeypatch.setattr("vbks.api.fit", raising(KeyboardInterrupt()))
    code, _, errors = run("fit", "data.csv")
    assert (code, errors.count("\n")) == (130, 1)
    assert "Nothing was kept: with --checkpoint FOLDER" in errors
    code, _, errors = run("fit", "data.csv", "--checkpoint", "kept")
    assert code == 130
    assert "Finished work is in kept: the same command goes on from there." in errors


def test_errors_of_vbks__are_one_line_without_a_trace(run, table, monkeypatch):
    monkeypatch.setattr("vbks.api.fit", raising(TypeError("no such thing")))
    monkeypatch.delenv(cli.TRACEBACK, raising=False)
    code, _, errors = run("fit", "data.csv")
    assert (code, errors.count("\n")) == (1, 1)
    assert errors.startswith("vbks: this is an error in vbks: TypeError: no such thing. Please")
    monkeypatch.setenv(cli.TRACEBACK, "1")
    _, _, errors = run("fit", "data.csv")
    assert "Traceback" in errors


def test_errors__speak_of_options_and_reach_no_terminal_raw(run, table, monkeypatch):
    error = vbks.VbksError("column '\x1b[2Jx' is odd. Give target_range=(0, 1).")
    monkeypatch.setattr("vbks.api.fit", raising(error))
    code, _, errors = run("fit", "data.csv")
    assert (code, errors) == (
        2,
        "vbks: column '\\x1b[2Jx' is odd. Give --target-range 0 1.\n",
    )

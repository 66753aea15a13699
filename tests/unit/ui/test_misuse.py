"""Wrong calls of every command: one clear line, the right exit code, and nothing lost."""

import hashlib
import json
import shutil

import numpy as np
import pytest

HELP = "--help.\n"


@pytest.fixture
def files(run, table, saved, tmp_path):
    """Files and folders of every wrong kind beside good ones."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("not a table of numbers\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("day,load\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    table.assign(load="high").to_csv(tmp_path / "text.csv", index=False)
    table.assign(load=3.0).to_csv(tmp_path / "constant.csv", index=False)
    table.assign(load=np.inf).to_csv(tmp_path / "infinite.csv", index=False)
    table.assign(load=[f"{k}+2j" for k in range(20)]).to_csv(tmp_path / "complex.csv", index=False)
    table.assign(load=table["load"].where(table.index != 4)).to_csv(
        tmp_path / "hole.csv", index=False
    )
    table.head(3).to_csv(tmp_path / "short.csv", index=False)
    table[["load"]].to_csv(tmp_path / "alone.csv", index=False)
    table.assign(noise=-1.0).to_csv(tmp_path / "negative.csv", index=False)
    damage(tmp_path)
    return tmp_path


def damage(folder):
    """Copies of a saved selection that were damaged in several ways."""
    text = (folder / "sales-vbks" / "selection.json").read_text()
    newer = json.loads(text) | {"format": 9999}
    shutil.copytree(folder / "sales-vbks", folder / "newer-vbks")
    (folder / "newer-vbks" / "selection.json").write_text(json.dumps(newer))
    for name, content in (
        ("cut-vbks", text[: len(text) // 2]),
        ("other-vbks", "[1, 2]"),
        ("hollow-vbks", text),
        ("bare-vbks", ""),
    ):
        (folder / name).mkdir()
        (folder / name / "selection.json").write_text(content)


def contents(folder):
    """All files below a folder, by what is in them."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


BY_ARGUMENTS = [
    ("fit data.csv --budget 0", "--budget is '0', expected at least 1. See vbks fit --help."),
    ("fit data.csv --budget -3", "--budget is '-3', expected at least 1."),
    ("fit data.csv --budget nan", "--budget is 'nan', expected at least 1."),
    ("fit data.csv --budget soon", "--budget is 'soon', expected a number."),
    ("fit data.csv --budget", "option '--budget' requires an argument. See vbks fit --help."),
    ("fit data.csv --seed -1", "--seed is '-1', expected at least 0."),
    ("fit data.csv --seed 1.5", "--seed is '1.5', expected a whole number."),
    ("fit data.csv --inducing 0", "--inducing is '0', expected at least 1."),
    ("fit data.csv --inducing many", "--inducing is 'many', expected a whole number."),
    ("fit data.csv --method magic", "'magic' is not one of 'vbks', 'cks'"),
    ("fit data.csv --likelihood cauchy", "'cauchy' is not one of 'gaussian'"),
    ("fit data.csv --preset huge", "'huge' is not one of 'fast'"),
    ("fit data.csv --weights equal", "'equal' is not one of 'auto'"),
    ("fit data.csv --belief strong", "'strong' is not one of 'bayes'"),
    ("fit data.csv --inference vague", "'vague' is not one of 'auto'"),
    ("fit data.csv --mean cubic", "'cubic' is not one of 'linear'"),
    ("fit data.csv --target-range 5", "'--target-range' requires 2 arguments"),
    ("fit data.csv --target-range low high", "--target-range is 'low', expected a number."),
    ("fit data.csv more.csv", "extra argument"),
    ("fit --wish", "no such option: --wish"),
    ("--wish", "no such option: --wish"),
    ("fti data.csv", "no such command 'fti'"),
    ("forecast sales-vbks", "missing option '--periods'"),
    ("forecast sales-vbks --periods 0", "--periods is '0', expected at least 1."),
    ("forecast sales-vbks --periods few", "--periods is 'few', expected a whole number."),
    ("forecast --periods 3", "missing argument 'folder'"),
    ("predict sales-vbks", "missing argument 'data'"),
    ("backtest data.csv --horizon 0", "--horizon is '0', expected at least 1."),
    ("backtest data.csv --folds 0", "--folds is '0', expected at least 1."),
    ("backtest data.csv --step -1", "--step is '-1', expected at least 1."),
    ("backtest data.csv --season 0", "--season is '0', expected at least 1."),
    ("compare data.csv --budget 0", "--budget is '0', expected at least 1."),
    ("demo --budget 0", "--budget is '0', expected at least 1."),
]
"""Calls whose arguments cannot be read: the line names the help."""

BEFORE_WORK = [
    ("fit none.csv", "there is no file 'none.csv'. Check the path."),
    ("fit folder", "'folder' is a folder, not a file."),
    ("fit empty.csv", "'empty.csv' is empty."),
    ("fit header.csv", "'header.csv' has a header and no rows."),
    ("fit text.csv", "column 'load' of 'text.csv' has 'high' in line 2, expected numbers"),
    (
        "fit complex.csv",
        "column 'load' of 'complex.csv' has '0+2j' in line 2, expected numbers",
    ),
    ("fit constant.csv", "the target 'load' is constant"),
    ("fit infinite.csv", "the target 'load' has 20 infinite values"),
    ("fit hole.csv", "the target 'load' of 'hole.csv' has 1 missing value, in line 6."),
    ("fit short.csv", "there are only 3 rows to learn from. Give at least 5."),
    ("fit alone.csv", "beside the target 'load' there is no column"),
    ("fit data.csv --x hour", "there is no column 'hour'. The columns: day, place, load."),
    ("fit data.csv --y hour", "there is no column 'hour'. The columns: day, place, load."),
    ("fit data.csv --x load --y load", "'load' is an input and the target."),
    (
        "fit data.csv --x place",
        "column 'place' of 'data.csv' has 'here' in line 2, expected numbers",
    ),
    ("fit data.csv --y day", "column 'day' of 'data.csv' has '2020-01-01' in line 2"),
    ("fit data.csv --space RBF", "unknown family 'RBF' in 'RBF' (column 1). Known: "),
    ("fit data.csv --space (SE", "expected '+', '*' or ')' after 'SE' in '(SE' (column 4)"),
    ("fit data.csv --space SE++LIN", "expected a kernel after '+'"),
    ("fit data.csv --space SE[0]", "inputs are counted from 1"),
    ("fit data.csv --space CP(SE)", "expected '+', '*' or ',' after 'SE'"),
    ("fit data.csv --warps root", "unknown warp 'root'. Known: identity, log, logit, softplus."),
    ("fit data.csv --warps logit", "Give --target-range low high."),
    ("fit data.csv --warps logit --target-range 9 1", "the lower one first"),
    ("fit data.csv --warps logit --target-range 0 1", "the target is 5"),
    ("fit data.csv --noise-column none", "there is no column 'none'"),
    ("fit data.csv --noise-column place", "column 'place'"),
    ("fit negative.csv --y load --noise-column noise", "column 'noise'"),
    ("fit data.csv --out folder --force", "'folder' holds no selection, so it stays."),
    (
        "fit data.csv --out sales-vbks",
        "'sales-vbks' exists already. Give another --out, or --force",
    ),
    ("fit data.csv --out data.csv --force", "'data.csv' holds no selection, so it stays."),
    ("fit data.csv --out a/b", "there is no folder 'a' to write to. Make it first."),
    ("fit data.csv --checkpoint data.csv", "'data.csv' is a file, not a folder"),
    ("fit data.csv --preset fast --budget 9", "Leave out one of the two."),
    ("fit", "there is no table to fit."),
    ("forecast none-vbks --periods 3", "'none-vbks' holds no saved selection."),
    ("forecast data.csv --periods 3", "'data.csv' holds no saved selection."),
    ("forecast sales-vbks --periods 3 --level 2", "--level is 2, expected a share between 0 and 1"),
    ("forecast sales-vbks --periods 3 --out f.xls", "'f.xls' does not end in .csv or .json."),
    ("forecast sales-vbks --periods 3 --out folder/x/f.csv", "there is no folder 'folder/x'"),
    ("forecast sales-vbks --periods 3 --out data.csv", "'data.csv' exists already."),
    ("forecast sales-vbks --periods 3 --plot f.bmp", "Give another --plot."),
    ("predict folder data.csv", "'folder' holds no saved selection."),
    ("predict sales-vbks none.csv", "there is no file 'none.csv'."),
    ("predict sales-vbks data.csv --out p.txt", "'p.txt' does not end in .csv or .json."),
    ("report folder", "'folder' holds no saved selection."),
    ("report sales-vbks --out page.pdf", "'page.pdf' does not end in"),
    ("report sales-vbks --out folder", "does not end in"),
    ("leaderboard folder", "'folder' holds no saved selection."),
    ("leaderboard sales-vbks --data none.csv", "there is no file 'none.csv'."),
    ("leaderboard sales-vbks --out picture.png", "'picture.png' does not end in"),
    ("compare data.csv --methods magic", "'magic' is no method. Known: vbks, cks"),
    ("compare data.csv --methods cks,,bo", "'' is no method."),
    ("compare data.csv --test 1", "--test is 1, expected a share between 0 and 1."),
    ("compare data.csv --out x.xyz", "'x.xyz' does not end in .png, .svg or .pdf."),
    ("compare data.csv --out picture.png", "'picture.png' exists already."),
    ("compare constant.csv", "the target 'load' is constant"),
    ("backtest none.csv", "there is no file 'none.csv'."),
    ("backtest data.csv --out x.xyz", "'x.xyz' does not end in .csv or .json."),
    ("backtest data.csv --plot x.csv", "Give another --plot."),
    ("demo --out page.pdf", "'page.pdf' does not end in"),
]
"""Calls that are refused before TensorFlow is imported."""

BY_THE_WORK = [
    ("fit data.csv --space SE[9]", "SE[9]"),
    ("fit data.csv --likelihood poisson", "Poisson takes whole numbers"),
    ("fit data.csv --likelihood bernoulli", "0 and 1"),
    ("fit data.csv --preset paper --method cks", "--method"),
    ("fit data.csv --mean linear --warps log", "--warps"),
    ("fit data.csv --mean linear --likelihood student_t", "goes with Gaussian noise"),
    ("fit data.csv --method cks --space SE", "--space"),
    ("forecast cut-vbks --periods 3", "'cut-vbks"),
    ("forecast newer-vbks --periods 3", "9999"),
    ("forecast other-vbks --periods 3", "'other-vbks"),
    ("predict hollow-vbks data.csv", "'hollow-vbks"),
    ("report bare-vbks", "'bare-vbks"),
    ("leaderboard hollow-vbks", "'hollow-vbks"),
    ("forecast sales-vbks --periods 3 --freq never", "'never'"),
    ("forecast sales-vbks --periods 3 --freq 0", "--freq"),
    ("predict sales-vbks alone.csv", "month"),
    ("leaderboard sales-vbks --data data.csv", "there is no column"),
    ("backtest data.csv --horizon 50", "--horizon"),
    ("backtest data.csv --folds 90", "--folds"),
    ("backtest data.csv --freq never", "'never'"),
]
"""Calls that only the work itself can refuse, before any fit."""


def refused(run, files, call, message):
    """Check that a call ends in one line, and leaves all as it was."""
    before = contents(files)
    code, output, errors = run(*call.split())
    assert message in errors
    assert (code, errors.count("\n")) == (2, 1)
    assert errors.startswith("vbks: ")
    assert contents(files) == before
    return output, errors


@pytest.mark.parametrize(("call", "message"), BY_ARGUMENTS)
def test_unreadable_arguments__are_one_line_that_names_the_help(run, files, call, message):
    output, errors = refused(run, files, call, message)
    assert output == "" and errors.endswith(HELP)


@pytest.mark.parametrize(("call", "message"), BEFORE_WORK)
def test_wrong_calls__are_refused_before_tensorflow(run, files, monkeypatch, call, message):
    monkeypatch.setattr("vbks.ui.working.import_tensorflow", pytest.fail)
    output, _ = refused(run, files, call, message)
    assert output == ""


@pytest.mark.parametrize(("call", "message"), BY_THE_WORK)
def test_wrong_calls__are_refused_before_any_fit(run, files, monkeypatch, call, message):
    monkeypatch.setattr("vbks.inference.pipeline.Pipeline.fit", pytest.fail)
    refused(run, files, call, message)


def test_calls__are_more_than_sixty():
    assert len({call for call, _ in (*BY_ARGUMENTS, *BEFORE_WORK, *BY_THE_WORK)}) > 100

import json

import numpy as np
import pandas as pd

import vbks


def test_forecast__writes_csv_where_there_is_no_terminal(run, saved):
    code, output, errors = run("forecast", saved, "--periods", 3, "--level", 0.9)
    assert (code, errors) == (0, "")
    lines = output.splitlines()
    assert lines[0] == "month,mean,sd,median,low_90,high_90"
    assert [line.split(",")[0] for line in lines[1:]] == ["2018-05-01", "2018-06-01", "2018-07-01"]
    expected = vbks.load(saved).forecast(3).table
    found = np.array([line.split(",")[1:4] for line in lines[1:]], float)
    np.testing.assert_allclose(found, expected[["mean", "sd", "median"]], rtol=1e-6)


def test_forecast__on_a_terminal_is_a_table(run, saved, monkeypatch):
    monkeypatch.setattr("vbks.ui.commands.forecast.sys.stdout.isatty", lambda: True, raising=False)
    code, output, errors = run("forecast", saved, "--periods", 2)
    assert code == 0, errors
    assert "sold, 2 steps of month ahead" in output
    assert "2018-05-01" in output and "90 % interval" in output


def test_forecast__writes_tables_and_pictures(run, saved, tmp_path):
    files = ("--out", "f.json", "--plot", "f.svg")
    code, output, errors = run("forecast", saved, "--periods", 2, "--freq", "Q", *files)
    assert code == 0, errors
    rows = json.loads((tmp_path / "f.json").read_text())
    assert [row["month"][:10] for row in rows] == ["2018-07-01", "2018-10-01"]
    assert (tmp_path / "f.svg").read_text().count("<svg") == 1
    assert "Written to f.json." in output and "Written to f.svg." in output
    code, _, errors = run("forecast", saved, "--periods", 2, "--plot", "f.svg")
    assert (code, errors.count("\n")) == (2, 1)


def test_forecast__answers_programs(run, saved):
    code, output, _ = run("forecast", saved, "--periods", 2, "--json")
    found = json.loads(output)
    assert (code, found["step"], len(found["rows"])) == (0, "month", 2)
    assert pd.Timestamp(found["rows"][0]["month"]) == pd.Timestamp("2018-05-01")

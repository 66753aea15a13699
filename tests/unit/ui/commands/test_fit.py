import json
from pathlib import Path

import numpy as np
import pytest

import vbks
from vbks.ui import paths, working

SMALL = ("--space", "SE, LIN", "--warps", "identity", "--no-report")


def test_fit__says_what_it_took_found_and_saved(fitted):
    assert fitted.startswith(
        "20 rows: load explained by day (dates from 2020-01-01 to 2020-01-20). "
        "Left out, as they have texts: place."
    )
    assert "The best of 2 candidates" in fitted
    assert "LIN" in fitted
    assert "2 candidates were tried" in fitted
    assert fitted.endswith(
        "Saved to data-vbks. To forecast: vbks forecast data-vbks --periods 12\n"
    )


def test_fit__takes_the_settings_of_the_call(run, table, monkeypatch):
    seen = {}

    def fit(X, y, **settings):
        assert settings.pop("progress") is not None
        assert settings["budget"].began == working.STARTED
        seen.update(settings, X=list(X.columns), y=y.name)
        raise vbks.VbksError("seen enough")

    monkeypatch.setattr("vbks.api.fit", fit)
    code, _, errors = run(
        *("fit", "data.csv", "--x", "day", "--y", "load", "--out", "there"),
        *("--method", "cks"),
        *("--space", "CP(SE, (LIN + PER) * RQ), SE", "--belief", "vbks"),
        *("--weights", "stacking"),
        *(
            "--inference",
            "collapsed",
            "--preset",
            "paper",
            "--inducing",
            7,
            "--budget",
            9,
            "--seed",
            4,
        ),
        *("--checkpoint", "kept", "--likelihood", "poisson"),
        *("--warps", "identity, logit", "--target-range", 0, 10),
    )
    assert (code, errors) == (2, "vbks: seen enough\n")
    assert seen == {
        "X": ["day"],
        "y": "load",
        "method": "cks",
        "space": (vbks.parse("CP(SE, (LIN + PER) * RQ)"), vbks.parse("SE")),
        "belief": "vbks",
        "weights": "stacking",
        "inference": "collapsed",
        "likelihood": "poisson",
        "preset": "paper",
        "num_inducing": 7,
        "warps": ["identity", "logit"],
        "target_range": (0.0, 10.0),
        "budget": vbks.Budget(9.0),
        "checkpoint": Path("kept"),
        "seed": 4,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "there is no file 'none.csv'. Check the path."),
        (["data.csv", "--x", "time"], "there is no column 'time'. The columns: day, place, load."),
        (["data.csv", "--y", "time"], "there is no column 'time'. The columns: day, place, load."),
        (
            ["data.csv", "--x", "place"],
            "column 'place' of 'data.csv' has 'here' in line 2, expected numbers or dates",
        ),
        (
            ["data.csv", "--y", "place"],
            "column 'place' of 'data.csv' has 'here' in line 2, expected numbers. Texts are",
        ),
        (
            ["data.csv", "--y", "day"],
            "column 'day' of 'data.csv' has '2020-01-01' in line 2, expected numbers",
        ),
        (["data.csv", "--space", "RBF"], "unknown family 'RBF'"),
        (["data.csv", "--space", "SE,"], "expected a kernel in ''"),
        (["data.csv", "--warps", "root"], "root"),
        (["data.csv", "--warps", "logit"], "Give --target-range low high."),
        (["data.csv", "--out", "."], "'.' exists already"),
        (["data.csv", "--out", "data.csv", "--force"], "'data.csv' holds no selection"),
        (["data.csv", "--out", "a/b/c"], "there is no folder 'a/b' to write to"),
        (["."], "'.' is a folder, not a file"),
    ],
)
def test_fit__refuses_in_one_line_before_it_fits(run, table, monkeypatch, arguments, message):
    monkeypatch.setattr("vbks.api.fit", pytest.fail)
    code, output, errors = run("fit", *arguments)
    assert (code, output) == (2, "")
    assert errors.startswith("vbks: ")
    assert message in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'bad.csv' is empty"),
        ("a,b\n", "has a header and no rows"),
        ("a,b\n1,2\n", "there is only one row to learn from. Give at least 5."),
        ("a,b\n" + "1,2\n" * 9, "the target 'b' is constant"),
        (
            "a,b\n1,\n" + "1,2\n2,3\n" * 9,
            "the target 'b' of 'bad.csv' has 1 missing value, in line 2",
        ),
        (
            "a,b\n1,2\n?,5\n" + "1,2\n2,3\n" * 9,
            "column 'a' of 'bad.csv' has 1 missing value, in line 3",
        ),
        ("a:b\n" + "1:2\n" * 9, "say what is between them by --sep"),
    ],
)
def test_fit__refuses_bad_tables_in_one_line(run, tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    code, output, errors = run("fit", "bad.csv")
    assert (code, output) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1


def test_fit__finds_out_first_whether_it_can_save(run, table, monkeypatch):
    def refuse(folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("vbks.api.fit", pytest.fail)
    monkeypatch.setattr(paths.Path, "mkdir", refuse)
    code, _, errors = run("fit", "data.csv", "--out", "there")
    assert code == 2
    assert errors == "vbks: 'there' cannot be written: Permission denied. Give another --out.\n"


def test_fit__replaces_a_folder_only_by_force(run, table, fitted):
    code, _, errors = run("fit", "data.csv", *SMALL)
    assert code == 2
    assert "'data-vbks' exists already. Give another --out, or --force to replace it." in errors
    code, _, errors = run("fit", "data.csv", "--space", "SE", "--warps", "identity", "--force")
    assert code == 0, errors
    assert len(vbks.load("data-vbks").fits) == 1


def test_fit__takes_a_line_and_known_noise(run, table):
    table.assign(error=np.linspace(0.001, 0.01, 20)).to_csv("noisy.csv", index=False)
    chosen = ("--y", "load", "--noise-column", "error", "--mean", "linear", "--space", "SE")
    code, output, errors = run("fit", "noisy.csv", *chosen)
    assert code == 0, errors
    assert output.startswith("20 rows: load explained by day (")
    selection = vbks.load("noisy-vbks")
    (rows,) = selection.data.values()
    np.testing.assert_allclose(rows.source.noise, np.linspace(0.001, 0.01, 20))
    assert selection.mean_function is not None
    code, _, errors = run("fit", "noisy.csv", "--noise-column", "none", "--force")
    assert (code, errors.count("\n")) == (2, 1)
    assert "there is no column 'none'" in errors


def test_explain__prints_settings_and_policies_and_fits_nothing(run, monkeypatch):
    def fit(X, y=None, *, seed=0, **settings):
        raise AssertionError("nothing is fitted")

    monkeypatch.setattr("vbks.api.fit", fit)
    code, output, errors = run("fit", "--explain", "--seed", 7)
    assert (code, errors) == (0, "")
    for text in ("seed", "7", "policies.search", " slack ", "policies.budget", " few "):
        assert text in output
    code, _, errors = run("fit")
    assert (code, errors) == (2, "vbks: there is no table to fit. Give a CSV file with a header.\n")


def test_fit__is_saved_before_anything_is_said(run, table, monkeypatch):
    def break_down(*arguments):
        raise RuntimeError("the printer is on fire")

    monkeypatch.setattr("vbks.ui.tables.belief_table", break_down)
    code, _, _ = run("fit", "data.csv", *SMALL)
    assert code == 1
    assert len(vbks.load("data-vbks").fits) == 2


def test_fit__is_saved_elsewhere_where_its_place_was_lost(run, table, monkeypatch, tmp_path):
    saved = []

    class Lost:
        def with_notices(self, *notices):
            return self

        def save(self, folder):
            saved.append(folder)
            if len(saved) == 1:
                raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("vbks.api.fit", lambda X, y, **settings: Lost())
    code, _, errors = run("fit", "data.csv")
    assert code == 2
    assert errors == (
        f"vbks: 'data-vbks' could not be written: Permission denied. It is in {saved[1]}.\n"
    )


def test_fit__answers_programs(run, table):
    code, output, errors = run("fit", "data.csv", *SMALL, "--json")
    assert code == 0, errors
    found = json.loads(output)
    assert (found["folder"], found["report"], len(found["belief"])) == ("data-vbks", None, 2)
    assert found["best"] == found["belief"][0]["expression"]
    assert 0 < found["probability"] <= 1


def test_fit__says_what_was_guessed_and_keeps_it(run, tmp_path):
    days = [f"{day}.01.2020" for day in range(1, 21)]
    rows = "".join(f"{day};{5 + k // 3},{k % 10}\n" for k, day in enumerate(days))
    (tmp_path / "verkauf.csv").write_bytes(f"Tag;Erlös\n{rows};\nSumme;99\n".encode("cp1252"))
    code, output, errors = run("fit", "verkauf.csv", *SMALL)
    assert code == 0, errors
    for text in (
        "20 rows: Erlös explained by Tag (dates from 2020-01-01 to 2020-01-20).",
        "- Letters are read as cp1252",
        "- Line 23 ('Summe') is no row of the table",
        "- Tag: read as day.month.year ('1.01.2020' is 2020-01-01).",
        "- Erlös: read with a decimal comma ('5,0' is 5).",
    ):
        assert output.count(text) == 1
    assert any("decimal comma" in notice for notice in vbks.load("verkauf-vbks").notices)


@pytest.mark.parametrize("option", ["--sep", "--decimal", "--date-format", "--encoding"])
def test_fit__reads_the_table_as_it_is_asked_to(run, tmp_path, monkeypatch, option):
    asked = {
        "--sep": (":", "a:b\n" + "1:2\n2:3\n" * 9, ""),
        "--decimal": (",", "a;b\n" + "1,5;1.234\n2,5;2.345\n3,5;987\n" * 9, ""),
        "--date-format": ("dd/mm/yyyy", "a,b\n" + "01/02/2014,1\n01/03/2014,2\n" * 9, ""),
        "--encoding": ("ascii", "größe,b\n1,2\n", "is not written in ascii"),
    }
    value, text, message = asked[option]
    (tmp_path / "asked.csv").write_text(text)

    def fit(X, y, **settings):
        raise vbks.VbksError(f"{X.iloc[0, 0]} {y[0]}")

    monkeypatch.setattr("vbks.api.fit", fit)
    code, _, errors = run("fit", "asked.csv", option, value)
    assert (code, errors.count("\n")) == (2, 1)
    expected = {
        "--sep": "1.0 2.0",
        "--decimal": "1.5 1234.0",
        "--date-format": "2014-02-01 00:00:00+00:00 1.0",
    }
    assert (message or expected[option]) in errors


def test_fit__drops_rows_with_gaps_if_asked_to(run, table, monkeypatch):
    table.assign(load=table["load"].where(table["load"] > table["load"].min())).to_csv("gaps.csv")

    def fit(X, y, **settings):
        raise vbks.VbksError(f"{len(X)} rows")

    monkeypatch.setattr("vbks.api.fit", fit)
    code, output, errors = run("fit", "gaps.csv", "--missing", "drop")
    assert (code, errors) == (2, "vbks: 19 rows\n")
    assert "- 1 row with missing values left out: line " in output
    assert "Left out, as they count rows: Unnamed: 0." in output
    code, _, errors = run("fit", "gaps.csv")
    assert errors.endswith("Fill it, or leave such rows out: --missing drop.\n")

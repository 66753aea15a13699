import numpy as np
import pandas as pd

import vbks


def test_predict__writes_the_inputs_and_what_is_expected(run, table, fitted):
    table[["day"]].to_csv("new.csv", index=False)
    code, output, errors = run("predict", "data-vbks", "new.csv", "--out", "predictions.csv")
    assert (code, output) == (0, ""), errors
    predictions = pd.read_csv("predictions.csv")
    assert list(predictions.columns) == ["day", "mean", "sd", "q05", "q50", "q95"]
    assert predictions["day"].tolist() == table["day"].tolist()
    X = pd.DataFrame({"day": pd.to_datetime(table["day"])})
    mean, variance = vbks.load("data-vbks").predict_y(X)
    np.testing.assert_allclose(predictions["mean"], mean, rtol=1e-7)
    np.testing.assert_allclose(predictions["sd"], np.sqrt(variance), rtol=1e-7)
    assert (predictions["q05"] < predictions["q50"]).all()
    assert (predictions["q50"] < predictions["q95"]).all()


def test_predict__without_a_file_writes_to_the_terminal(run, fitted):
    code, output, _ = run("predict", "data-vbks", "data.csv")
    assert code == 0
    assert output.startswith("day,mean,sd,q05,q50,q95\n2020-01-01,")


def test_predict__refuses_in_one_line(run, tmp_path, fitted):
    (tmp_path / "other.csv").write_text("a\n1\n")
    (tmp_path / "text.csv").write_text("day\nsoon\n")
    (tmp_path / "empty").mkdir()
    for arguments, message in (
        (("data-vbks", "none.csv"), "there is no file 'none.csv'"),
        (("none", "data.csv"), "'none' holds no saved selection"),
        (("empty", "data.csv"), "'empty' holds no saved selection"),
        (("data-vbks", "other.csv"), "there is no column 'day'. The columns: a."),
        (("data-vbks", "text.csv"), "column 'day' of 'text.csv' has 'soon' in line 2"),
        (("data-vbks", "data.csv", "--out", "data.csv"), "'data.csv' exists already"),
    ):
        code, output, errors = run("predict", *arguments)
        assert (code, output) == (2, "")
        assert message in errors
        assert errors.count("\n") == 1


def test_predict__keeps_inputs_that_are_called_as_predictions_are(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"mean": np.arange(20.0), "sd": rng.normal(size=20)})
    rows.assign(y=rows["mean"] + 0.1 * rng.normal(size=20)).to_csv("train.csv", index=False)
    small = ("--space", "LIN", "--warps", "identity", "--no-report")
    assert run("fit", "train.csv", *small)[0] == 0
    rows.to_csv("new.csv", index=False)
    code, _, errors = run("predict", "train-vbks", "new.csv", "--out", "p.csv")
    assert code == 0, errors
    found = pd.read_csv("p.csv")
    assert list(found) == ["mean", "sd", "predicted_mean", "predicted_sd", "q05", "q50", "q95"]
    np.testing.assert_allclose(found["mean"], rows["mean"])
    np.testing.assert_allclose(found["predicted_mean"], rows["mean"], atol=1.0)


def test_predict__names_the_column_in_which_something_is_missing(run, saved, tmp_path):
    (tmp_path / "new.csv").write_text("month,n\n2019-01-01,1\n,2\n2019-03-01,3\n")
    code, _, errors = run("predict", saved, "new.csv")
    assert code == 2
    assert errors == (
        "vbks: column 'month' has 1 missing or infinite value, in row 2. Drop or fill such rows.\n"
    )


def test_predict__reads_tables_as_a_fit_does(run, saved, tmp_path):
    months = pd.date_range("2019-01-01", periods=3, freq="MS")
    frame = pd.DataFrame({"month": months.strftime("%d.%m.%Y"), "note": "x"})
    frame.to_csv("new.csv", sep=";", index=False)
    code, output, errors = run("predict", saved, "new.csv")
    assert code == 0, errors
    frame.assign(month=months).to_parquet("new.parquet")
    _, other, _ = run("predict", saved, "new.parquet")
    assert output.splitlines()[1].startswith("01.01.2019,")
    assert other.splitlines()[1].startswith("2019-01-01,")
    assert [line.split(",")[1:] for line in output.splitlines()] == [
        line.split(",")[1:] for line in other.splitlines()
    ]
    frame.assign(month=months.strftime("01/%m/%Y")).to_csv("open.csv")
    code, _, errors = run("predict", saved, "open.csv")
    assert "Say it by --date-format dd/mm/yyyy" in errors
    code, asked, _ = run("predict", saved, "open.csv", "--date-format", "dd/mm/yyyy")
    assert asked.splitlines()[1].split(",")[1:] == output.splitlines()[1].split(",")[1:]

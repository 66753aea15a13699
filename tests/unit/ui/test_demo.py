import re

from typer.testing import CliRunner

from vbks.ui import demo
from vbks.ui.cli import app


def test_demo__prints_a_forecast_beside_the_truth_and_writes_a_report(monkeypatch, tmp_path):
    fit = demo.fit
    monkeypatch.setattr(
        demo,
        "fit",
        lambda X, y, budget, seed, progress: fit(
            X, y, space=("SE * PER + LIN", "SE"), warps=("log",), restarts=2, seed=seed
        ),
    )
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    assert f"The report is in {tmp_path / 'page.html'}." in done.output
    assert "<h1>passengers (thousands) by year</h1>" in (tmp_path / "page.html").read_text()
    assert "The best of 2 candidates" in done.output
    months = re.findall(r"(19\d\d-\d\d) *│ *(\d+) *│ *(\d+) *│ *(\d+) to (\d+)", done.output)
    assert [months[0][0], months[-1][0], len(months)] == ["1959-01", "1960-12", 24]
    assert [int(month[1]) for month in months[-2:]] == [390, 432]
    rmse, inside = re.search(r"median (\d+\.\d); (\d+) of\s+24", done.output).groups()
    assert float(rmse) < 60
    assert sum(int(low) <= int(y) <= int(high) for _, y, _, low, high in months) == int(inside)


def test_month__counts_from_january():
    assert [demo._month(year) for year in (1959, 1959 + 11 / 12, 1960.5)] == [
        "1959-01",
        "1959-12",
        "1960-07",
    ]

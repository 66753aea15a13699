"""The program in this process; what it does before TensorFlow is in the integration tests."""

import sys

import numpy as np
import pandas as pd
import pytest
from support.selections import make_dated

from vbks.progress import lines
from vbks.ui import cli

SMALL = ("--space", "SE, LIN", "--warps", "identity", "--no-report")


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Call the program in a folder of its own: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")
    monkeypatch.setattr(lines, "WAITS", (np.inf,))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["vbks", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture
def table(tmp_path):
    """A file of days and a rising load, which `run` finds."""
    days = pd.date_range("2020-01-01", periods=20).strftime("%Y-%m-%d")
    load = 5 + 0.1 * np.arange(20) + np.random.default_rng(0).normal(0, 0.05, 20)
    frame = pd.DataFrame({"day": days, "place": "here", "load": load.round(3)})
    frame.to_csv(tmp_path / "data.csv", index=False)
    return frame


@pytest.fixture
def fitted(run, table):
    """A folder that was fitted, and what the program said."""
    code, output, errors = run("fit", "data.csv", *SMALL)
    assert code == 0, errors
    return output


@pytest.fixture
def saved(run, tmp_path):
    """A folder with a selection of 40 months, which was made by hand."""
    make_dated().save(tmp_path / "sales-vbks")
    return "sales-vbks"

import runpy
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


def test_examples__are_there():
    assert EXAMPLES


@pytest.mark.slow
@pytest.mark.usefixtures("scoped_registries")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example__runs_and_prints(path, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plt.switch_backend("agg")
    runpy.run_path(str(path))
    plt.close("all")
    assert capsys.readouterr().out

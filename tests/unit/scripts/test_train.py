"""The script that trains on a table, here with two processes on the loopback address."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vbks
from vbks.execution.work import Results, Work
from vbks.inference.context import FitContext

ray = pytest.importorskip("ray")

SCRIPT = Path(__file__).parents[3] / "scripts" / "train.py"

IN_SMALL_CHUNKS = """
import runpy, sys
from vbks.inference.context import FitContext
FitContext.chunk_size = 1
sys.argv = {words!r}
runpy.run_path(sys.argv[0], run_name="__main__")
"""

LOOPBACK = "127.0.0.2"
"""Ray takes 127.0.0.1 for the address that others see."""

SPACE = "SE, LIN, SE + LIN, PER"


COUNTS = [f"{day},{calls}" for day, calls in enumerate([1, 0, 2, 4, 6, 4, 1, 0, 1, 3, 5, 6])]


class Refusing:
    """Has no work done."""

    def run(self, work: Work) -> Results:
        raise AssertionError(f"{work.name} was not in the checkpoint")
        yield


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster with room for two tasks, each with a GPU that is one in name alone."""
    ray.init(
        num_cpus=2, num_gpus=2, _node_ip_address=LOOPBACK, include_dashboard=False,
        log_to_driver=False,
    )  # fmt: skip
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 10, 90))
    path = tmp_path / "rows.npy"
    np.save(path, np.stack([x, np.sin(x) + 0.1 * rng.normal(size=90)], axis=1))
    return path


def train(words: list[str]) -> subprocess.CompletedProcess[str]:
    code = IN_SMALL_CHUNKS.format(words=[str(SCRIPT), *words])
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
    )


def evidences(selection: Any) -> list[float]:
    found = [fit.log_evidence() for fit in selection.fits]
    assert np.isfinite(found).all()
    return found


def test_two_processes__train_and_keep_what_one_process_finds(
    address: str, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, kept = tmp_path / "fitted", tmp_path / "kept"
    assert address.startswith(f"{LOOPBACK}:")
    done = train([
        str(table), "--out", str(out), "--checkpoint", str(kept), "--space", SPACE,
        "--preset", "paper", "--steps", "60", "--posterior", "point", "--likelihood", "gaussian",
        "--inducing", "8", "--batch", "30", "--ray", address, "--num-gpus", "1",
    ])  # fmt: skip
    assert done.returncode == 0, done.stderr
    workers = re.findall(r"127\.0\.0\.2 process (\d+) GPU (\d): (\d+) chunks", done.stdout)
    assert {gpu for _, gpu, _ in workers} == {"0", "1"}
    # A process is kept for the next chunk, with the graphs that it has made.
    assert 2 <= len({process for process, _, _ in workers}) < sum(int(n) for _, _, n in workers)

    rows = np.load(table)
    settings: dict[str, Any] = {
        "space": SPACE.split(", "), "preset": vbks.PaperSettings(steps=60), "posterior": "point",
        "num_inducing": 8, "batch_size": 30,
    }  # fmt: skip
    monkeypatch.setattr(FitContext, "chunk_size", 1)
    here = vbks.fit(rows[:, :1], rows[:, 1], **settings)
    again = vbks.fit(rows[:, :1], rows[:, 1], **settings, checkpoint=kept, executor=Refusing())
    for other in (vbks.load(out), again):
        np.testing.assert_allclose(other.probabilities, here.probabilities, atol=1e-6)
        np.testing.assert_allclose(evidences(other), evidences(here), atol=1e-6)


def run_here(words: list[str]) -> None:
    """The same program in this process, where TensorFlow has been imported."""
    main = runpy.run_path(str(SCRIPT))["main"]
    main(words)


def test_likelihood_and_posterior__are_those_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, out = tmp_path / "counts.csv", tmp_path / "fitted"
    table.write_text("\n".join(["day,calls", *COUNTS]))
    run_here([
        str(table), "--out", str(out), "--space", "SE", "--likelihood", "poisson",
        "--posterior", "diagonal", "--inducing", "6",
    ])  # fmt: skip
    selection = vbks.load(out)
    assert selection.likelihood.name == "Poisson"
    assert selection.best.posterior == "diagonal"
    assert "/device:CPU:0: " in capsys.readouterr().out


def test_gpus_that_are_not_there__are_named_in_one_line(table: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^vbks: there is no device '/GPU:0'\. TensorFlow has"):
        run_here([str(table), "--out", str(tmp_path / "fitted"), "--num-gpus", "2"])


def test_dry_run__says_what_would_go_where(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_here([
        str(table), "--dry-run", "1", "8", "--inference", "stochastic", "--inducing", "20",
        "--num-gpus", "8",
    ])  # fmt: skip
    text = capsys.readouterr().out
    assert text.startswith("1 device\n  device 0: at most ")
    assert len(re.findall(r"(?m)^  device \d: at most \d+ MB, busy", text)) == 1 + 8


def test_folder__is_asked_for(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_here([str(table)])
    assert "give --out, a folder for the selection, or --dry-run." in capsys.readouterr().err

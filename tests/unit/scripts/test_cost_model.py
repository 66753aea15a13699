"""The cost model beside operations that were counted, and beside its page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from benchmarks.door.cost_model import A100, Step, epoch_seconds
from support.rows import make_rows

from vbks.grammar.parser import parse
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import make_context
from vbks.inference.objectives import evidence, whitening
from vbks.inference.settings import FitSettings
from vbks.inference.svgp.stage import StochasticStage

PAGE = Path(__file__).parents[3] / "docs" / "cost_model.md"


class Counting:
    """TensorFlow with a count of what products, solves and factors of matrices cost."""

    def __init__(self, module: Any, flops: dict[str, float]) -> None:
        self._module, self._flops = module, flops

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if name == "linalg":
            return Counting(found, self._flops)
        if name not in ("matmul", "triangular_solve", "cholesky"):
            return found

        def counted(left: tf.Tensor, *others: Any, **options: Any) -> tf.Tensor:
            result = found(left, *others, **options)
            inner = left.shape[-2] if options.get("transpose_a") else left.shape[-1]
            share = {"matmul": 2.0, "triangular_solve": 1.0, "cholesky": 1.0 / 3.0}[name]
            kind = "factor" if name == "cholesky" else "matrix"
            self._flops[kind] += share * inner * np.prod(result.shape.as_list())
            return result

        return counted


@pytest.mark.parametrize(("K", "M", "B"), [(1, 6, 20), (3, 8, 32)])
def test_flops__are_those_that_a_step_takes(
    K: int, M: int, B: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = [parse(text) for text in ("SE", "LIN", "PER")[:K]]
    comparison, _ = make_context(
        make_rows(100), K, FitSettings(inference="stochastic", num_inducing=M, posterior="point")
    )
    stage = StochasticStage.of([make_candidate(e, comparison) for e in space], comparison)
    q = stage.no_q().moments()
    flops = {"matrix": 0.0, "factor": 0.0}
    for module in (whitening, evidence):
        monkeypatch.setattr(module, "tf", Counting(tf, flops))
    tf.config.run_functions_eagerly(True)
    try:
        theta = np.zeros((K, 1, stage.bank.num_slots))
        batch = comparison.data.sample(B, np.random.default_rng(0))
        stage.at(theta).slopes([batch], q, whitened=False)
    finally:
        tf.config.run_functions_eagerly(False)
    step = Step(K, M, B)
    np.testing.assert_allclose(
        [flops["matrix"], flops["factor"]], [step.matrix_flops, step.factor_flops], rtol=1e-12
    )


def test_memory__is_that_by_which_chunks_are_cut() -> None:
    for posterior, S in (("point", 1), ("full", 8)):
        comparison, _ = make_context(
            make_rows(300),
            5,
            FitSettings(
                inference="stochastic", num_inducing=20, batch_size=64, posterior=posterior
            ),
        )
        assert Step(5, 20, 64, S).resident_bytes == comparison.fit_bytes(5)


def test_page__has_the_numbers_of_the_model() -> None:
    rows = re.findall(
        r"\| M = (\d+), chunks of (\d+) \| ([\d.]+) ms \| (\d+) % \| ([\d,]+) s \| (\d+) s \| "
        r"([\d.]+) \| ([\d,]+) MB \|",
        PAGE.read_text(),
    )
    assert len(rows) == 4
    for M, chunk, *said in ([float(cell.replace(",", "")) for cell in row] for row in rows):
        step = Step(int(chunk), int(M), 512)
        seconds = A100.seconds(step)
        one, eight = (
            epoch_seconds(Step(144, int(M), 512), 1_000_000, num, int(chunk)) for num in (1, 8)
        )
        expected = [
            1e3 * seconds, 100 * A100.launch_seconds / seconds, one, eight, one / eight,
            step.resident_bytes / 1e6,
        ]  # fmt: skip
        np.testing.assert_allclose(said, expected, rtol=0.02)

"""Tests of rows and spaces before fits."""

from __future__ import annotations

import gpflow
import numpy as np
import pytest

import vbks
from vbks.config import FitConfig
from vbks.data.training import TrainingData, prepare
from vbks.errors import GrammarError
from vbks.grammar.parser import parse
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.settings import FitSettings
from vbks.preparing import notices_of, read_rows, under_warps, with_expressions


def make_rows(num_inputs: int = 1) -> TrainingData:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 30.0, (40, num_inputs))
    rows, _ = read_rows(X, np.exp(np.sin(X[:, 0])), FitConfig())
    return rows


def test_rows__around_a_mean_function_are_what_it_leaves() -> None:
    x = np.linspace(0.0, 9.0, 30)
    config = FitConfig(mean_function="linear")
    rows, mean = read_rows(x, 3.0 * x + np.sin(x), config)
    assert mean is not None
    left = np.concatenate([y for _, y in rows.target_blocks()])
    assert np.abs(left).max() < 2.0
    assert read_rows(x, np.sin(x), FitConfig())[1] is None


def test_rows__of_other_likelihoods_have_a_level() -> None:
    x = np.arange(40.0)
    counts = np.random.default_rng(0).poisson(20.0, 40).astype(float)
    config = FitConfig(fits=FitSettings(likelihood=make_likelihood("poisson")))
    rows, _ = read_rows(x, counts, config)
    assert rows.has_own_targets
    assert rows.units.y_mean == pytest.approx(np.log(20.0), abs=0.5)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (FitConfig(), {"identity", "log", "softplus"}),
        (FitConfig(warps=("log",)), {"log"}),
        (FitConfig(mean_function="linear"), {"identity"}),
    ],
)
def test_warps__are_those_asked_for_or_all_that_may_be(
    config: FitConfig, expected: set[str]
) -> None:
    data = under_warps(make_rows(), config)
    assert {warp.name for warp in data} == expected
    assert all(rows.units.warp == warp for warp, rows in data.items())


def test_reading__has_the_values_of_the_kernel_that_it_is_of() -> None:
    kernel = gpflow.kernels.SquaredExponential(variance=3.0, lengthscales=[2.0, 5.0])
    gpflow.set_trainable(kernel.variance, False)
    rows = make_rows(2)
    of_kernel, of_reading = (
        with_expressions(FitConfig(space=(parse("LIN"), member)), rows.units)
        for member in (kernel, vbks.from_gpflow(kernel))
    )
    assert of_kernel.expressions == of_reading.expressions == (parse("LIN"), parse("SE"))
    (one,), (other,) = (own.fits.given.values() for own in (of_kernel, of_reading))
    np.testing.assert_allclose(one.theta, other.theta)
    assert one.fixed == other.fixed != ()


def test_kernels__of_one_structure_are_refused() -> None:
    config = FitConfig(space=(parse("SE"), gpflow.kernels.SquaredExponential()))
    with pytest.raises(GrammarError, match="more than once in the space"):
        with_expressions(config, make_rows().units)


def test_notice_about_the_range__is_for_those_who_have_not_thought_of_it() -> None:
    X, y = np.arange(20.0), np.tile([0.0, 1.0, 2.0, 5.0], 5)
    rows = prepare((X, y))
    (notice,) = notices_of(rows, FitConfig())
    assert "likelihood='poisson'" in notice
    for config in (
        FitConfig(target_range=(-1, 6)),
        FitConfig(warps=("identity",)),
        FitConfig(fits=FitSettings(likelihood=make_likelihood("poisson"))),
    ):
        assert notices_of(rows, config) == ()

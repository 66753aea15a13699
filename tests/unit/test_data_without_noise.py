"""Targets without noise: predictions are finite and near the data, with and without warps."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import vbks
from vbks.arrays import Array
from vbks.errors import TailWarning
from vbks.search.runner import failed_warps
from vbks.weights.forming import averaged_weights
from vbks.weights.policy import AveragingPolicy
from vbks.weights.settings import BeliefSettings

SPACE = ("LIN", "SE", "LIN + SE", "PER", "LIN * LIN")

SHAPES: dict[str, Callable[[Array], Array]] = {
    "line": lambda x: 3 * x + 1,
    "falling line": lambda x: 31 - 3 * x,
    "parabola": lambda x: x**2 + 1,
    "sine": lambda x: np.sin(2 * x) + 2,
    "step": lambda x: np.where(x < 5, 1.0, 4.0),
    "outlier": lambda x: np.where(np.arange(len(x)) == len(x) // 3, 50.0, 2.0),
}


def fit_shape(
    shape: str,
    num_rows: int,
    offset: float = 0.0,
    scale: float = 1.0,
    space: Sequence[str] | str = SPACE,
    **settings: Any,
) -> tuple[vbks.Selection, Array]:
    x = np.linspace(0, 10, num_rows)
    y = offset + scale * SHAPES[shape](x)
    budget = vbks.Budget(candidates=12) if space == "grow" else None
    settings = {"restarts": 4, "progress": False, **settings}
    return vbks.fit(x, y, space=space, budget=budget, **settings), y


def assert_near_the_data(selection: vbks.Selection, y: Array) -> None:
    inside_and_beyond = np.linspace(-10, 20, 31)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TailWarning)
        mean, variance = selection.predict_y(inside_and_beyond)
    median = selection.predict_quantiles(inside_and_beyond, 0.5)[:, 0]
    extent = np.ptp(y)
    for found in (mean, median):
        assert np.all(np.abs(found - y.mean()) < 10 * extent)
    assert np.all(np.isfinite(variance))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("num_rows", "offset", "scale"), [(60, 0.0, 1.0), (6, 0.0, 1.0), (40, -1e3, 1.0)]
)
def test_predictions__are_finite_and_near_the_data(
    shape: str, num_rows: int, offset: float, scale: float
) -> None:
    selection, y = fit_shape(shape, num_rows, offset, scale)
    assert_near_the_data(selection, y)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("warp", ["identity", "softplus"])
def test_predictions__are_near_the_data_under_one_warp(shape: str, warp: str) -> None:
    assert_near_the_data(*fit_shape(shape, 8, warps=(warp,)))


@pytest.mark.parametrize("shape", ["line", "falling line", "parabola"])
def test_predictions_under_log_alone__have_medians_near_the_data_and_a_warning(shape: str) -> None:
    selection, y = fit_shape(shape, 30, warps=("log",))
    inside_and_beyond = np.linspace(-10, 20, 31)
    with pytest.warns(TailWarning):
        mean, variance = selection.predict_y(inside_and_beyond)
    median = selection.predict_quantiles(inside_and_beyond, 0.5)[:, 0]
    assert np.all(np.abs(median - y.mean()) < 10 * np.ptp(y))
    assert np.all(mean < np.exp(2) * (median + np.ptp(y)))
    assert np.all(np.isfinite(variance))


@pytest.mark.parametrize(("num_rows", "space"), [(5, SPACE), (8, SPACE), (5, "grow")])
def test_means_of_a_few_rows_of_a_parabola__are_near_the_data(
    num_rows: int, space: Sequence[str] | str
) -> None:
    x = np.linspace(0, 10, num_rows)
    budget = vbks.Budget(candidates=12) if space == "grow" else None
    y = SHAPES["parabola"](x)
    selection = vbks.fit(x, y, space=space, budget=budget, progress=False)
    assert_near_the_data(selection, y)
    with pytest.warns(TailWarning):
        selection.predict_y([20.0])


def test_growth_of_the_data__is_continued() -> None:
    x = np.linspace(0, 10, 30)
    selection = vbks.fit(x, np.exp(x / 2), space=SPACE, restarts=4, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TailWarning)
        mean, _ = selection.predict_y([20.0])
    np.testing.assert_allclose(mean, np.exp(10.0), rtol=1e-3)


@pytest.mark.parametrize(("offset", "scale"), [(1e6, 1.0), (0.0, 1e-6), (1e6, 1e-6)])
def test_predictions__are_near_the_data_in_any_units(offset: float, scale: float) -> None:
    assert_near_the_data(*fit_shape("line", 30, offset, scale))


def test_grown_predictions__are_finite_and_near_the_data() -> None:
    assert_near_the_data(*fit_shape("parabola", 30, space="grow"))


def test_line__is_continued() -> None:
    selection, _ = fit_shape("line", 60, space=("LIN", "SE", "LIN + SE"))
    mean, variance = selection.predict_y([20.0])
    assert mean[0] == pytest.approx(61.0, abs=1e-3)
    assert np.sqrt(variance[0]) < 0.01
    assert all(selection.belief["status"] != "failed")


def test_averages__leave_out_candidates_far_behind() -> None:
    selection, _ = fit_shape("line", 20, space=("LIN", "SE"))
    first = selection.best
    near, far = (
        replace(first, evidence=first.evidence - d) for d in (5.0, 1.1 * AveragingPolicy().max_gap)
    )
    fits, weights = [first, near, far], np.array([0.7, 0.2, 0.1])
    kept = averaged_weights(fits, BeliefSettings("vbks"), weights)
    np.testing.assert_allclose(kept, [7 / 9, 2 / 9, 0.0])
    for settings in (
        BeliefSettings("vbks", temperature=2.0),
        BeliefSettings("vbks", prior_variance=0.5),
    ):
        np.testing.assert_allclose(averaged_weights(fits, settings, weights), weights)


def test_notice__tells_of_a_warp_under_which_all_failed() -> None:
    selection, _ = fit_shape("line", 20, space=("LIN", "SE"))
    fits = [
        replace(fit, status="failed", reason="no bound.") if fit.warp.name == "log" else fit
        for fit in selection.fits
    ]
    (told,) = failed_warps(fits)
    assert "under the warp 'log'" in told
    assert told.endswith("2 failed, 2 of them for this reason: no bound.")
    assert not failed_warps(selection.fits)

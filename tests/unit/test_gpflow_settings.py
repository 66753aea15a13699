"""Tests of what vbks makes of GPflow's settings, none of which it changes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import gpflow
import numpy as np
import pytest
from support import rows

import vbks
from vbks.errors import VbksError
from vbks.inference.evaluator import fit_candidates
from vbks.selection.selection import Selection

SETTINGS: dict[str, Any] = {
    "space": ["SE"], "warps": ["identity"], "posterior": "point", "restarts": 1, "progress": False
}  # fmt: skip


make_rows = partial(rows.make_rows, 25, signal=np.sin, ends=(0.0, 8.0))


@pytest.fixture(scope="module")
def selection() -> Selection:
    return vbks.fit(*make_rows(), **SETTINGS)


def predicted(selection: Selection) -> Any:
    return selection.predict_y(make_rows()[0])


@pytest.mark.parametrize(
    "call",
    [
        lambda _: vbks.fit(*make_rows(), **SETTINGS),
        lambda _: vbks.fit(*make_rows(), **SETTINGS, mean_function="linear"),
        lambda _: fit_candidates(["SE"], make_rows()),
        predicted,
        lambda selection: selection.predict_f_samples(make_rows()[0]),
        lambda selection: selection.model(),
        lambda selection: selection.update([9.0], [0.4]),
    ],
    ids=["fit", "mean", "candidates", "predict", "samples", "model", "update"],
)
def test_single_precision__is_refused_in_one_line(
    selection: Selection, call: Callable[[Selection], Any]
) -> None:
    with gpflow.config.as_context(gpflow.config.Config(float=np.float32)):
        with pytest.raises(VbksError, match="default float is float32") as caught:
            call(selection)
        assert gpflow.default_float() == np.float32
    assert "\n" not in str(caught.value)


def test_advice__works(selection: Selection) -> None:
    expected = predicted(selection)
    with gpflow.config.as_context(gpflow.config.Config(float=np.float32)):
        with gpflow.config.as_context(gpflow.config.Config(float=np.float64)):
            found = predicted(vbks.fit(*make_rows(), **SETTINGS))
        assert gpflow.default_float() == np.float32
    for values, others in zip(found, expected, strict=True):
        np.testing.assert_array_equal(values, others)
        assert values.dtype == np.float64


def test_rows_of_single_precision__are_fitted_in_double() -> None:
    x, y = (values.astype(np.float32) for values in make_rows())
    found = predicted(vbks.fit(x, y, **SETTINGS))
    assert all(values.dtype == np.float64 for values in found)


def test_jitter__is_gpflows_in_sparse_fits_and_ours_in_exact_ones() -> None:
    sparse: dict[str, Any] = {"inference": "collapsed", "num_inducing": 10}
    with gpflow.config.as_context(gpflow.config.Config(jitter=1e-4)):
        before = gpflow.config.config()
        exact, collapsed = (vbks.fit(*make_rows(), **SETTINGS, **own) for own in ({}, sparse))
        assert gpflow.config.config() == before
        model = collapsed.model()
        assert model.elbo().numpy() == pytest.approx(collapsed.best.elbo, abs=1e-6)
    assert exact.best.jitter == 1e-8
    assert collapsed.best.jitter == 1e-4


def test_positive_minimum__is_none_of_ours() -> None:
    """θ holds logarithms: no transform of GPflow's takes part in fits."""
    plain = vbks.fit(*make_rows(), **SETTINGS)
    with gpflow.config.as_context(
        gpflow.config.Config(positive_minimum=0.5, positive_bijector="exp")
    ):
        other = vbks.fit(*make_rows(), **SETTINGS)
    np.testing.assert_array_equal(other.best.theta, plain.best.theta)

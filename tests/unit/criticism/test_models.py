"""Which models of an average are checked."""

from dataclasses import replace

import numpy as np
import pytest
from support.selections import make_dated, make_fit

from vbks.criticism.models import MOST_MODELS, models_of, residuals_of, rows_of
from vbks.data.training import prepare
from vbks.data.warps import Identity
from vbks.selection.criticism import sequence_of
from vbks.selection.selection import Selection


def test_models__are_modes_of_kernels_with_the_largest_weights():
    data = prepare((np.arange(20.0), np.random.default_rng(0).normal(size=20)))
    fit = make_fit("SE", 20)
    (mode,) = fit.modes
    two = replace(fit, modes=(replace(mode, weight=0.75), replace(mode, weight=0.25)))
    names = ("RQ", "OU", "LIN", "M32")
    fits = (two, *(make_fit(name, 20) for name in names))
    found = models_of(Selection(fits, {Identity(): data}).mixture.average)
    assert len(found) == MOST_MODELS
    assert sum(model.weight for model in found) == pytest.approx(1.0)
    weights = [model.weight for model in found]
    assert weights == sorted(weights, reverse=True)


def test_residuals__are_under_the_warp_of_each_model():
    selection = make_dated()
    average, rows = selection.mixture.average, sequence_of(selection)
    found = [*residuals_of(average, rows, 50, 0)]
    assert {own.units.warp.name for own, _ in found} == {"identity", "log"}
    assert sum(weight for _, weight in found) == pytest.approx(1.0)
    for own, _ in found:
        np.testing.assert_allclose(own.units.restore_targets(own.targets[0]), rows.y)


def test_rows__are_in_the_order_of_the_sequence():
    x = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    data = prepare((x, np.arange(5.0)))
    selection = Selection((make_fit("SE", 5),), {Identity(): data})
    rows = sequence_of(selection)
    X, _ = rows_of(data, rows).arrays()
    np.testing.assert_allclose(data.units.restore_inputs(X)[:, 0], np.sort(x))
    assert rows.numbers.tolist() == [1, 2, 0, 4, 3]

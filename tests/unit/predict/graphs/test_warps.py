from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import tensorflow as tf

from vbks.arrays import Array
from vbks.data.units import Units
from vbks.data.warp_registry import WarpGraph, register_warp
from vbks.data.warps import Identity, InverseSoftplus, Log, Logit, Warp
from vbks.errors import GraphError
from vbks.predict.graphs.warps import (
    log_slope,
    refuse_unknown_warp,
    restored_moments,
    standardised_targets,
)

WARPS = (Identity(), Log(), InverseSoftplus(2.5), Logit(-1.0, 4.0))


def make_units(warp: Warp) -> Units:
    return Units(np.zeros(1), np.ones(1), y_mean=0.7, y_scale=1.6, warp=warp)


@pytest.mark.parametrize("warp", WARPS, ids=lambda warp: warp.name)
def test_restored_moments__are_those_of_the_units(warp: Warp) -> None:
    means, variances = np.meshgrid(np.linspace(-8, 8, 9), [0.0, 1e-6, 0.01, 0.5, 2.0])
    units = make_units(warp)
    found = restored_moments(units, tf.constant(means), tf.constant(variances))
    for graph, expected in zip(found, units.restore_moments(means, variances), strict=True):
        np.testing.assert_allclose(graph, expected, rtol=1e-9, atol=1e-15)


def test_restored_moments__of_a_logarithm_are_infinite_where_they_overflow() -> None:
    units = make_units(Log())
    mean, variance = restored_moments(units, *tf.constant([[900.0], [1.0]], tf.float64))
    assert np.isposinf(mean).all()
    assert np.isposinf(variance).all()


@pytest.mark.parametrize("warp", WARPS, ids=lambda warp: warp.name)
def test_targets_and_slopes__are_those_of_the_units(warp: Warp) -> None:
    y = np.array([-2.0, -1.0, -0.3, 0.0, 1e-300, 1e-9, 0.4, 3.9, 4.0, 50.0, 4000.0])
    units = make_units(warp)
    for graph, expected in [
        (standardised_targets(units, tf.constant(y)), units.standardise_targets(y)),
        (log_slope(units, tf.constant(y)), units.log_slope(y)),
    ]:
        np.testing.assert_allclose(graph, expected, rtol=1e-12, atol=1e-15)


@dataclass(frozen=True)
class Root(Log):
    """What derives from a warp of vbks may be another map."""

    name = "root"


def test_unknown_warp__is_refused() -> None:
    for warp in WARPS:
        refuse_unknown_warp(warp)
    with pytest.raises(GraphError, match=r"the warp 'root' cannot be .*: it has no maps for"):
        refuse_unknown_warp(Root())


@pytest.mark.usefixtures("scoped_registries")
def test_own_warp__works_by_the_graph_that_it_was_registered_with() -> None:
    @dataclass(frozen=True)
    class Half(Identity):
        name = "half"

        def forward(self, y: Array) -> Array:
            return np.asarray(0.5 * y)

        def inverse(self, z: Array) -> Array:
            return np.asarray(2.0 * z)

        def log_slope(self, y: Array) -> Array:
            return np.full(np.shape(y), np.log(0.5))

    graph = WarpGraph(
        inverse=lambda warp, z: 2.0 * z,
        forward=lambda warp, y: 0.5 * y,
        log_slope=lambda warp, y: tf.fill(tf.shape(y), tf.cast(np.log(0.5), y.dtype)),
    )
    register_warp(Half, graph=graph)
    units, y = make_units(Half()), np.array([-2.0, 0.4, 7.0])
    np.testing.assert_allclose(
        standardised_targets(units, tf.constant(y)), units.standardise_targets(y), rtol=1e-12
    )
    np.testing.assert_allclose(log_slope(units, tf.constant(y)), units.log_slope(y), rtol=1e-12)

"""The scale on which parts add up: that of the target, of its warp, or of a likelihood's link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array
from vbks.data.units import Units
from vbks.data.warps import Log
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.parts.components import Effect
from vbks.predict.posteriors.observations import observed_moments

PROBES = np.array([-1.0, 0.0, 1.0, 2.0])
"""Where it is seen whether the mean of targets is an exponential of the function."""


@dataclass(frozen=True, eq=False)
class Scale:
    """What a sum of parts is in the units of the target, and whether parts are factors of that.

    ``name`` is what `vbks.words` calls it: identity, log, the name of a warp, or link.
    """

    name: str
    effect: Effect
    response: Callable[[Array], Array]
    is_warp: bool
    """Whether targets themselves are on the scale once they are warped."""


def scale_of(likelihood: Likelihood, units: Units, parameter: float) -> Scale:
    """The scale of a function with the learned parameter of its likelihood at a value."""
    if likelihood.is_gaussian:
        is_log = units.warp == Log()
        effect: Effect = "factor" if is_log else "added"
        return Scale(units.warp.name, effect, units.warp.inverse, True)

    def mean_of_targets(total: Array) -> Array:
        rows = np.atleast_2d(total)
        mean, _ = observed_moments(likelihood, np.array([parameter]), rows, np.zeros(rows.shape))
        return np.asarray(mean[0])

    if likelihood.has_identity_link:
        return Scale("identity", "added", mean_of_targets, False)
    means = mean_of_targets(PROBES)
    is_log = bool(np.all(means > 0.0) and np.allclose(np.diff(np.log(means)), 1.0))
    if is_log:
        return Scale("log", "factor", mean_of_targets, False)
    return Scale("link", "added", mean_of_targets, False)

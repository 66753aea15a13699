"""All properties of the data of a belief."""

from __future__ import annotations

import numpy as np

from vbks.arrays import Array
from vbks.predict.posteriors.averaging import Average
from vbks.properties.changes import change_of
from vbks.properties.cycles import cycle_of
from vbks.properties.dependence import inputs_of, pairs_of
from vbks.properties.members import Beliefs, beliefs_of
from vbks.properties.results import Properties
from vbks.properties.spreads import noise_of, swings_of
from vbks.properties.trends import trend_of
from vbks.words import Axes

SPREAD_ROWS = 1000
"""The spread of targets is that of at most this many rows."""


def properties_of(average: Average, X: Array, axes: Axes) -> Properties:
    """The properties of data with rows X [N, D], in the user's units, from an average."""
    beliefs = beliefs_of(average, X, axes)
    spread = _spread(beliefs)
    inputs = inputs_of(beliefs, spread)
    return Properties(
        cycle=cycle_of(beliefs),
        trend=trend_of(beliefs, spread),
        swings=swings_of(beliefs),
        change=change_of(beliefs),
        noise=noise_of(beliefs),
        inputs=inputs,
        pairs=pairs_of(beliefs, spread, inputs),
    )


def _spread(beliefs: Beliefs) -> float:
    """The standard deviation of standardised targets; of the function where these are others."""
    best = beliefs.members[0]
    data = best.sources[0].posteriors.data
    if beliefs.is_gaussian and not data.has_own_targets:
        _, y = data.sample(SPREAD_ROWS, np.random.default_rng(0))
        return float(np.std(y)) or 1.0
    own = best.mean_of(range(len(best.terms)), best.units.standardise_inputs(beliefs.X))
    return float(np.std(own)) / best.units.y_scale or 1.0

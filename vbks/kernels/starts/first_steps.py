"""How far an optimiser may move from a start at first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.data.signals.summaries import pooled
from vbks.kernels.layout import Layout

PERIOD_STEP = 0.2
"""A first step of a period may shift the far end of the range by this part of a turn, or the period
by `LEAST_SCALE` of it if that is more."""

LEAST_SCALE = 1e-6
"""A first step may always change a period by this part of it."""

LOCATION_STEP = 0.05
"""A first step of a line's zero from where the target is quiet, as a share of the range: the
function is zero there whatever it is multiplied with, and another place has another optimum. Those
of changes and of the ends of windows are as large."""


def start_scales(layout: Layout, summaries: Sequence[InputSummary], starts: Array) -> Array:
    """How far an optimiser may try to move each entry of starts [S, H] at first: [S, H].

    One, a factor of e, for most, and less for quiet places. The optimum in a period is the narrower
    the more often the period fits into the range: a wave must not be out of step at the far end.
    """
    by_input = dict(enumerate(summaries)) | {None: pooled(summaries)}
    scales = np.ones_like(starts)
    for index, slot in enumerate(layout.slots):
        if slot.parameter.role == "period":
            turns = np.exp(starts[:, index]) / by_input[slot.dim].range
            scales[:, index] = np.clip(PERIOD_STEP * turns, LEAST_SCALE, 1.0)
        elif slot.parameter.role == "location":
            x = by_input[slot.dim]
            is_quiet = np.isin(starts[:, index], [place for place, _ in x.quiet])
            scales[is_quiet, index] = LOCATION_STEP * x.range
        elif slot.parameter.role == "change":
            scales[:, index] = LOCATION_STEP * by_input[slot.dim].range
        elif slot.parameter.role == "width":
            share = by_input[slot.dim].range / np.exp(starts[:, index])
            scales[:, index] = np.minimum(1.0, LOCATION_STEP * share)
    return scales

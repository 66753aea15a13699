"""How far an optimiser may move from a start at first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.data.signals.summaries import pooled
from vbks.kernels.layout import Layout
from vbks.kernels.starts.policy import DEFAULT, StartPolicy

LEAST_SCALE = 1e-6
"""A first step may always change a period by this part of it: a numerical constant."""


def start_scales(
    layout: Layout,
    summaries: Sequence[InputSummary],
    starts: Array,
    policy: StartPolicy = DEFAULT,
) -> Array:
    """How far an optimiser may try to move each entry of starts [S, H] at first: [S, H].

    One, a factor of e, for most, and less at zero crossings. The optimum in a period is the
    narrower the more often the period fits into the range: it must not be out of step at the far
    end.
    """
    by_input = dict(enumerate(summaries)) | {None: pooled(summaries)}
    scales = np.ones_like(starts)
    for index, slot in enumerate(layout.slots):
        if slot.parameter.role == "period":
            turns = np.exp(starts[:, index]) / by_input[slot.dim].range
            scales[:, index] = np.clip(policy.period_step * turns, LEAST_SCALE, 1.0)
        elif slot.parameter.role == "location":
            x = by_input[slot.dim]
            at_crossing = np.isin(starts[:, index], [place for place, _ in x.crossings])
            scales[at_crossing, index] = policy.location_step * x.range
        elif slot.parameter.role == "change":
            scales[:, index] = policy.location_step * by_input[slot.dim].range
        elif slot.parameter.role == "width":
            share = by_input[slot.dim].range / np.exp(starts[:, index])
            scales[:, index] = np.minimum(1.0, policy.location_step * share)
    return scales

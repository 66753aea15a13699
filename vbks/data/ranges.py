"""Targets that seem to have a range which forecasts could leave, and what keeps them in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from vbks.data.training import TrainingData

SHARE = re.compile(r"%|percent|pct|share|fraction|proportion|probabilit|humidity|occupancy", re.I)
"""Names of targets that are shares."""

ENDS = (1.0, 100.0)
"""A share is at most one of these."""

NEAR = 0.1
"""Targets without such a name seem to be shares if they come as close as this to both ends, in
parts of the range."""

WIDER = 0.005
"""A range that targets touch is made wider by this part of it, as a logit is infinite there."""


@dataclass(frozen=True)
class _Facts:
    """What is known of all targets."""

    low: float
    high: float
    is_whole: bool


def range_notice(rows: TrainingData) -> str:
    """Which setting keeps forecasts where targets seem to be, or nothing."""
    facts = _facts(rows)
    if facts.low < 0:
        return ""
    is_named = SHARE.search(rows.target_name or "") is not None
    has_zeros = facts.is_whole and facts.low == 0
    if has_zeros and facts.high == 1:
        return (
            "All targets are 0 or 1, and forecasts are not. Give likelihood='bernoulli' for "
            "probabilities."
        )
    if has_zeros and not is_named:
        return (
            "All targets are whole numbers, some of them 0, and forecasts could be below 0. Give "
            "likelihood='poisson' to keep them in range, if these are counts."
        )
    end = next((end for end in ENDS if facts.high <= end), None)
    if end is None or not (is_named or _is_near_both(facts, end)):
        return ""
    low = 0.0 if facts.low > 0 else -WIDER * end
    high = end if facts.high < end else (1 + WIDER) * end
    return (
        f"All targets are between 0 and {end:g}, and forecasts could be outside. If that is "
        f"their range, target_range=({low:g}, {high:g}) with warps='logit' keeps forecasts in it."
    )


def _is_near_both(facts: _Facts, end: float) -> bool:
    return facts.low <= NEAR * end and facts.high >= (1 - NEAR) * end


def _facts(rows: TrainingData) -> _Facts:
    low, high, is_whole = np.inf, -np.inf, True
    for _, y in rows.target_blocks():
        low, high = min(low, float(y.min())), max(high, float(y.max()))
        is_whole = is_whole and bool((y == np.round(y)).all())
    return _Facts(low, high, is_whole)

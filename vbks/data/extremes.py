"""Targets so far from all others that they alone decide the scale of the data."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vbks.arrays import Array, Rows

MOST_SHARE = 0.02
"""Few rows are at most this share of all, or one."""

LEAST_VARIANCE_SHARE = 0.95
"""Rows decide the scale if they hold more than this share of the variance of the target."""

MOST_NAMED = 3
"""Rows that are named one by one."""


def extreme_rows(y: Array) -> Rows:
    """Places of the few targets [N] that hold almost all of the variance, the largest first."""
    squares = _squares(y)
    total = float(squares.sum())
    most = max(1, math.floor(MOST_SHARE * len(y)))
    order = np.argsort(-squares, kind="stable")[:most]
    if not total > 0.0:
        return order[:0]
    shares = np.cumsum(squares[order]) / total
    enough = np.flatnonzero(shares > LEAST_VARIANCE_SHARE)
    return order[: enough[0] + 1] if len(enough) else order[:0]


def notices_of_extremes(y: Array) -> Iterator[str]:
    """A notice of targets that decide the scale, beside which all others look alike."""
    places = extreme_rows(y)
    if not len(places):
        return
    squares = _squares(y)
    share = float(squares[places].sum() / squares.sum())
    named = ", ".join(str(place + 1) for place in places[:MOST_NAMED])
    more = ", ..." if len(places) > MOST_NAMED else ""
    rows = f"row {named} holds" if len(places) == 1 else f"rows {named}{more} hold"
    others = np.delete(y, places)
    values = np.quantile(others, (0.0, 1.0))
    yield (
        f"{rows} {_percent(share)} of the variance of the target: the largest is "
        f"{y[places[0]]:g}, and all other targets lie between {values[0]:g} and {values[1]:g}. "
        "Predictions go by the scale of so few rows; leave them out if they are mistakes, or give "
        "likelihood='student_t'."
    )


def _squares(y: Array) -> Array:
    """Squares of distances from the median, relative to the largest."""
    distance = np.abs(y - np.median(y))
    largest = float(distance.max())
    return np.asarray((distance / largest) ** 2 if largest > 0.0 else distance)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share < 0.995 else "more than 99 %"

"""How much each part explains: its share of the variance, R² and errors of rows left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array

WINDOWS = 40
"""Where a part acts is looked at in this many stretches of an input."""

HARDLY = 0.05
"""Where a part moves less than this share of the most it does anywhere, it is hardly there."""

NEARLY_ALL = 0.9
"""A part that acts on more than this share of the range acts everywhere."""


@dataclass(frozen=True)
class Contribution:
    """What a part adds to those before it, as the reports of the Automatic Statistician have it.

    ``share`` is that of the variance; ``r2`` is that of all parts so far, which the part has raised
    by ``r2_gain``, which is ``residual_r2`` of what was left. ``mae`` is the mean absolute error
    of rows left out in blocks, in the units of the target, which the part has made smaller by the
    share ``mae_gain`` of it. Those of the level, where sums begin, are NaN but for its ``mae``.
    """

    share: float
    r2: float
    r2_gain: float
    residual_r2: float
    mae: float
    mae_gain: float


def order_of(held_out: Array, base: Sequence[int], error: Callable[[Array], float]) -> list[int]:
    """Places of parts [P, N] but those of the base, each the one that lowers the error most.

    The error is one of sums of parts [N], to which the base belongs from the beginning.
    """
    total = held_out[list(base)].sum(axis=0)
    left = [place for place in range(len(held_out)) if place not in base]
    order: list[int] = []
    while left:
        errors = [error(total + held_out[place]) for place in left]
        best = left.pop(int(np.argmin(errors)))
        total = total + held_out[best]
        order.append(best)
    return order


def contributions(
    fitted: Array,
    held_out: Array,
    order: Sequence[int],
    base: Sequence[int],
    observed: Array,
    response: Callable[[Array], Array],
    error: Callable[[Array], float],
) -> dict[int, Contribution]:
    """What the parts add in an order, from their means [P, N] at rows and at rows left out.

    ``response`` makes of sums of parts what is compared with what was ``observed`` [N] for R².
    """
    total = float(np.sum((observed - observed.mean()) ** 2))
    sum_fitted, sum_held_out = fitted[list(base)].sum(axis=0), held_out[list(base)].sum(axis=0)
    left, mae = float(np.sum((observed - response(sum_fitted)) ** 2)), error(sum_held_out)
    shares = shares_of(fitted, response(fitted.sum(axis=0)), observed)
    nan = float("nan")
    found = {
        place: Contribution(shares[place], 1.0 - left / total, nan, nan, mae, nan) for place in base
    }
    for place in order:
        sum_fitted, sum_held_out = sum_fitted + fitted[place], sum_held_out + held_out[place]
        now, after = float(np.sum((observed - response(sum_fitted)) ** 2)), error(sum_held_out)
        found[place] = Contribution(
            shares[place],
            1.0 - now / total,
            (left - now) / total,
            1.0 - now / left if left > 0.0 else nan,
            after,
            1.0 - after / mae if mae > 0.0 else nan,
        )
        left, mae = now, after
    return found


def shares_of(fitted: Array, whole: Array, observed: Array) -> list[float]:
    """The variance of each part [P, N] over the rows, in that of all parts and of what is left.

    Where parts add up on the scale of a link, what they come to in units of what was ``observed``
    [N] is the ``whole`` [N], and what that leaves is as large beside their sum as beside it.
    """
    variances, left = fitted.var(axis=1), float((observed - whole).var())
    size = float(whole.var())
    if size > 0.0:
        left *= float(fitted.sum(axis=0).var()) / size
    total = float(variances.sum() + left)
    return [float(variance / total) if total > 0.0 else 0.0 for variance in variances]


def acts(x: Array, mean: Array) -> tuple[float, float] | None:
    """From where to where along an input [N] a part moves; None if all over, or nowhere."""
    order = np.argsort(x, kind="stable")
    x, mean = x[order], mean[order]
    if x[0] == x[-1] or np.ptp(mean) == 0.0:
        return None
    edges = np.linspace(x[0], x[-1], min(WINDOWS, len(x) // 3 + 1) + 1)
    window = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
    size = np.array([np.max(np.abs(mean[window == n]), initial=0.0) for n in range(len(edges) - 1)])
    moving = np.flatnonzero(size > HARDLY * size.max())
    low, high = float(edges[moving[0]]), float(edges[moving[-1] + 1])
    return None if high - low > NEARLY_ALL * (x[-1] - x[0]) else (low, high)

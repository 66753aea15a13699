"""Which warps of the target are compared: those asked for, or all that the targets allow."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vbks.data.training import TrainingData
from vbks.data.units import Moments
from vbks.data.warp_registry import automatic_warps, domain_of, make_warp, warp_names
from vbks.data.warps import Identity, Interval, Warp, is_inside, refuse_outside
from vbks.errors import DataError

LEAST_BEND = 0.1
"""Compare a warp with the identity only if the logarithms of its slopes over the targets differ by
more than this: noise then differs by a tenth."""


def choose_warps(
    wanted: str | Iterable[str], data: TrainingData, target_range: Interval | None = None
) -> tuple[Warp, ...]:
    """The warps of these names, each once, or with "auto" all that the targets allow.

    These are the identity; log and softplus if all targets are above 0; logit if the user gives
    the range of the target and all targets lie in it; and others that are registered as automatic.
    Of these, warps that are all but straight lines over the targets are left out: they say the same
    as the identity.
    """
    targets = Moments.of_nothing(1)
    for _, y in data.target_blocks():
        targets = targets.including(y[:, np.newaxis])
    if wanted == "auto":
        return _possible(targets, target_range)
    names = _names(wanted)
    for name in names:
        _refuse_targets(name, domain_of(name, target_range), targets, data)
    return tuple(make_warp(name, targets.mean[0], target_range) for name in dict.fromkeys(names))


def _possible(targets: Moments, target_range: Interval | None) -> tuple[Warp, ...]:
    named = automatic_warps(target_range is not None)
    allowed = [name for name in named if _is_allowed(targets, domain_of(name, target_range))]
    warps = [make_warp(name, targets.mean[0], target_range) for name in allowed]
    return tuple(warp for warp in warps if _tells_apart(warp, targets) and _bends(warp, targets))


def _is_allowed(targets: Moments, domain: Interval) -> bool:
    return bool(is_inside(np.array([targets.low[0], targets.high[0]]), domain).all())


def _tells_apart(warp: Warp, targets: Moments) -> bool:
    """Whether the least and the largest target differ by more than rounding after the warp."""
    ends = warp.forward(np.array([targets.low, targets.high]))
    return not Moments.of_nothing(1).including(ends).is_constant[0]


def _bends(warp: Warp, targets: Moments) -> bool:
    """Whether the slope of a warp differs between the least and the largest target."""
    if warp == Identity():
        return True
    steep, flat = warp.log_slope(np.array([targets.low[0], targets.high[0]]))
    # A logit is as steep at both ends, and bends in between.
    middle = warp.log_slope(np.array([targets.mean[0]]))[0]
    slopes = (steep, middle, flat)
    return bool(max(slopes) - min(slopes) > LEAST_BEND)


def _names(wanted: str | Iterable[str]) -> list[str]:
    names = [wanted] if isinstance(wanted, str) or not isinstance(wanted, Iterable) else [*wanted]
    if not names:
        raise DataError(
            f"there are no warps to compare. Give 'auto' or some of {', '.join(warp_names())}."
        )
    return names


def _refuse_targets(name: str, domain: Interval, targets: Moments, data: TrainingData) -> None:
    if not _is_allowed(targets, domain):
        for rows_before, y in data.target_blocks():
            refuse_outside(name, domain, y, rows_before)

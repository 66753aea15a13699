"""How far a curve or the shape of a cycle keeps its course, where a sentence has room for it."""

from __future__ import annotations

from vbks.words.axes import Axes
from vbks.words.form import Curve, Cycle
from vbks.words.quantities import length
from vbks.words.telling import Detail, Telling


def lengthscale_attribute(factor: Curve | Cycle, axes: Axes, telling: Telling) -> tuple[str, ...]:
    """ "a typical lengthscale of about 23 years" of a head, if it is known and is to be told."""
    scale = factor.values.lengthscale
    detail = Detail.WITHIN_PERIOD if isinstance(factor, Cycle) else Detail.SCALE
    if scale is None or detail not in telling:
        return ()
    axis = axes[factor.input]
    text = length(scale, axis, Detail.NUMBER_INTERVALS in telling and isinstance(factor, Curve))
    within = " within each period" if isinstance(factor, Cycle) else ""
    return (f"a typical lengthscale of {text}{within}",)


def is_long(curve: Curve, axes: Axes, times: float = 1.0) -> bool:
    """Whether a lengthscale is known and longer than this many times the range of the data."""
    scale, covered = curve.values.lengthscale, axes[curve.input].range
    return scale is not None and covered is not None and scale.value > times * covered

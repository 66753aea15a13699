"""What a warp has to be: increasing, onto the whole line, with the inverse and slope it says."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np

from vbks.arrays import Array
from vbks.data.warps import Warp, is_inside
from vbks.errors import SettingsError

NEAR = np.linspace(-10.0, 10.0, 41)
"""A warp is tried at these values on the line."""

FAR = np.array([-1e3, -1e2, 1e2, 1e3])
"""A warp is tried here, too, where digits may run out, but no target may be missing."""

STEP = 1e-4
"""The step of central differences on the line, whose error is of the order of its square."""

TOLERANCE = 1e-4
"""Slopes and values that differ by less are the same, but for rounding and central differences."""


def check_warp(warp: Warp) -> None:
    """Refuse a warp that is no increasing map of its domain onto the whole line.

    It is tried at some values on the line, so that one that is wrong elsewhere may pass.
    """
    _check_is_value(warp)
    with np.errstate(all="ignore"):
        y = _mapped(warp, "inverse", NEAR)
        _check_inverse(warp, NEAR, y)
        _check_increases(warp, y)
        _check_far(warp)
        _check_slope(warp)
        _check_outside(warp)


def _check_is_value(warp: Any) -> None:
    """Refuse what cannot be compared, used as a key, or written to a file by its numbers."""
    parameters = getattr(warp, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        raise _wrong(warp, "is not a frozen dataclass. Write @dataclass(frozen=True) above it")
    values = {own.name: getattr(warp, own.name) for own in fields(warp)}
    for name, value in values.items():
        if type(value) not in (int, float):
            raise _wrong(warp, f"has the field {name} = {value!r}. Let all fields be numbers")


def _mapped(warp: Warp, name: str, values: Array) -> Array:
    """Values [n] after one of the maps, which has to work element by element."""
    found = np.asarray(getattr(warp, name)(values))
    if found.shape != values.shape:
        raise _wrong(
            warp,
            f"turns {len(values)} values into an array of shape {found.shape} by {name}. Let it "
            "work element by element",
        )
    return found


def _check_inverse(warp: Warp, z: Array, y: Array) -> None:
    """Every value on the line needs a target in the domain that goes there."""
    again = _mapped(warp, "forward", y)
    is_same = np.isclose(again, z, rtol=TOLERANCE, atol=TOLERANCE) & is_inside(y, warp.domain)
    if not is_same.all():
        k = int(np.argmin(is_same))
        low, high = warp.domain
        raise _wrong(
            warp,
            f"does not map its domain from {low:g} to {high:g} onto the whole line: "
            f"inverse({z[k]:g}) is {y[k]:g}, and forward of that is {again[k]:g}",
        )


def _check_increases(warp: Warp, y: Array) -> None:
    if not np.all(np.diff(y) > 0):
        k = int(np.argmin(np.diff(y) > 0))
        raise _wrong(
            warp,
            f"does not increase: {y[k]:g} goes to {NEAR[k]:g}, and {y[k + 1]:g} to {NEAR[k + 1]:g}",
        )


def _check_far(warp: Warp) -> None:
    """Far values need a target, too, or else an end of the domain that it is rounded to."""
    y = _mapped(warp, "inverse", FAR)
    ends = np.where(FAR < 0, *warp.domain)
    is_rounded = np.isclose(y, ends, rtol=1e-9, atol=0.0) | (y == ends)
    is_there = is_rounded | np.isclose(_mapped(warp, "forward", y), FAR, rtol=TOLERANCE)
    if not is_there.all():
        k = int(np.argmin(is_there))
        raise _wrong(warp, f"does not reach the whole line: inverse({FAR[k]:g}) is {y[k]:g}")


def _check_slope(warp: Warp) -> None:
    z = NEAR[np.abs(NEAR) <= 3.0]
    rise = _mapped(warp, "inverse", z + STEP) - _mapped(warp, "inverse", z - STEP)
    found, y = -np.log(rise / (2.0 * STEP)), _mapped(warp, "inverse", z)
    said = _mapped(warp, "log_slope", y)
    is_same = np.isclose(said, found, rtol=TOLERANCE, atol=TOLERANCE)
    if not is_same.all():
        k = int(np.argmin(is_same))
        raise _wrong(
            warp,
            f"has another slope than it says: log_slope({y[k]:g}) is {said[k]:g}, but log dz/dy is "
            f"{found[k]:g} by differences",
        )


def _check_outside(warp: Warp) -> None:
    """Targets outside of the domain must have no density."""
    low, high = warp.domain
    for y, z in ((low - 1.0, -math.inf), (high + 1.0, math.inf)):
        if not math.isfinite(y):
            continue
        outside = np.array([y])
        if _mapped(warp, "forward", outside)[0] != z:
            raise _wrong(warp, f"takes {y:g}, which is outside of its domain. Let it go to {z}")
        if _mapped(warp, "log_slope", outside)[0] != -math.inf:
            raise _wrong(warp, f"has a slope at {y:g}, outside of its domain. Let it be -inf there")


def _wrong(warp: Warp, reason: str) -> SettingsError:
    return SettingsError(f"the warp {warp.name!r} {reason}.")

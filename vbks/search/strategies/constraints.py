"""Structure constraints: what a kernel says of its structure must show in the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from vbks.arrays import Array
from vbks.inference.result import LocalFit
from vbks.kernels.layout import Layout, Slot, lay_out

Constraints = Callable[[LocalFit], str]
"""Says why a fit must not be chosen; an empty text accepts it."""


def accept_all(fit: LocalFit) -> str:
    """Accept every fit."""
    return ""


def accepted_or_dropped(fit: LocalFit, constraints: Constraints) -> LocalFit:
    """The fit as it is if constraints accept it, else dropped with their reason."""
    reason = constraints(fit) if fit.status == "fitted" else ""
    return replace(fit, status="dropped", reason=reason) if reason else fit


@dataclass(frozen=True)
class StructureConstraints:
    """Refuses periods that repeat too rarely and changes outside the data.

    ``lows`` and ``highs`` are the ends of each input, standardised.
    """

    lows: tuple[float, ...]
    highs: tuple[float, ...]
    repeats: int = 5
    """A period has to fit into the range of its input this many times; five as in ABCD."""

    @classmethod
    def in_rows(cls, X: Array, repeats: int = repeats) -> StructureConstraints:
        """The constraints of standardised inputs X [N, D]."""
        return cls(tuple(map(float, X.min(axis=0))), tuple(map(float, X.max(axis=0))), repeats)

    def __call__(self, fit: LocalFit) -> str:
        """Why the fit is refused; an empty text if it is accepted."""
        layout = lay_out(fit.expression, fit.num_inputs, fit.ard)
        for place, slot in enumerate(layout.slots):
            reason = self._reason(slot, float(fit.theta[place]), _width(layout, slot, fit.theta))
            if reason:
                return reason
        return ""

    def _reason(self, slot: Slot, value: float, width: float) -> str:
        inputs = range(len(self.lows)) if slot.dim is None else (slot.dim,)
        low, high = min(self.lows[d] for d in inputs), max(self.highs[d] for d in inputs)
        if slot.parameter.role == "period" and self.repeats * math.exp(value) > high - low:
            return f"a period that repeats fewer than {self.repeats} times"
        is_change = slot.parameter.role == "change"
        if is_change and not low < value - 0.5 * width <= value + 0.5 * width < high:
            return "a change outside the data"
        return ""


def _width(layout: Layout, slot: Slot, theta: Array) -> float:
    """How wide the window is that a location belongs to; a change point is not wide."""
    for place, other in enumerate(layout.slots):
        if other.parameter.role == "width" and other.path == slot.path:
            return float(np.exp(theta[place]))
    return 0.0

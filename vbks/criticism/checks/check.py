"""What a check of residuals is, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vbks.arrays import Array
from vbks.criticism.whitening import Residuals


@dataclass(frozen=True, eq=False)
class Measured:
    """A statistic of the data and of replicates [S], large where something is wrong.

    ``finding`` says what is wrong in the data, if something is.
    """

    values: Array
    finding: str


@dataclass(frozen=True)
class Check:
    """A question to residuals.

    ``measure`` answers it, with None where it cannot be asked; ``clear`` is what is said if nothing
    is found.
    """

    name: str
    clear: str
    measure: Callable[[Residuals], Measured | None]

"""How well a selection predicts rows that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass

from vbks.arrays import Array
from vbks.comparing import errors_on
from vbks.selection.selection import Selection

__all__ = ["Scores", "score"]


@dataclass(frozen=True)
class Scores:
    """Root mean squared error of means, and mean negative log density; lower is better."""

    rmse: float
    nlpd: float

    def __str__(self) -> str:
        return f"RMSE {self.rmse:.4g} NLPD {self.nlpd:.3f}"


def score(selection: Selection, X: Array, y: Array) -> Scores:
    """Scores of the averaged predictions at rows X [N, D], y [N], in the units of y."""
    return Scores(*errors_on(selection, (X, y)))

"""How well a selection predicts rows that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vbks.arrays import Array

if TYPE_CHECKING:
    from vbks.prediction import Selection

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
    mean, _ = selection.predict_y(X)
    density = selection.predict_log_density((X, y))
    return Scores(float(np.sqrt(np.mean((mean - y) ** 2))), -float(np.mean(density)))

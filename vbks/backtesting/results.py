"""What a backtest has found: predictions beside what came, and scores of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from vbks.backtesting.metrics import scores
from vbks.backtesting.plots import plot_backtest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OWN = "vbks"
"""What the forecasts of a selection are called beside those of baselines."""


@dataclass(frozen=True, eq=False)
class Backtest:
    """Forecasts from several origins in the past, beside baselines and what came.

    ``predictions`` has a row for every model, fold and row that was forecast; ``fits`` say what was
    chosen at each origin; ``failures`` are reasons by model and fold. ``table`` and ``by_horizon``
    have scores, which `vbks.backtesting.scores` explains.
    """

    predictions: pd.DataFrame
    fits: pd.DataFrame
    observed: pd.DataFrame
    horizon: int
    season: int
    step: str
    notices: tuple[str, ...] = ()
    failures: dict[tuple[str, int], str] = field(default_factory=dict)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Scores of each model over all folds, the best MAE first.

        Where a model has no forecast in some fold, it is left out, as errors of other rows cannot
        be compared with its own.
        """
        found = scores(self.predictions, ["model"])
        whole: pd.DataFrame = found.loc[found["rows"] == found["rows"].max()]
        return whole.sort_values("mae", kind="stable", ignore_index=True)

    @cached_property
    def by_horizon(self) -> pd.DataFrame:
        """Scores of each model by the number of periods ahead."""
        whole = self.predictions[self.predictions["model"].isin(self.table["model"])]
        return scores(whole, ["model", "horizon"]).sort_values(
            ["model", "horizon"], kind="stable", ignore_index=True
        )

    @property
    def summary(self) -> str:
        """The result in two sentences."""
        rows = self.table.set_index("model")
        if OWN not in rows.index:
            return f"{OWN} has no forecast in some of the folds: {self._reasons()}"
        own, others = rows.loc[OWN], rows.drop(index=OWN)
        text = f"MAE of {OWN} is {own['mae']:.4g}"
        if len(others):
            best = others["mae"].idxmin()
            text += f", that of the best baseline, {best}, {others.loc[best, 'mae']:.4g}"
        return (
            f"{text}. The intervals that should hold 50, 80 and 90 % of {own['rows']:.0f} values "
            f"held {100 * own['coverage_50']:.0f}, {100 * own['coverage_80']:.0f} and "
            f"{100 * own['coverage_90']:.0f} %."
        )

    def __repr__(self) -> str:
        num = self.predictions["fold"].nunique()
        return f"<Backtest: {num} forecasts of {self.horizon} × {self.step}. {self.summary}>"

    def _repr_html_(self) -> str:
        return self.table.to_html(index=False)

    def plot(self) -> Figure:
        """The forecasts beside what came, errors by horizon, and how many values intervals held."""
        return plot_backtest(self.predictions, self.by_horizon, self.table, self.observed, OWN)

    def _reasons(self) -> str:
        return "; ".join(text for (name, _), text in self.failures.items() if name == OWN)

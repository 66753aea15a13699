"""The forecast: what is expected over the only input, and beyond where the data end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array
from vbks.report.labels import MOST_ROWS, Labels
from vbks.report.values import Curve, Points, numbers
from vbks.selection.plot_data import AFTER, LEVELS, rows_of
from vbks.selection.record import SelectionRecord
from vbks.words.numerals import decimals_for, fixed

GRID_POINTS = 600
"""A curve is drawn at this many places: more than there are pixels on most figures."""

FORECASTS = 12
"""The table of forecasts has this many rows."""


@dataclass(frozen=True)
class Forecast:
    """What is expected at one place beyond the data, with the ends of 50 % and 90 % intervals."""

    place: str
    low: float
    lower: float
    median: float
    upper: float
    high: float


@dataclass(frozen=True)
class Outlook:
    """The curve over data and forecast, a sentence, and a table of what comes."""

    sentence: str
    curve: Curve
    forecasts: tuple[Forecast, ...]
    decimals: int
    """Digits after the point that values are told with."""


def outlook_of(record: SelectionRecord, labels: Labels) -> Outlook:
    """The data and what is expected between and beyond them."""
    X, y = rows_of(record, MOST_ROWS)
    x = X[:, 0]
    end = float(x.max())
    reach = AFTER * ((end - float(x.min())) or 1.0)
    grid = np.linspace(float(x.min()), end + reach, GRID_POINTS)
    later = np.linspace(end, end + reach, FORECASTS + 1)[1:]
    found = quantiles_at(record, np.concatenate([grid, later]))
    low, lower, median, upper, high = (numbers(own) for own in found[: len(grid)].T)
    curve = Curve(
        labels.inputs[0],
        labels.target,
        labels.kinds[0],
        numbers(grid),
        (low, lower, median, upper, high),
        Points(numbers(x), numbers(y)),
        end,
    )
    forecasts = tuple(
        Forecast(labels.place(place), *map(float, row))
        for place, row in zip(later, found[len(grid) :], strict=True)
    )
    decimals = decimals_for(float(np.ptp(y)) or 1.0, 3)
    return Outlook(_sentence(forecasts[-1], labels, decimals), curve, forecasts, decimals)


def quantiles_at(record: SelectionRecord, x: Array) -> Array:
    """Quantiles of new targets at values of the only input: [N, 5]."""
    return np.asarray(record.mixture.predict_quantiles(x[:, np.newaxis], LEVELS))


def _sentence(last: Forecast, labels: Labels, decimals: int) -> str:
    low, median, high = (fixed(own, decimals) for own in (last.low, last.median, last.high))
    return (
        f"At {last.place}, where the picture ends, the forecast of {labels.target} is {median}; "
        f"with 90 % probability it will lie between {low} and {high}."
    )

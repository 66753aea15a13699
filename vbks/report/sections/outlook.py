"""The forecast: what is expected over the only input, and beyond where the data end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vbks.arrays import Array
from vbks.data.frequency import find_steps
from vbks.errors import DataError
from vbks.report.labels import MOST_ROWS, Labels
from vbks.report.values import Curve, Points, numbers
from vbks.selection.plot_data import AFTER, LEVELS, rows_of
from vbks.selection.record import SelectionRecord
from vbks.words.numerals import decimals_for, fixed

GRID_POINTS = 600
"""A curve is drawn at this many places: more than there are pixels on most figures."""

MOST_TOLD = 1000
"""Up to this many rows have a place of their own under the pointer."""

LEAST_MARKS = 100
"""Rows and forecasts in even steps are joined by lines if there are this many: values are asked for
at these steps, and bands that breathe between them say nothing. Of fewer, a curve is drawn."""

SEASONS = 2
"""A forecast has at least this many seasons, or a share `AFTER` of the rows, whichever is more."""

MOST_AHEAD = 2000
"""A forecast has no more steps than this."""

STEPS = 12
"""Rows without even steps are forecast at this many places."""

MOST_LISTED = 24
"""The table of forecasts has no more rows than this: the first."""


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
    """The curve over data and forecast, sentences, and a table of what comes."""

    sentence: str
    """What the picture shows."""
    forecast: str
    """What is expected where the picture ends."""
    curve: Curve
    forecasts: tuple[Forecast, ...]
    num_forecasts: int
    """How many there are in the picture; the first are in ``forecasts``."""
    step: str
    """From one forecast to the next, in words; empty if rows have no even steps."""
    decimals: int
    """Digits after the point that values are told with."""


def outlook_of(record: SelectionRecord, labels: Labels) -> Outlook:
    """The data and what is expected between and beyond them."""
    X, y = rows_of(record, MOST_ROWS)
    x = X[:, 0]
    begin, end = labels.ends[0]
    later, step = places_ahead(record, x, end)
    step = labels.year_step or step
    is_marked = len(x) <= MOST_TOLD
    marks = np.union1d(x if is_marked else [], later)
    grid = marks
    if not (step and is_marked and len(marks) >= LEAST_MARKS):
        grid = np.union1d(np.linspace(begin, later[-1], GRID_POINTS), marks)
    found = quantiles_at(record, grid)
    low, lower, median, upper, high = (numbers(own) for own in found.T)
    places = np.searchsorted(grid, marks)
    curve = Curve(
        labels.inputs[0],
        labels.target,
        labels.kinds[0],
        numbers(grid),
        (low, lower, median, upper, high),
        Points(numbers(x), numbers(y)),
        end,
        tuple((int(place), labels.place(float(grid[place]))) for place in places),
    )
    rows = found[np.searchsorted(grid, later)]
    forecasts = tuple(
        Forecast(labels.place(float(place)), *map(float, row))
        for place, row in zip(later, rows, strict=True)
    )
    decimals = decimals_for(float(np.ptp(y)) or 1.0, 3)
    after = _after(len(forecasts), step, labels.place(end))
    return Outlook(
        f"The data, and what is expected {after} if all goes on as it did.",
        _forecast(forecasts[-1], after, labels, decimals),
        curve,
        forecasts[:MOST_LISTED],
        len(forecasts),
        step,
        decimals,
    )


def places_ahead(record: SelectionRecord, x: Array, end: float) -> tuple[Array, str]:
    """Places beyond the data, at the steps of the rows if these are even, and the step in words."""
    num = max(1, round(AFTER * record.num_rows))
    try:
        steps = find_steps(x, is_time=bool(record.time_inputs))
    except DataError:
        reach = AFTER * ((end - float(x.min())) or 1.0)
        return np.linspace(end, end + reach, STEPS + 1)[1:], ""
    num = min(max(num, SEASONS * (steps.season or 1)), MOST_AHEAD)
    return steps.after(end, num), steps.name


def quantiles_at(record: SelectionRecord, x: Array) -> Array:
    """Quantiles of new targets at values of the only input: [N, 5]."""
    return np.asarray(record.mixture.predict_quantiles(x[:, np.newaxis], LEVELS))


def _after(num: int, step: str, end: str) -> str:
    """How far the forecast goes, in words."""
    if step[:1].isalpha():
        return f"in the {num} {step}s after {end}" if num > 1 else f"in the {step} after {end}"
    return f"in the {num} steps after {end}" if step else f"after {end}"


def _forecast(last: Forecast, after: str, labels: Labels, decimals: int) -> str:
    low, median, high = (fixed(own, decimals) for own in (last.low, last.median, last.high))
    return (
        f"The forecast of {labels.target_name} for {last.place}, the last {after}, is "
        f"{labels.with_unit(median)}; with 90 % probability it will lie between {low} and "
        f"{labels.with_unit(high)}."
    )

"""Rows in periods of time, and the places in them from which past forecasts are repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vbks.arrays import Array, Rows
from vbks.data.frequency import find_steps
from vbks.data.sources import ArraySource, Values
from vbks.data.times import instants
from vbks.data.training import TrainingData, prepare
from vbks.errors import DataError, SettingsError, check_whole

LEAST_ROWS = 10
"""Fewer rows than this before the first forecast say little about a series."""

HORIZON_SHARE = 0.1
"""Share of the periods that is forecast where there is no season to say how many."""

ROW = "row"
"""What a step is called where rows are not evenly spaced."""

UNKNOWN_SEASON = (
    "It is not known after how many steps a season repeats, so that there is no seasonal naive "
    "forecast, and MASE is against the last value. Give season=, such as 12, where there is one."
)


@dataclass(frozen=True, eq=False)
class TimedRows:
    """Rows [N] with the time and the target of each, and the period that the time is in."""

    times: Values
    periods: Rows
    y: Array
    season: int
    """Periods after which a cycle would repeat; 1 where that is not known, or there is none."""
    step: str
    """One period in words."""
    time_name: str = "time"
    target_name: str = "target"
    notices: tuple[str, ...] = ()

    @property
    def num_periods(self) -> int:
        """Periods from the first row to the last."""
        return int(self.periods.max()) + 1

    def series(self, rows: Rows) -> Array:
        """Targets of some rows by period [T], averaged within it; NaN where there are none."""
        periods = self.periods[rows] - self.periods[rows].min()
        counts, sums = np.bincount(periods), np.bincount(periods, self.y[rows])
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows that are known at an origin, those that are forecast from it, and how far ahead."""

    train: Rows
    test: Rows
    horizons: Rows
    """Periods from the origin to each of the rows that are forecast."""


def read_timed_rows(X: Any, y: Any, freq: Any = None, season: int | None = None) -> TimedRows:
    """The periods of rows by the only input, or by the only one of several that has dates.

    Where rows are not evenly spaced, and no ``freq`` is given, every time is a period of its own.
    """
    if season is not None and (isinstance(season, bool) or int(season) != season or season < 1):
        raise SettingsError(f"season is {season!r}, expected a whole number of steps, from 1.")
    rows = prepare((X, y))
    inputs, y_all = _arrays(rows)
    place, is_time = _place_of_time(rows), bool(rows.time_inputs)
    x = np.asarray(inputs[:, place], np.float64)
    notices = []
    try:
        steps = find_steps(x, is_time=is_time, freq=freq)
        periods, step, usual = steps.periods(x), steps.name, steps.season
    except DataError as error:
        notices.append(f"Horizons are counted in rows, as {error}")
        periods, step, usual = np.unique(x, return_inverse=True)[1], ROW, None
    if season is None and usual is None:
        notices.append(UNKNOWN_SEASON)
    return TimedRows(
        instants(x) if is_time else x,
        periods,
        np.asarray(y_all, np.float64),
        int(season or usual or 1),
        step,
        "time" if rows.feature_names is None else rows.feature_names[place],
        rows.target_name or "target",
        tuple(notices),
    )


def _arrays(rows: TrainingData) -> tuple[Values, Values]:
    """All inputs and targets in the user's units."""
    if not isinstance(rows.source, ArraySource):
        raise DataError("the rows are a dataset, whose order in time is not known. Give arrays.")
    return rows.source.X, rows.source.y


def _place_of_time(rows: TrainingData) -> int:
    """The only input, or the only one of several that has dates."""
    places = (0,) if rows.num_inputs == 1 else rows.time_inputs
    if len(places) != 1:
        raise DataError(
            f"there are {rows.num_inputs} inputs, of which {len(places)} have dates: it is not "
            "clear which is the time that forecasts go on along. Give one input, or dates in one."
        )
    return places[0]


def usual_horizon(rows: TimedRows, folds: int) -> int:
    """A season, where there are enough of them; else a tenth of the periods."""
    check_whole("folds", folds)
    least = max(LEAST_ROWS, rows.season + 1)
    if rows.season > 1 and rows.num_periods >= least + folds * rows.season:
        return rows.season
    return max(1, min(round(HORIZON_SHARE * rows.num_periods), (rows.num_periods - least) // folds))


def make_folds(rows: TimedRows, horizon: int, folds: int, step: int) -> list[Fold]:
    """Folds whose origins are ``step`` periods apart, the last a horizon before the last row."""
    for name, value in (("horizon", horizon), ("folds", folds), ("step", step)):
        check_whole(name, value)
    first = rows.num_periods - 1 - horizon - (folds - 1) * step
    num_known = int(np.sum(rows.periods <= first))
    if num_known < LEAST_ROWS or first < rows.season:
        least = max(LEAST_ROWS, rows.season + 1)
        raise DataError(
            f"{folds} forecasts of {horizon} steps, whose origins are {step} apart, leave "
            f"{num_known} of {len(rows.y)} rows before the first, and {least} are needed. Give a "
            "smaller horizon= or fewer folds=."
        )
    found = []
    for origin in range(first, first + folds * step, step):
        ahead = rows.periods - origin
        test = np.flatnonzero((ahead > 0) & (ahead <= horizon))
        if not len(test):
            raise DataError(
                f"there are no rows in the {horizon} steps after {_last(rows, origin)}, which "
                "were to be forecast. Give a longer horizon or other folds."
            )
        found.append(Fold(np.flatnonzero(ahead <= 0), test, ahead[test]))
    return found


def _last(rows: TimedRows, origin: int) -> str:
    return str(rows.times[rows.periods <= origin].max())

"""What a series is expected to do after its last row: a table of periods, and joint paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from vbks.arrays import Array
from vbks.data.frequency import find_steps
from vbks.data.sources import Values
from vbks.data.steps import Steps
from vbks.data.times import instants
from vbks.errors import DataError, SettingsError, is_real
from vbks.predict.models.mean_functions import mean_values
from vbks.predict.new_noise import NewNoise
from vbks.selection import plots
from vbks.selection.new_inputs import read_new_inputs
from vbks.selection.record import SelectionRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = (0.5, 0.8, 0.9)
"""Shares of new targets that the intervals of a forecast hold."""

BLOCK = 65_536
"""Rows that are read together where all of them are looked at."""

PERIODS_SHOWN, SEASONS_SHOWN = 4, 3
"""A picture has at least this many times the forecast's periods, and this many seasons, of the
data before it."""

UNKNOWN_NOISE = (
    "The known noise of the rows says nothing of new ones: intervals have only the noise that was "
    "learned. Give noise_variance= for the periods ahead."
)


@dataclass(frozen=True, eq=False)
class Forecast:
    """What is expected of the target in the periods after the data, in the user's units.

    ``table`` has a row for each period: its time, then ``mean``, ``sd``, ``median`` and for each
    of the ``levels`` an interval such as ``low_90`` to ``high_90``, which holds this share of new
    targets. ``step`` is the step from one period to the next in words, and ``observed`` are the
    rows before, in their order.
    """

    table: pd.DataFrame
    observed: pd.DataFrame
    step: str
    levels: tuple[float, ...] = LEVELS
    season: int | None = None
    notices: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        times = self.table.iloc[:, 0]
        first, last = _told(times.iloc[0]), _told(times.iloc[-1])
        ahead = f"{len(self)} step{'s' * (len(self) > 1)} of {self.step}"
        return f"<Forecast of {self.observed.columns[1]}: {ahead}, {first} to {last}>"

    def _repr_html_(self) -> str:
        return self.table.to_html(index=False)

    def plot(self, ax: Axes | None = None, history: int | None = None) -> Axes:
        """The rows before, a line where they end, the median, and bands of 50 % and 90 %.

        Other levels are drawn where these were not asked for. ``history`` is how many rows before
        are drawn; by default enough to see some seasons of them.
        """
        least = max(PERIODS_SHOWN * len(self), SEASONS_SHOWN * (self.season or 1))
        shown = self.observed.tail(least if history is None else history)
        levels = [level for level in (0.5, 0.9) if level in self.levels]
        return plots.plot_forecast(self.table, shown, levels or list(self.levels), ax)


def forecast(
    record: SelectionRecord,
    periods: int,
    freq: Any = None,
    levels: Sequence[float] = LEVELS,
    noise_variance: Any = None,
) -> Forecast:
    """Predictions at the ``periods`` steps that follow the last row."""
    checked = _checked_levels(levels)
    steps, x, y = _series(record, freq)
    X = _ahead(steps, x, periods)
    mean, variance = (part.numpy()[:, 0] for part in record.mixture.predict_y(X))
    tails = np.array([0.5, *(0.5 + side * level / 2 for level in checked for side in (-1, 1))])
    if noise_variance is None:
        quantiles = np.asarray(record.mixture.predict_quantiles(X, tuple(tails)))
    else:
        noise = NewNoise(record.mixture, X, noise_variance)
        variance, quantiles = variance + noise.variances, noise.quantiles(tails)
    names = [f"{end}_{100 * level:g}" for level in checked for end in ("low", "high")]
    columns = {"mean": mean, "sd": np.sqrt(variance)}
    columns |= dict(zip(["median", *names], quantiles.T, strict=True))
    time_name, target_name = _names(record, columns)
    is_unknown = record.rows.has_known_noise and noise_variance is None
    return Forecast(
        pd.DataFrame({time_name: _as_given(record, X[:, 0]), **columns}),
        pd.DataFrame({time_name: _as_given(record, x), target_name: y}),
        steps.name,
        checked,
        steps.season,
        (UNKNOWN_NOISE,) if is_unknown else (),
    )


def simulate(
    record: SelectionRecord, periods: Any, num_samples: int, freq: Any = None
) -> pd.DataFrame:
    """Joint paths of targets at the steps that follow the last row, or at given inputs: [N, S]."""
    if isinstance(periods, Integral):
        steps, x, _ = _series(record, freq)
        X = _ahead(steps, x, periods)
    else:
        if freq is not None:
            raise SettingsError("freq goes with a number of periods, not with inputs of your own.")
        X = read_new_inputs(record, periods)
    paths = np.asarray(record.mixture.predict_y_samples(X, num_samples))[..., 0].T
    index: pd.Index[Any] = pd.RangeIndex(len(X))
    if record.num_inputs == 1:
        index = pd.Index(_as_given(record, X[:, 0]), name=(record.feature_names or ("time",))[0])
    return pd.DataFrame(paths, index, pd.RangeIndex(1, num_samples + 1, name="path"))


def _checked_levels(levels: Sequence[float]) -> tuple[float, ...]:
    found = [levels] if isinstance(levels, str) else [*np.ravel(levels).tolist()]
    for level in found:
        if not is_real(level) or not 0.0 < level < 1.0:
            raise SettingsError(
                f"a level is {level!r}, expected a share between 0 and 1, such as 0.9 for the "
                "interval that holds 90 % of new targets."
            )
    if not found:
        raise SettingsError("levels are empty. Give at least one, such as 0.9.")
    return tuple(sorted(set(map(float, found))))


def _series(record: SelectionRecord, freq: Any) -> tuple[Steps, Array, Array]:
    """The steps of the only input, and all rows in its order, in the user's units."""
    if record.num_inputs != 1:
        names = ", ".join(record.feature_names or ())
        raise DataError(
            f"a forecast goes on along one input, the time, and there are {record.num_inputs}"
            f"{f': {names}' if names else ''}. Predict at a table of them, by predict_quantiles "
            "or simulate."
        )
    blocks = [*record.data[record.best.warp].source.blocks(BLOCK)]
    X, y = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    if record.mean_function is not None:
        y = y + mean_values(record.mean_function, X)
    order = np.argsort(X[:, 0], kind="stable")
    x = X[order, 0]
    return find_steps(x, is_time=bool(record.time_inputs), freq=freq), x, y[order]


def _ahead(steps: Steps, x: Array, periods: Any) -> Array:
    """The inputs [H, 1] that come next."""
    if not isinstance(periods, Integral) or isinstance(periods, bool) or periods < 1:
        raise SettingsError(
            f"periods is {periods!r}, expected a whole number of steps after the last row, from 1."
        )
    return steps.after(float(x[-1]), int(periods))[:, np.newaxis]


def _as_given(record: SelectionRecord, x: Array) -> Values:
    """Inputs as they were given: dates, or numbers, without decimals where these are zero."""
    if record.time_inputs:
        return instants(x)
    return x.astype(np.int64) if np.all(x == np.round(x)) else x


def _names(record: SelectionRecord, columns: dict[str, Array]) -> tuple[str, str]:
    """Names of the time and the target, which must not be those of other columns."""
    time = (record.feature_names or ("time",))[0]
    time = f"{time} (input)" if time in columns else time
    target = record.target_name or "target"
    return time, f"{target} (target)" if target == time else target


def _told(time: Any) -> str:
    """A time in a few letters."""
    if isinstance(time, pd.Timestamp):
        return f"{time:%Y-%m-%d}" if time == time.normalize() else f"{time:%Y-%m-%d %H:%M:%S}"
    return f"{time:.10g}"

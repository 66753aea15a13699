"""Rows to learn from: checked once, standardised, and read a few at a time."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from vbks.arrays import Array, Rows
from vbks.data.extremes import notices_of_extremes
from vbks.data.known_noise import read_noise
from vbks.data.review import REVIEWED_ROWS, review
from vbks.data.sources import ArraySource, Batch, DatasetSource, Source, draw_rows
from vbks.data.tables import default_labels, read_table
from vbks.data.units import SMALLEST_SPREAD, Moments, Units
from vbks.data.warps import Identity, Warp, refuse_outside
from vbks.errors import DataError

RUN_LENGTH = 15
"""Neighbouring rows in each run where a part stands for all rows."""

MIN_ROWS = 5
"""A kernel, its noise and a trend have more parameters than fewer rows can tell apart."""

LARGEST_SEARCH_FOR_REPEATS = 100_000
"""Rows among which repeated inputs are searched: a fraction of a second."""


SHIFT_ULPS = 64
"""Units in the last place of the largest target that a difference from a mean function may lose."""


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows of a source, standardised when they are read."""

    source: Source
    units: Units
    notices: tuple[str, ...] = ()
    """Sentences about the data that its owner should know; none of them stops a fit."""
    log_jacobian: float = 0.0
    """What turns a log density of these standardised targets into one of those without a warp, so
    that log evidences of different warps can be compared."""
    has_own_targets: bool = False
    """Whether targets are read as they are, while the units are those of the function behind them,
    as with likelihoods that are not Gaussian."""
    feature_names: tuple[str, ...] | None = None
    """Names of the inputs, if they came in a table in which all have one."""
    time_inputs: tuple[int, ...] = ()
    """Which of the inputs came as dates or times, counted from 0."""
    target_name: str | None = None
    """The name of the target, if it came with one."""

    @property
    def num_rows(self) -> int:
        """Number N of rows."""
        return self.source.num_rows

    @property
    def num_inputs(self) -> int:
        """Number D of inputs."""
        return self.source.num_inputs

    @property
    def is_in_order(self) -> bool:
        """Whether rows are arrays with one input, so that they can be put in its order."""
        return self.num_inputs == 1 and isinstance(self.source, ArraySource)

    @property
    def has_known_noise(self) -> bool:
        """Whether the noise of each row is known."""
        return isinstance(self.source, ArraySource) and self.source.noise is not None

    @cached_property
    def known_noise(self) -> Array | None:
        """Known variances of the noise of each row, in standardised units: [N]."""
        if not isinstance(self.source, ArraySource) or self.source.noise is None:
            return None
        return self.source.noise / self.units.y_scale**2

    def sample(self, num: int, rng: np.random.Generator) -> Batch:
        """Rows drawn at random without replacement, in their order: `num` of them, or all."""
        return self._standardised(self.source.sample(num, rng))

    def sampled(self, num: int, rng: np.random.Generator) -> TrainingData:
        """The rows of `sample` as data of their own, with the noise that is known of them."""
        if isinstance(self.source, ArraySource):
            return self._with_source(self.source.taken(draw_rows(num, self.num_rows, rng)))
        return self._with_source(ArraySource(*self.source.sample(num, rng)))

    def minibatches(self, size: int, seed: int) -> Iterator[Batch]:
        """Batches of random rows without end, each epoch all rows in a new order."""
        return map(self._standardised, self.source.minibatches(size, seed))

    def blocks(self, size: int) -> Iterator[Batch]:
        """All rows once, in their order, `size` at a time; the last block may be shorter."""
        return map(self._standardised, self.source.blocks(size))

    def arrays(self) -> Batch:
        """All rows in memory: X [N, D] and y [N], the same arrays each time."""
        return self._arrays

    @cached_property
    def _arrays(self) -> Batch:
        (whole,) = self.blocks(self.num_rows)
        return whole

    def target_blocks(self) -> Iterator[tuple[int, Array]]:
        """All targets in the user's units, some at a time, each time with the rows before them."""
        rows_before = 0
        for _, y in self.source.blocks(REVIEWED_ROWS):
            yield rows_before, y
            rows_before += len(y)

    def warped(self, warp: Warp) -> TrainingData:
        """The same rows with targets that are warped and then standardised, or a `DataError`.

        Its ``log_jacobian`` is Σ log dz/dy over all targets, z being the standardised ones with
        the warp and y those without.
        """
        if self.units.warp != Identity():
            raise DataError(
                f"the targets have the warp '{self.units.warp.name}' already. "
                "Warp the data that it was made of."
            )
        if warp == Identity():
            return self
        if self.has_known_noise:
            raise DataError(
                f"known noise is that of targets as they are, not after the warp '{warp.name}'. "
                "Leave out one of the two."
            )
        moments, log_slope = Moments.of_nothing(1), 0.0
        for rows_before, y in self.target_blocks():
            refuse_outside(warp.name, warp.domain, y, rows_before)
            moments = moments.including(warp.forward(y)[:, np.newaxis])
            log_slope += float(warp.log_slope(y).sum())
        _refuse_rounding(moments, warp)
        units = self.units.with_warp(warp, moments)
        log_scale = math.log(units.y_scale / self.units.y_scale)
        return replace(self, units=units, log_jacobian=log_slope - self.num_rows * log_scale)

    def with_level(self, level: float, scale: float = 1.0) -> TrainingData:
        """The same rows, with targets as they are and a function that is level + scale · g."""
        units = replace(self.units.with_targets_as_they_are(), y_mean=level, y_scale=scale)
        return replace(self, units=units, has_own_targets=True)

    def shifted(self, offset: Array) -> TrainingData:
        """The same rows with targets less an offset [N] in their units, standardised anew."""
        source = self._array_source("a mean function and its values")
        targets = np.asarray(source.y, float)
        left = targets - offset
        rounding = SHIFT_ULPS * np.spacing(np.max(np.abs(targets)))
        if np.ptp(left) <= rounding:
            raise DataError(
                "the mean function explains all targets but for rounding, so that nothing is left "
                "to learn. Leave it out."
            )
        moved = replace(source, y=left)
        moments = review(moved, default_labels(self.num_inputs))
        return replace(self, source=moved, units=Units.of_moments(moments))

    def part(self, rows: Rows) -> TrainingData:
        """Some of the rows in the same units; sources that are not arrays cannot give them."""
        source = self._array_source("a part of the rows")
        noise = None if source.noise is None else source.noise[rows]
        chosen = ArraySource(source.X[rows], source.y[rows], noise)
        return self._with_source(chosen)

    def in_runs(self, num: int, length: int = RUN_LENGTH) -> TrainingData:
        """About ``num`` of the rows, in runs of neighbours along the first input, evenly spread.

        Neighbours show what changes from row to row, and runs what changes from one end to the
        other. Sources that are not arrays cannot give them.
        """
        if num >= self.num_rows:
            return self
        X = self._array_source("runs of rows").X
        order = np.argsort(np.asarray(X[:, 0], float), kind="stable")
        first = np.linspace(0, self.num_rows - length, max(1, num // length)).astype(int)
        return self.part(np.unique(order[first[:, np.newaxis] + np.arange(length)]))

    def with_rows(self, X: object, y: object, noise_variance: object = None) -> TrainingData:
        """These rows and more of them, in the user's units, which stay what they are.

        New rows need a known noise if those before have one, and have none if they have none.
        """
        source, new = self._array_source("more rows"), self.new_rows(X, y).source
        assert isinstance(new, ArraySource)
        noise = _joined_noise(source, new.num_rows, noise_variance)
        joined = np.concatenate([source.X, new.X]), np.concatenate([source.y, new.y])
        return self._with_source(ArraySource(*joined, noise))

    def new_rows(self, X: object, y: object) -> TrainingData:
        """Other rows alone, in these units."""
        table = read_table(X, y)
        if table.X.shape[1] != self.num_inputs:
            raise DataError(
                f"the new rows have {table.X.shape[1]} inputs, but those before have "
                f"{self.num_inputs}. Give the same columns."
            )
        new = ArraySource(table.X, table.y)
        review(new, table.labels)
        refuse_outside(self.units.warp.name, self.units.warp.domain, np.asarray(new.y, float))
        return replace(self, source=new, log_jacobian=0.0)

    def _array_source(self, what: str) -> ArraySource:
        if not isinstance(self.source, ArraySource):
            raise DataError(f"{what} need data that was given as arrays, not as a dataset.")
        return self.source

    def _with_source(self, source: ArraySource) -> TrainingData:
        """Other rows in the same units, with the Jacobian of their warp."""
        log_jacobian = 0.0
        if self.units.warp != Identity():
            # The scale of targets without a warp is what the Jacobian of all rows still knows.
            per_row = self._log_scale_ratio()
            slopes = self.units.warp.log_slope(np.asarray(source.y, float))
            log_jacobian = float(slopes.sum()) - source.num_rows * per_row
        return replace(self, source=source, log_jacobian=log_jacobian)

    def _log_scale_ratio(self) -> float:
        """log of the scale of warped targets over that of targets as they are."""
        total = sum(float(self.units.warp.log_slope(y).sum()) for _, y in self.target_blocks())
        return (total - self.log_jacobian) / self.num_rows

    def _standardised(self, batch: Batch) -> Batch:
        X, y = batch
        z = y if self.has_own_targets else self.units.standardise_targets(y)
        return self.units.standardise_inputs(X), z


def prepare(
    data: object,
    *,
    standardise_targets: bool = True,
    num_rows: int | None = None,
    noise_variance: object = None,
) -> TrainingData:
    """Rows to learn from, out of a pair (X, y) or a `tf.data.Dataset`, or a `DataError`.

    X is [N] or [N, D] and y is [N] or [N, 1]: lists, arrays of any numeric type, memory maps,
    tables or series of pandas; inputs may also be times, which become days. A dataset that does
    not know its length needs `num_rows`. Targets that are counts or classes should not be
    standardised. `noise_variance` [N], in squares of the units of y, is what is known of the noise
    of each row. `TrainingData` comes back unchanged.
    """
    if isinstance(data, TrainingData):
        return data
    source, labels, names, times, target = _open(data, num_rows)
    if noise_variance is not None:
        source = _with_noise(source, noise_variance)
    _refuse_few_rows(source.num_rows)
    moments = review(source, labels)
    units = Units.of_moments(moments)
    if standardise_targets:
        _refuse_constant_target(moments, labels[-1])
    else:
        units = units.with_targets_as_they_are()
    notices = (*_constant_inputs(moments, labels), *_repeats(source))
    if standardise_targets:
        notices = (*notices, *_extremes(source))
    return TrainingData(
        source, units, notices, feature_names=names, time_inputs=times, target_name=target
    )


class _Opened(NamedTuple):
    """The source of rows, what messages call its columns, and what is known of them."""

    source: Source
    labels: tuple[str, ...]
    names: tuple[str, ...] | None = None
    times: tuple[int, ...] = ()
    target: str | None = None


def _open(data: object, num_rows: int | None) -> _Opened:
    if _is_dataset(data):
        dataset = DatasetSource(data, num_rows)
        return _Opened(dataset, default_labels(dataset.num_inputs))
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise DataError(
            f"the data is of type '{type(data).__name__}', expected a pair (X, y) or a "
            "tf.data.Dataset. Give inputs and targets as (X, y)."
        )
    table = read_table(*data)
    source = ArraySource(table.X, table.y)
    if num_rows not in (None, source.num_rows):
        raise DataError(f"num_rows is {num_rows}, but X has {source.num_rows} rows. Leave it out.")
    return _Opened(source, table.labels, table.names, table.times, table.target)


def _with_noise(source: Source, noise_variance: object) -> ArraySource:
    if not isinstance(source, ArraySource):
        raise DataError("noise_variance needs rows that are given as arrays, not as a dataset.")
    return replace(source, noise=read_noise(noise_variance, source.num_rows))


def _joined_noise(source: ArraySource, num_new: int, noise_variance: object) -> Array | None:
    """Known noise of old rows and new ones, if both or neither have it."""
    if (source.noise is None) != (noise_variance is None):
        now, then = ("have", "not") if source.noise is None else ("do not have", "all")
        raise DataError(
            f"the new rows {now} a noise_variance, and the rows before did {then}. "
            "Give it for all rows or for none."
        )
    if source.noise is None:
        return None
    return np.concatenate([source.noise, read_noise(noise_variance, num_new)])


def _is_dataset(data: object) -> bool:
    """Whether this is a `tf.data.Dataset`, of which there are none before TensorFlow is loaded."""
    tensorflow = sys.modules.get("tensorflow")
    return tensorflow is not None and isinstance(data, tensorflow.data.Dataset)


def _refuse_few_rows(num_rows: int) -> None:
    if num_rows >= MIN_ROWS:
        return
    counted = {0: "are no rows", 1: "is only one row"}.get(num_rows, f"are only {num_rows} rows")
    raise DataError(f"there {counted} to learn from. Give at least {MIN_ROWS}.")


def _refuse_constant_target(moments: Moments, label: str) -> None:
    if moments.is_constant[-1]:
        raise DataError(
            f"{label} is constant: its {moments.count} values are about {moments.mean[-1]:g} and "
            f"differ by {moments.high[-1] - moments.low[-1]:g} at most, so nothing can be learned. "
            "Give a target that varies."
        )


def _refuse_rounding(moments: Moments, warp: Warp) -> None:
    if moments.is_constant[0]:
        raise DataError(
            f"after the warp '{warp.name}' the targets differ by rounding alone: they are all "
            f"about {moments.mean[0]:g}. Leave the warp out."
        )


def _constant_inputs(moments: Moments, labels: Sequence[str]) -> Iterator[str]:
    for number in np.flatnonzero(moments.is_constant[:-1]):
        value, width = moments.mean[number], moments.high[number] - moments.low[number]
        if 0.0 < width <= SMALLEST_SPREAD and abs(value) <= SMALLEST_SPREAD:
            yield (
                f"{labels[number]} varies by {width:.2g} only, which counts as nothing, so that it "
                "explains nothing. Give it in larger units."
            )
        else:
            yield f"{labels[number]} has the value {value:g} in all rows and explains nothing."


def _extremes(source: Source) -> Iterator[str]:
    """A notice of targets that decide the scale."""
    if isinstance(source, ArraySource) and source.is_in_memory:
        ((_, y),) = source.blocks(source.num_rows)
        yield from notices_of_extremes(y)


def _repeats(source: Source) -> Iterator[str]:
    """A notice of rows with the inputs of an earlier row and another target."""
    if source.num_rows > LARGEST_SEARCH_FOR_REPEATS or not isinstance(source, ArraySource):
        return
    if source.is_in_memory:
        ((X, y),) = source.blocks(source.num_rows)
        distinct = pd.DataFrame(np.column_stack([X, y])).drop_duplicates()
        repeated = int(distinct.duplicated(list(distinct.columns[:-1])).sum())
        if repeated:
            rows = "1 row has" if repeated == 1 else f"{repeated} rows have"
            yield f"{rows} the inputs of an earlier row and another target, which counts as noise."

"""Where rows come from: arrays in memory, memory-mapped files and `tf.data` datasets."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from vbks.arrays import Array, Rows
from vbks.errors import DataError

if TYPE_CHECKING:
    import tensorflow as tf

Batch: TypeAlias = tuple[Array, Array]
"""Inputs [N, D] and targets [N] of some rows."""

Values: TypeAlias = npt.NDArray[Any]
"""Numbers of any type, as the user stores them."""

SHUFFLED_ROWS = 65_536
"""Rows of a `tf.data` dataset that are held in memory to draw from: a few megabytes."""

PASSED_ROWS = 16_384
"""Rows of a `tf.data` dataset that are looked at together when some are picked in passing."""


class Source(Protocol):
    """Rows in the user's units, read as float64 a few at a time."""

    @property
    def num_rows(self) -> int:
        """Number N of rows."""

    @property
    def num_inputs(self) -> int:
        """Number D of inputs."""

    def sample(self, num: int, rng: np.random.Generator) -> Batch:
        """Rows drawn at random without replacement, in their order: `num` of them, or all."""

    def minibatches(self, size: int, seed: int) -> Iterator[Batch]:
        """Batches of `size` random rows without end, or of all rows if there are fewer.

        Every epoch has each row once, in a new order. A batch that an epoch cannot fill takes
        the rest from the next epoch, so that all rows are drawn equally often.
        """

    def blocks(self, size: int) -> Iterator[Batch]:
        """All rows once, in their order, `size` at a time; the last block may be shorter."""


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Rows of arrays, or of memory maps that are read where they are and let go again."""

    X: Values
    """Inputs [N, D]."""
    y: Values
    """Targets [N]."""
    noise: Array | None = None
    """Known variances [N] of the noise of each target, where there are any."""

    @property
    def num_rows(self) -> int:
        """Number N of rows."""
        return len(self.X)

    @property
    def num_inputs(self) -> int:
        """Number D of inputs."""
        return int(self.X.shape[1])

    @property
    def is_in_memory(self) -> bool:
        """Whether reading all rows again costs no reading of a file."""
        return not isinstance(self.X, np.memmap) and not isinstance(self.y, np.memmap)

    def sample(self, num: int, rng: np.random.Generator) -> Batch:
        """Rows drawn at random without replacement, in their order: `num` of them, or all."""
        return self._read(draw_rows(num, self.num_rows, rng))

    def taken(self, rows: Rows) -> ArraySource:
        """Some of the rows, read into memory."""
        return ArraySource(*self._read(rows), None if self.noise is None else self.noise[rows])

    def minibatches(self, size: int, seed: int) -> Iterator[Batch]:
        """Batches of random rows without end, as `Source` says; an order takes 8 bytes a row."""
        size = _fitting(size, self.num_rows)
        waiting = np.empty(0, dtype=np.intp)
        for epoch in count():
            order = np.random.default_rng([seed, epoch]).permutation(self.num_rows)
            waiting = np.concatenate([waiting, order])
            while len(waiting) >= size:
                yield self._read(np.sort(waiting[:size]))
                waiting = waiting[size:]

    def blocks(self, size: int) -> Iterator[Batch]:
        """All rows once, in their order, `size` at a time; the last block may be shorter."""
        for start in range(0, self.num_rows, _fitting(size, self.num_rows)):
            yield self._read(slice(start, start + size))

    def _read(self, rows: Rows | slice) -> Batch:
        return _copied(self.X, rows), _copied(self.y, rows)


class DatasetSource:
    """Rows of a `tf.data.Dataset` with elements (x, y): x [D] or one number, y one number.

    The number of rows has to be given where the dataset does not know it. Minibatches are drawn
    from a window of `SHUFFLED_ROWS` rows that moves over the dataset.
    """

    def __init__(self, dataset: tf.data.Dataset, num_rows: int | None = None) -> None:
        self.dataset = dataset
        self.num_inputs = _count_inputs(dataset.element_spec)
        self.num_rows = _count_rows(dataset, num_rows)

    def sample(self, num: int, rng: np.random.Generator) -> Batch:
        """Rows drawn at random without replacement, picked while all rows pass by."""
        chosen = draw_rows(num, self.num_rows, rng)
        parts = []
        for number, (X, y) in enumerate(self.blocks(PASSED_ROWS)):
            rows = chosen - number * PASSED_ROWS
            here = rows[(rows >= 0) & (rows < len(y))]
            parts.append((X[here], y[here]))
        return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])

    def minibatches(self, size: int, seed: int) -> Iterator[Batch]:
        """Batches of random rows without end, as `Source` says."""
        window = min(self.num_rows, SHUFFLED_ROWS)
        shuffled = self.dataset.shuffle(window, seed=seed, reshuffle_each_iteration=True)
        return self._batches(shuffled.repeat(), size)

    def blocks(self, size: int) -> Iterator[Batch]:
        """All rows once, in their order, `size` at a time; the last block may be shorter."""
        return self._batches(self.dataset, size)

    def _batches(self, dataset: tf.data.Dataset, size: int) -> Iterator[Batch]:
        batched = dataset.batch(_fitting(size, self.num_rows))
        for x, y in batched.as_numpy_iterator():
            yield x.astype(np.float64).reshape(-1, self.num_inputs), y.astype(np.float64).ravel()


def _fitting(size: int, num_rows: int) -> int:
    """The size of batches, at most that of the data."""
    if size < 1:
        raise DataError(f"batches of {size} rows were asked for. Ask for at least 1 row.")
    return min(size, num_rows)


def draw_rows(num: int, num_rows: int, rng: np.random.Generator) -> Rows:
    """Which rows a sample has, in their order."""
    return np.sort(rng.choice(num_rows, size=min(num, num_rows), replace=False, shuffle=False))


def _copied(values: Values, rows: Rows | slice) -> Array:
    """Some rows as float64 values of their own; a memory map keeps none of them in memory."""
    copy = np.array(values[rows], dtype=np.float64)
    if isinstance(values, np.memmap):
        _let_go(values)
    return copy


def _let_go(values: np.memmap[Any, Any]) -> None:
    """Unload the pages of a memory map, which would count as resident until memory is short.

    A map of mode "c" keeps changes in its pages alone, so these stay.
    """
    if values.mode != "c" and hasattr(mmap, "MADV_DONTNEED"):
        values._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]


def _count_inputs(element_spec: object) -> int:
    """The number of inputs in one element of a dataset, if elements are rows of numbers."""
    x, y = _pair_of_tensors(element_spec)
    for name, dtype in (("x", x.dtype), ("y", y.dtype)):
        if not (dtype.is_floating or dtype.is_integer or dtype.is_bool):
            raise DataError(
                f"the {name} of the dataset is of type '{dtype.name}', expected numbers. "
                "Convert it with .map(...)."
            )
    num_inputs = x.shape.num_elements()
    if x.shape.rank not in (0, 1) or not num_inputs or y.shape.num_elements() != 1:
        raise DataError(
            f"the elements (x, y) of the dataset have the shapes {x.shape} and {y.shape}, "
            "expected one row: [D] or [] for x, with a fixed D, and [] for y. "
            "If elements are batches, call .unbatch() first."
        )
    return int(num_inputs)


def _pair_of_tensors(element_spec: object) -> tuple[tf.TensorSpec, tf.TensorSpec]:
    import tensorflow as tf

    match element_spec:
        case (tf.TensorSpec() as x, tf.TensorSpec() as y):
            return x, y
    raise DataError(
        f"the elements of the dataset are {element_spec}, expected pairs (x, y). "
        "Bring them into this form with .map(...)."
    )


def _count_rows(dataset: tf.data.Dataset, given: int | None) -> int:
    """The number of rows that the dataset knows or, if it does not, that the user gave."""
    import tensorflow as tf

    known = int(dataset.cardinality())
    if known == tf.data.INFINITE_CARDINALITY:
        raise DataError("the dataset has no end. Leave out its .repeat(): vbks repeats the rows.")
    if known == tf.data.UNKNOWN_CARDINALITY:
        if given is None:
            raise DataError("the dataset does not know its number of rows. Give it as num_rows.")
        return given
    if given not in (None, known):
        raise DataError(f"num_rows is {given}, but the dataset has {known} rows. Leave it out.")
    return known

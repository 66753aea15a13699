"""Products with a kernel matrix that is too large to hold: in row blocks, over several devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.bounds.covariance import Covariance, as_array, as_inputs

MEMORY = 3 * 2**28
"""Bytes for blocks of a kernel matrix. With three quarters of a gigabyte that TensorFlow takes for
itself, 40,000 rows stay below 2 GB."""

WORK_SHARE = 0.25
"""Share of the bytes for the block that a device computes; what remains keeps finished blocks."""

WORK_ARRAYS = 8
"""Arrays of the size of a block, for each input, that a kernel has at once while it is computed: a
product of three leaves holds one for each, and a periodic one three of its own."""

MOST_ELEMENTS = 2_000_000
"""Numbers in a block. On 20,000 rows, SE * PER took 10 ns for each number in blocks of two million,
20 in blocks of half a million and 17 in blocks of four million."""

BYTES = 8
"""Bytes of a number."""


class KernelMatrix:
    """K of rows X [N, D] as an operator, of which only as many blocks are kept as memory allows.

    K is symmetric, so a block is some rows of its upper triangle, and serves the columns too.
    Blocks hold about equally many numbers and are handed to ``devices`` in turn; products are added
    up in the order of blocks, so that they do not depend on who made them.
    """

    def __init__(
        self,
        covariance: Covariance,
        X: Array,
        memory: int = MEMORY,
        devices: Sequence[str] | None = None,
    ) -> None:
        self._covariance = covariance
        self._X = np.asarray(X)
        self._devices: tuple[str | None, ...] = tuple(devices or (None,))
        self.blocks = row_blocks(len(X), block_elements(memory, X.shape[1]))
        self.num_kept = self._num_that_fit((1.0 - WORK_SHARE * len(self._devices)) * memory)
        self._kept: dict[int, tf.Tensor] = {}

    def __matmul__(self, v: Array) -> Array:
        """K v for a vector [N]."""
        product = np.zeros(len(v))
        for rows, (own, others) in zip(self.blocks, self._parts(v), strict=True):
            product[rows] += own
            product[rows.stop :] += others
        return product

    def _num_that_fit(self, memory: float) -> int:
        N = len(self._X)
        sizes = [BYTES * (rows.stop - rows.start) * (N - rows.start) for rows in self.blocks]
        return int(np.searchsorted(np.cumsum(sizes), memory, side="right"))

    def _parts(self, v: Array) -> Iterator[tuple[Array, Array]]:
        work = partial(self._part, v)
        if len(self._devices) == 1:
            yield from map(work, range(len(self.blocks)))
            return
        with ThreadPoolExecutor(len(self._devices)) as pool:
            yield from pool.map(work, range(len(self.blocks)))

    def _part(self, v: Array, place: int) -> tuple[Array, Array]:
        """What a block adds to its own rows and to those behind them.

        Arrays are cut by NumPy: slices of tensors by several threads have been seen to be mixed up.
        """
        rows = self.blocks[place]
        with self._device(place):
            block = tf.cast(self._block(place), v.dtype)
            own = tf.linalg.matvec(block, tf.constant(v[rows.start :]))
            others = tf.linalg.matvec(block, tf.constant(v[rows]), transpose_a=True)
        return own.numpy(), others.numpy()[rows.stop - rows.start :]

    def _device(self, place: int) -> Any:
        device = self._devices[place % len(self._devices)]
        return nullcontext() if device is None else tf.device(device)

    def _block(self, place: int) -> tf.Tensor:
        if place in self._kept:
            return self._kept[place]
        rows = self.blocks[place]
        own, behind = as_inputs(self._X[rows]), as_inputs(self._X[rows.start :])
        block = self._covariance.matrix(own, behind)
        if place < self.num_kept:
            self._kept[place] = block
        return block


def cross_covariance(
    covariance: Covariance, Z: Array, X: Array, elements: int = MOST_ELEMENTS
) -> Array:
    """k(Z, X) [M, N], computed in blocks of columns."""
    inducing, inputs = as_inputs(Z), as_inputs(X)
    Kuf = np.empty((len(Z), len(X)))
    size = max(1, elements // len(Z))
    for start in range(0, len(X), size):
        columns = slice(start, start + size)
        Kuf[:, columns] = as_array(covariance.matrix(inducing, inputs[columns]))
    return Kuf


def block_elements(memory: int, num_inputs: int) -> int:
    """How many numbers a block may have, whatever the number of devices."""
    return min(int(WORK_SHARE * memory / (BYTES * WORK_ARRAYS * num_inputs)), MOST_ELEMENTS)


def row_blocks(num_rows: int, elements: int) -> tuple[slice, ...]:
    """Consecutive rows of the upper triangle, at least one of them and at most ``elements``."""
    blocks: list[slice] = []
    start = 0
    while start < num_rows:
        stop = min(start + max(1, elements // (num_rows - start)), num_rows)
        blocks.append(slice(start, stop))
        start = stop
    return tuple(blocks)

"""Rows that a saved selection does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from vbks.data.sources import Batch
from vbks.errors import FileError


@dataclass(frozen=True)
class MissingRows:
    """The rows of a selection that was saved without them; only their number is known."""

    num_rows: int
    num_inputs: int

    def sample(self, num: int, rng: np.random.Generator) -> Batch:
        """There are none."""
        self._refuse()

    def minibatches(self, size: int, seed: int) -> Iterator[Batch]:
        """There are none."""
        self._refuse()

    def blocks(self, size: int) -> Iterator[Batch]:
        """There are none."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise FileError(
            f"the {self.num_rows:,} rows of this selection were not saved with it, as they came "
            "from a memory-mapped file or a dataset. It predicts without them; for more than "
            "that, fit again from the rows."
        )

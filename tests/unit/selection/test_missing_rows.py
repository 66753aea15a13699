"""Tests of rows that were not saved."""

import numpy as np
import pytest

from vbks.errors import FileError
from vbks.selection.missing_rows import MissingRows


@pytest.mark.parametrize(
    "read",
    [
        lambda rows: rows.sample(5, np.random.default_rng(0)),
        lambda rows: rows.minibatches(5, 0),
        lambda rows: rows.blocks(5),
    ],
)
def test_missing_rows__say_that_they_are_not_there(read):
    with pytest.raises(FileError, match="the 12,345 rows of this selection were not saved"):
        read(MissingRows(12345, 2))

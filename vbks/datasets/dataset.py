"""The value that every reader returns, and the steps that readers of files share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

from vbks.arrays import Array
from vbks.errors import DataError

FilePath: TypeAlias = "str | PathLike[str]"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Inputs and a target in their own units, with the names to put on the axes."""

    name: str
    X: Array
    """Inputs [N, D], finite, in the order of time."""
    y: Array
    """Target [N], finite."""
    x_names: tuple[str, ...]
    y_name: str
    source: str
    """Where the figures are from, in a sentence."""


def existing_file(path: FilePath) -> Path:
    """The path, if a file is there to be read."""
    file = Path(path)
    if file.is_dir():
        raise DataError(f"'{file}' is a folder, not a file. Give the path of the file in it.")
    if not file.exists():
        raise DataError(f"there is no file '{file}'. Check the path.")
    return file


def days_since(first: pd.Timestamp, times: pd.DatetimeIndex) -> Array:
    """Times [N] as days after the first."""
    return np.asarray((times - first) / pd.Timedelta(days=1), dtype=np.float64)


def series(name: str, parts: Sequence[pd.Series[float]], y_name: str, source: str) -> Dataset:
    """One data set of values over time, from the parts of one or more files.

    Yearly files share their midnights, so of several values at one time the first is kept.
    """
    whole = pd.concat(parts)
    whole = whole[np.isfinite(whole.to_numpy(dtype=float))]
    if whole.empty:
        raise DataError(f"the {name} files hold no usable value. Check that they are complete.")
    whole = whole[~whole.index.duplicated()].sort_index()
    times = pd.DatetimeIndex(whole.index)
    return Dataset(
        name=name,
        X=days_since(times[0], times)[:, None],
        y=whole.to_numpy(dtype=np.float64),
        x_names=(f"days since {times[0]:%Y-%m-%d %H:%M}",),
        y_name=y_name,
        source=source,
    )

"""Several targets of the same rows, a column each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from vbks.data.given import as_pandas
from vbks.errors import DataError


def num_columns(y: Any) -> int:
    """How many targets there are: 1 for anything that is not a table."""
    y = as_pandas(y)
    if isinstance(y, pd.DataFrame):
        return int(y.shape[1])
    shape = getattr(y, "shape", None)
    if shape is None:
        try:
            shape = np.shape(y)
        except ValueError:  # rows of several lengths, which are refused with the rest
            return 1
    return int(shape[1]) if len(shape) == 2 else 1


def read_columns(Y: Any) -> dict[str, Any]:
    """The columns of a table by their names, or by numbers from 1 on if these are none."""
    Y = as_pandas(Y)
    if isinstance(Y, pd.DataFrame):
        names = [str(name) for name in Y.columns]
        if isinstance(Y.columns, pd.RangeIndex):
            names = [str(number) for number in range(1, Y.shape[1] + 1)]
        twice = [name for place, name in enumerate(names) if name in names[:place]]
        if twice:
            raise DataError(f"Y has two columns of the name '{twice[0]}'. Rename one of them.")
        return {name: Y.iloc[:, place] for place, name in enumerate(names)}
    table = Y if getattr(Y, "ndim", 0) == 2 else np.asarray(Y)
    if table.ndim != 2:
        raise DataError(f"Y has {table.ndim} dimensions, expected [N, P]: a column a target.")
    return {str(place + 1): table[:, place] for place in range(table.shape[1])}


def read_noise_columns(values: Any, num_targets: int) -> list[Any]:
    """Known noise of each target, from that of all of them [N] or of each [N, P]."""
    if values is None or np.ndim(values) < 2:
        return [values] * num_targets
    columns = read_columns(values)
    if len(columns) != num_targets:
        raise DataError(
            f"noise_variance has {len(columns)} columns, expected [N], or [N, {num_targets}]: a "
            "column a target."
        )
    return list(columns.values())

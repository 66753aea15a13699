"""Parquet files, whose columns have names and types."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pandas as pd

from vbks.data.files.layout import Grid
from vbks.errors import DataError


def read_parquet(data: bytes, name: str) -> Grid:
    """The columns of a Parquet file, with the index first if it is one of its own."""
    try:
        table = pd.read_parquet(BytesIO(data))
    except ImportError:
        raise DataError(
            f"'{name}' is a Parquet file, and the package pyarrow that reads it is not installed. "
            "Run: pip install 'vbks[parquet]', or save it as CSV."
        ) from None
    except Exception as error:  # pyarrow raises errors of its own
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise DataError(f"'{name}' cannot be read as Parquet: {reason}. Write it anew.") from None
    if not isinstance(table.index, pd.RangeIndex):
        table = table.reset_index()
    if table.empty:
        raise DataError(f"'{name}' has no rows. Give at least one.")
    columns = {str(key): table[key].rename(str(key)) for key in table.columns}
    return Grid(name, columns, np.arange(1, len(table) + 1), "row")

"""Some rows of what a user gives as X and y, in the type that it came in."""

from __future__ import annotations

from typing import Any

import numpy as np

from vbks.arrays import Rows


def take_rows(values: Any, places: Rows) -> Any:
    """Some of the rows, with the names of their columns."""
    return values.iloc[places] if hasattr(values, "iloc") else np.asarray(values)[places]

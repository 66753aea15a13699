"""Selections by the VBKS paper's training, with few steps."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import vbks
from support import rows as any_rows
from vbks.arrays import Array
from vbks.search.paper import BeliefRecord
from vbks.selection.selection import Selection

SPACE = ("SE", "PER + LIN", "RQ * LIN")
SETTINGS = vbks.PaperSettings(
    steps=120, every=40, num_samples=2, value_samples=4, learning_rate=0.01
)


def make_rows(num: int = 90) -> tuple[Array, Array]:
    """A wave on a line, at random places."""
    return any_rows.make_rows(
        num, 1, signal=lambda x: 5.0 + np.sin(2.0 * x) + 0.3 * x, noise=0.2, is_even=False
    )


def select(
    space: Any = SPACE,
    settings: vbks.PaperSettings | None = SETTINGS,
    rows: tuple[Array, Array] | None = None,
    **more: Any,
) -> Selection:
    """A selection by these settings."""
    given = {"num_inducing": 8, "batch_size": 30, "progress": False, **more}
    return vbks.fit(*(rows or make_rows()), space=space, preset=settings, **given)


@cache
def watched_selection() -> tuple[Selection, tuple[BeliefRecord, ...]]:
    """A selection and the records that a callback was given."""
    records: list[BeliefRecord] = []
    selection = select(callback=records.append)
    return selection, tuple(records)

"""What the columns of a selection are called, and what kind of axis each of them has."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace

import numpy as np

from vbks.arrays import Array
from vbks.parts.axes import axes_of_data
from vbks.report.figures.curve import told_place
from vbks.report.figures.scales import AxisKind, date_form, dated
from vbks.selection.missing_rows import MissingRows
from vbks.selection.plot_data import rows_of
from vbks.selection.record import SelectionRecord
from vbks.words import Axes

MOST_ROWS = 2000
"""Up to this many rows are read for the report; of more rows, a random sample is."""

CALENDAR = (1000.0, 3000.0)
"""Numbers in years between these are written as years of the calendar."""

UNSEEN = ("Cc", "Cf", "Cs", "Co")
"""Categories of characters that steer terminals, turn the direction of writing, or are none."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Names and kinds of the columns, for texts, figures and tables."""

    inputs: tuple[str, ...]
    kinds: tuple[AxisKind, ...]
    target: str
    axes: Axes
    """What `vbks.words` has to know of them."""
    ends: tuple[tuple[float, float], ...]
    """The lowest and the highest value of each input."""
    date_form: str = "%Y-%m-%d"
    """How dates are written: as fine as they are in the data."""

    def axes_under(self, warp: str) -> Axes:
        """The axes for a candidate under some warp."""
        return replace(self.axes, warp=warp)

    def place(self, value: float, number: int = 0) -> str:
        """A value of an input as a text: a date, a year, or a number."""
        if self.kinds[number] == "date":
            return dated(value, self.date_form)
        return told_place(value, self.kinds[number], self.ends[number])


def labels_of(record: SelectionRecord) -> Labels:
    """The columns of a selection, with units and calendars as far as the data say."""
    given = record.feature_names or ("",) * record.num_inputs
    names = tuple(map(printable, given))
    target = printable(record.target_name or "")
    if isinstance(record.rows.source, MissingRows):
        units = record.rows.units
        X = np.stack([units.x_mean - 2 * units.x_scale, units.x_mean + 2 * units.x_scale])
    else:
        X, _ = rows_of(record, MOST_ROWS)
    axes = axes_of_data(X, names, record.time_inputs, target, record.best.warp.name)
    alone = len(names) == 1
    shown = tuple(
        name or ("input" if alone else f"input {number}") for number, name in enumerate(names, 1)
    )
    kinds = tuple(_kind(record, axes, place, X[:, place]) for place in range(len(names)))
    ends = tuple((float(x.min()), float(x.max())) for x in X.T)
    form = date_form(X[:, record.time_inputs[0]]) if record.time_inputs else "%Y-%m-%d"
    return Labels(shown, kinds, target or "target", axes, ends, form)


def printable(text: str) -> str:
    """A text without characters that steer terminals or turn the direction of writing."""
    seen = (" " if sign in "\t\n\r" else sign for sign in text)
    return "".join(sign for sign in seen if unicodedata.category(sign) not in UNSEEN)


def _kind(record: SelectionRecord, axes: Axes, place: int, values: Array) -> AxisKind:
    if place in record.time_inputs:
        return "date"
    axis = axes[place + 1]
    in_years = axis.is_time and (axis.unit or "").startswith("year")
    is_calendar = CALENDAR[0] <= values.min() and values.max() <= CALENDAR[1]
    return "year" if in_years and is_calendar else "number"

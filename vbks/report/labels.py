"""What the columns of a selection are called, and what kind of axis each of them has."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass

from vbks.data.frequency import find_steps
from vbks.errors import DataError
from vbks.inference.result import LocalFit
from vbks.report.figures.curve import told_place
from vbks.report.figures.scales import AxisKind, date_form, dated
from vbks.selection.axes import axes_of
from vbks.selection.missing_rows import MissingRows
from vbks.selection.plot_data import rows_of
from vbks.selection.readings import reading_of
from vbks.selection.record import SelectionRecord
from vbks.words import Axes, Axis

MOST_ROWS = 2000
"""Up to this many rows are read for the report; of more rows, a random sample is."""

CALENDAR = (1000.0, 3000.0)
"""Numbers in years between these are written as years of the calendar."""

DAYS = "%Y-%m-%d"
"""How dates are written where rows do not say how fine they are."""

UNSEEN = ("Cc", "Cf", "Cs", "Co")
"""Categories of characters that steer terminals, turn the direction of writing, or are none."""


YEAR_STEPS = {1: "year", 2: "half-year", 4: "quarter", 12: "month"}
"""What steps of numbers in years are called, by how many there are in a year."""

ROUNDED_MONTHS = 0.05
"""Years are rounded to this many months: with two decimals, February begins at .08."""


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
    date_form: str = DAYS
    """How dates are written: as fine as they are in the data."""
    year_step: str = ""
    """What is between rows of numbers in years: a year or less, or nothing that has a name."""

    def place(self, value: float, number: int = 0) -> str:
        """A value of an input as a text: a date, a year, a month, or a number."""
        if self.kinds[number] == "date":
            return dated(value, self.date_form)
        if self.kinds[number] == "year" and self.year_step:
            year, month = divmod(math.floor(12.0 * value + ROUNDED_MONTHS), 12)
            return f"{year}" if self.year_step == "year" else f"{year}-{month + 1:02d}"
        return told_place(value, self.kinds[number], self.ends[number])

    @property
    def target_name(self) -> str:
        """The target without its unit."""
        return printable(self.axes.target.name) or self.target

    def with_unit(self, text: str) -> str:
        """A value of the target with its unit."""
        unit = self.axes.target.unit
        return f"{text} {printable(unit)}" if unit else text


def labels_of(record: SelectionRecord) -> Labels:
    """The columns of a selection, with units and calendars as far as the data say."""
    given = record.feature_names or ("",) * record.num_inputs
    names = tuple(map(printable, given))
    target = printable(record.target_name or "")
    axes = axes_of(record)
    alone = len(names) == 1
    shown = tuple(
        name or ("input" if alone else f"input {number}") for number, name in enumerate(names, 1)
    )
    kinds = tuple(
        _kind(axis, place in record.time_inputs) for place, axis in enumerate(axes.inputs)
    )
    ends = tuple((axis.low or 0.0, axis.high or 0.0) for axis in axes.inputs)
    year_step = _year_step(record) if kinds == ("year",) else ""
    return Labels(shown, kinds, target or "target", axes, ends, _date_form(record), year_step)


def told_candidate(fit: LocalFit, record: SelectionRecord, labels: Labels) -> str:
    """What a candidate is made of, in a few words."""
    return printable(reading_of(fit, labels.axes, record.data[fit.warp].units))


def printable(text: str) -> str:
    """A text without characters that steer terminals or turn the direction of writing."""
    seen = (" " if sign in "\t\n\r" else sign for sign in text)
    return "".join(sign for sign in seen if unicodedata.category(sign) not in UNSEEN)


def _kind(axis: Axis, is_date: bool) -> AxisKind:
    if is_date:
        return "date"
    in_years = axis.is_time and (axis.unit or "").startswith("year")
    low, high = axis.low or 0.0, axis.high or 0.0
    return "year" if in_years and CALENDAR[0] <= low and high <= CALENDAR[1] else "number"


def _year_step(record: SelectionRecord) -> str:
    """What even steps of numbers in years are called."""
    if isinstance(record.rows.source, MissingRows):
        return ""
    X, _ = rows_of(record, MOST_ROWS)
    try:
        steps = find_steps(X[:, 0], is_time=False)
    except DataError:
        return ""
    first, second = steps.after(0.0, 2)
    per_year = 1.0 / (second - first)
    return YEAR_STEPS.get(round(per_year), "") if abs(per_year - round(per_year)) < 0.01 else ""


def _date_form(record: SelectionRecord) -> str:
    """How dates are written: as fine as they are in the rows."""
    if not record.time_inputs or isinstance(record.rows.source, MissingRows):
        return DAYS
    X, _ = rows_of(record, MOST_ROWS)
    return date_form(X[:, record.time_inputs[0]])

"""What the columns of the data are called, and what their numbers stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from vbks.words.numerals import counted
from vbks.words.phrases import listed

TIME_NAMES = ("date", "day", "ds", "hour", "month", "t", "time", "timestamp", "week", "year")
"""Names of columns that hold times, where nothing but the name is known."""

LONGEST_NAME = 4
"""Words of a column's name that a sentence repeats."""

MOST_NAMES = 3
"""Inputs that are named one by one."""


@dataclass(frozen=True)
class Axis:
    """An input column: its name, its unit, whether it is time, and the range that the data cover.

    With ``origin``, the date at zero, locations are told as dates; so are they where the unit is
    years and numbers are years of the calendar.
    """

    name: str = ""
    unit: str | None = None
    is_time: bool = False
    origin: date | None = None
    low: float | None = None
    high: float | None = None

    @property
    def range(self) -> float | None:
        """The length that the data cover."""
        return None if self.low is None or self.high is None else self.high - self.low


@dataclass(frozen=True)
class Target:
    """The column that is explained: its name and unit."""

    name: str = ""
    unit: str | None = None


@dataclass(frozen=True)
class Axes:
    """The columns of a data set and the warp of its target: identity, log, softplus or logit.

    ``at_level`` is how much the target changes around its level for each unit on the scale of such
    a warp; where it is known, sizes are told in the units of the target.
    """

    inputs: tuple[Axis, ...] = (Axis(),)
    target: Target = Target()
    warp: str = "identity"
    at_level: float | None = None

    @property
    def is_log(self) -> bool:
        """Whether parts are factors, since their logarithms add up."""
        return self.warp == "log"

    def __getitem__(self, number: int) -> Axis:
        """The input of a number, counted from 1; a nameless one where there is none."""
        return self.inputs[number - 1] if 0 < number <= len(self.inputs) else Axis()

    def name(self, number: int) -> str:
        """What an input is called in a sentence."""
        if name := readable_name(self[number].name):
            return name
        if self.tells_time(number):
            return "time"
        return f"input {number}" if len(self.inputs) > 1 or number > 1 else "the input"

    def names(self, numbers: tuple[int, ...]) -> str:
        """Names of inputs, or how many there are."""
        if len(numbers) > MOST_NAMES:
            return f"{counted(len(numbers))} inputs"
        return listed([self.name(number) for number in numbers])

    def tells_time(self, number: int) -> bool:
        """Whether an input is the only one that is time, so that "drift" says which it is."""
        return self[number].is_time and sum(axis.is_time for axis in self.inputs) == 1

    @property
    def main(self) -> int:
        """The number of the input along which things happen: time if there is one."""
        return next((n for n, axis in enumerate(self.inputs, 1) if axis.is_time), 1)

    def is_obvious(self, number: int) -> bool:
        """Whether a sentence need not say which input it is about."""
        alone = len(self.inputs) == 1 and number == 1
        return alone and (self[number].is_time or not readable_name(self[number].name))


def axes_of(names: Axes | Sequence[str]) -> Axes:
    """Axes of which only the names are known."""
    if isinstance(names, Axes):
        return names
    inputs = tuple(Axis(name, is_time=name.lower() in TIME_NAMES) for name in names)
    return Axes(inputs or (Axis(),))


def readable_name(name: str) -> str:
    """A column's name as it stands in a sentence: short, and in quotes if it is not plain words."""
    words = name.replace("_", " ").split()
    short = " ".join(words[:LONGEST_NAME]) + ("…" if len(words) > LONGEST_NAME else "")
    if re.fullmatch(r"[\w .…-]*", short):
        return short
    bare = " ".join(re.sub(r"[][(){}“”*+]", "", short).split())
    return f"“{bare}”" if bare else ""

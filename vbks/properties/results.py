"""Properties of data as plain values: probabilities, numbers with intervals, and densities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape

import pandas as pd

from vbks.arrays import Array
from vbks.properties.values import Density, Peak
from vbks.words import Estimate


@dataclass(frozen=True, eq=False, kw_only=True)
class Property:
    """Something that data may be like: how probable it is, and what it is then.

    The ``estimate`` is the median of the number that the property has, with the interval that holds
    90 % of the belief, and ``density`` its density, both given that the property is there and in
    ``unit``; None where there is no number, or where fits are points.
    """

    name: str
    probability: float
    sentence: str
    estimate: Estimate | None = None
    density: Density | None = None
    unit: str | None = None

    def __str__(self) -> str:
        return self.sentence

    @property
    def median(self) -> float | None:
        """The median of its number."""
        return None if self.estimate is None else self.estimate.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the interval that holds 90 % of the belief, where there is one."""
        if self.estimate is None or self.estimate.low is None or self.estimate.high is None:
            return None
        return self.estimate.low, self.estimate.high


@dataclass(frozen=True, eq=False, kw_only=True)
class Cycle(Property):
    """A cycle and its period, along an input; ``peaks`` are all periods that cycles may have."""

    input: str
    peaks: tuple[Peak, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Trend(Property):
    """A trend along an input: its probability is that of going up and that of going down together.

    Its number is how much the target changes from end to end, in the unit of the target.
    """

    input: str
    up: float
    down: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread(Property):
    """The size of swings or of noise, and whether it changes along an input.

    The probability is that it grows, shrinks, or varies without doing either, together. Its number
    is the size at the end of the data in that at their beginning. ``proportional`` is the
    probability that it follows the level because the target has a warp.
    """

    input: str
    grows: float
    shrinks: float
    varies: float
    proportional: float = 0.0
    places: Array | None = None
    """Where along the input ``profile`` is told, in the user's units: [G]."""
    profile: Array | None = None
    """The median of the size there, in that at the first place: [G]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Change(Property):
    """A change of character along an input and where it is; ``peaks`` are all places there may be.

    Places of dated rows are days since 1970, and ``dates`` the dates of the estimate.
    """

    input: str
    peaks: tuple[Peak, ...] = ()
    dates: tuple[datetime, ...] = ()
    """The lower end of the interval, the median and the upper end; the median alone of points."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Dependence(Property):
    """How the target depends on an input, or on several together; the number is its share of the
    variance."""

    inputs: tuple[str, ...]
    share: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Properties:
    """What data are like, as far as a belief over kernels says, with probabilities."""

    cycle: Cycle
    trend: Trend
    swings: Spread
    change: Change
    noise: Spread | None
    """None where the noise is part of a likelihood that is not Gaussian."""
    inputs: tuple[Dependence, ...]
    """Which inputs matter, in the order of the data."""
    pairs: tuple[Dependence, ...]
    """Which two inputs act together, the most probable first."""

    def __iter__(self) -> Iterator[Property]:
        noise = () if self.noise is None else (self.noise,)
        return iter(
            (self.cycle, self.trend, self.swings, self.change, *noise, *self.inputs, *self.pairs)
        )

    @property
    def table(self) -> pd.DataFrame:
        """A row for each property, with the median and the interval of its number."""
        return pd.DataFrame([_row(own) for own in self], columns=COLUMNS)

    def __str__(self) -> str:
        return "\n".join(str(own) for own in self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(own.name)}</td><td>{100 * own.probability:.0f} %</td>"
            f"<td style='text-align:left'>{escape(own.sentence)}</td></tr>"
            for own in self
        )
        head = "<tr><th>property</th><th>probability</th><th></th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


COLUMNS = ("property", "probability", "value", "low", "high", "unit", "sentence")


def _row(own: Property) -> dict[str, object]:
    low, high = own.interval or (None, None)
    return {
        "property": own.name,
        "probability": own.probability,
        "value": own.median,
        "low": low,
        "high": high,
        "unit": own.unit,
        "sentence": own.sentence,
    }

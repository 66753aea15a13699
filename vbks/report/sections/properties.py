"""What the data are like: cycles, trends, swings, changes, noise and inputs, with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vbks.predict.posteriors.averaging import Average
from vbks.properties.properties import properties_of
from vbks.properties.results import Change, Dependence, Properties, Property
from vbks.report.figures.scales import AxisKind
from vbks.report.labels import Labels, printable
from vbks.report.values import Numbers, numbers
from vbks.selection.components import MOST_AXIS_ROWS, axes_of
from vbks.selection.record import SelectionRecord

LEAST_DRAWN = 0.5
"""Densities are drawn of what is more probably there than not."""

LEAST_PAIR = 0.1
"""Pairs of inputs that act together with a smaller probability are left out."""

MOST_PAIRS = 8
"""No more pairs of inputs than this are told."""

DRAWN = {"cycle": "period", "trend": "rise over the data", "change": "place"}
"""Properties whose number has a picture, and what the number is."""


@dataclass(frozen=True)
class Likely:
    """The density of a number, and the interval that holds 90 % of it."""

    name: str
    unit: str
    kind: AxisKind
    x: Numbers
    density: Numbers
    low: float | None
    high: float | None


@dataclass(frozen=True)
class PropertyRow:
    """A property in a sentence, how probable it is, and its number where it has one."""

    name: str
    sentence: str
    probability: float
    median: float | None
    low: float | None
    high: float | None
    unit: str | None
    likely: Likely | None


@dataclass(frozen=True)
class PropertyRows:
    """Properties along the inputs, how inputs matter, and which of them act together."""

    rows: tuple[PropertyRow, ...]
    inputs: tuple[PropertyRow, ...] = ()
    pairs: tuple[PropertyRow, ...] = ()


def properties_shown(record: SelectionRecord, labels: Labels, average: Average) -> PropertyRows:
    """The properties of a selection; those of inputs where there are several."""
    X, _ = record.rows.source.sample(MOST_AXIS_ROWS, np.random.default_rng(0))
    found = properties_of(average, X, axes_of(record))
    if len(labels.inputs) == 1:
        return PropertyRows(tuple(_row(own, labels) for own in _along(found)))
    inputs = sorted(found.inputs, key=lambda own: -own.share)
    return PropertyRows(
        tuple(_row(own, labels) for own in _along(found) if own.probability >= LEAST_DRAWN),
        tuple(_row(own, labels) for own in inputs),
        tuple(_row(own, labels) for own in _probable(found.pairs)),
    )


def _along(found: Properties) -> tuple[Property, ...]:
    noise = () if found.noise is None else (found.noise,)
    return (found.cycle, found.trend, found.swings, found.change, *noise)


def _probable(pairs: Sequence[Dependence]) -> list[Dependence]:
    return [own for own in pairs if own.probability >= LEAST_PAIR][:MOST_PAIRS]


def _row(own: Property, labels: Labels) -> PropertyRow:
    low, high = own.interval or (None, None)
    return PropertyRow(
        printable(own.name),
        printable(own.sentence),
        own.probability,
        own.median,
        low,
        high,
        own.unit,
        _likely(own, labels),
    )


def _likely(own: Property, labels: Labels) -> Likely | None:
    """The density of the number of a property that is probably there."""
    density = own.density
    if own.name not in DRAWN or own.probability < LEAST_DRAWN or density is None:
        return None
    low, high = own.interval or (None, None)
    kind: AxisKind = labels.kinds[0] if isinstance(own, Change) else "number"
    unit = "" if kind in ("date", "year") else printable(own.unit or "")
    return Likely(
        DRAWN[own.name], unit, kind, numbers(density.x), numbers(density.density), low, high
    )

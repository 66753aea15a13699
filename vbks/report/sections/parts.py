"""What the function is made of: a row for each part, with pictures and what it explains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vbks.arrays import Array, Rows
from vbks.parts.averaging import REST
from vbks.parts.components import BASES, NORMAL_90, Component, Components, Decomposition
from vbks.parts.decomposing import decompose
from vbks.parts.sources import sources_of
from vbks.predict.posteriors.averaging import Average
from vbks.report.labels import Labels, printable
from vbks.report.sections.part_inputs import PartInputs, part_inputs
from vbks.report.values import Overlay, Points, Series, numbers
from vbks.selection.components import axes_of, believed_mixture
from vbks.selection.record import SelectionRecord
from vbks.words import Axes
from vbks.words.numerals import counted

LEAST_WARP = 0.01
"""Parts under warps with less of the belief are left out."""

MOST_PARTS = 12
"""Parts that have a row under each warp: the most important ones."""

MANY_ROWS, FEW_SAMPLES = 300, 16
"""Of more rows, parts are averaged over about this many samples of θ, which a page can wait for;
bands of more samples differ by less than a line is wide."""

MOST_NAMED = 3
"""A part on more inputs is called by their number."""

MOST_DOTS = 1000
"""Up to this many rows are drawn; of more rows, evenly spread ones are."""


@dataclass(frozen=True)
class PartRow:
    """A part: what it is, how probable, what it explains, and its posterior where it can be drawn.

    Numbers that are not known are None. Pictures show it as it is in kernels that have it.
    """

    name: str
    sentence: str
    inputs: tuple[str, ...]
    probability: float
    """Of being there, on whatever scale."""
    share: float
    """Of the variance of all parts and of what is left."""
    r2: float | None
    r2_gain: float | None
    residual_r2: float | None
    mae: float | None
    """Of this part and those before it, at rows left out."""
    mae_gain: float | None
    spark: Series | None
    spark_ends: tuple[str, str]
    whole: Series | None
    closer: Series | None
    """A stretch in which single cycles can be seen."""
    sum_so_far: Overlay | None
    left: Overlay | None


@dataclass(frozen=True)
class WarpParts:
    """Parts under one warp: whether they are added or multiplied, and where they begin."""

    warp: str
    is_factor: bool
    probability: float
    base: tuple[str, ...]
    base_mae: float
    parts: tuple[PartRow, ...]
    rest: str = ""
    """What has no row, if there is something."""

    @property
    def has_pictures(self) -> bool:
        """Whether some of the parts can be drawn."""
        return any(part.spark is not None for part in self.parts)

    @property
    def goes_on(self) -> bool:
        """Whether pictures go on where the data end."""
        return any(part.whole is not None and part.whole.end is not None for part in self.parts)


@dataclass(frozen=True)
class Parts:
    """Parts under each warp that counts, the most probable first."""

    target: str
    summary: tuple[str, ...]
    """Three to five sentences on all parts together."""
    warps: tuple[WarpParts, ...]

    @property
    def main(self) -> WarpParts:
        """The parts under the most probable warp."""
        return self.warps[0]


def average_of(record: SelectionRecord) -> Average:
    """The average with the belief, with fewer samples of θ where rows are many."""
    average = believed_mixture(record).average
    if record.num_rows <= MANY_ROWS:
        return average
    return replace(average, num_samples=min(average.num_samples, FEW_SAMPLES))


def parts_of(record: SelectionRecord, labels: Labels, average: Average) -> Parts:
    """The parts of the averaged function."""
    axes = axes_of(record)
    periods = _periods(average, axes) if record.num_inputs == 1 else ()
    where = part_inputs(record, labels, periods)
    return parts_shown(decompose(average, where.X, axes, record.mean_function), where, labels)


def parts_shown(found: Components, where: PartInputs, labels: Labels) -> Parts:
    """Rows and pictures of components at inputs that were chosen for them."""
    counted = [own for own in found.decompositions if own.belief >= LEAST_WARP]
    return Parts(
        labels.target,
        tuple(map(printable, found.summary)),
        tuple(_warp_parts(own, where, labels) for own in counted),
    )


def _periods(average: Average, axes: Axes) -> tuple[float, ...]:
    """Periods of all cycles along the only input, those of the most probable kernels first."""
    return tuple(
        period
        for sources in sources_of(average, axes).values()
        for source in sources
        for kind in source.kinds
        for period in kind.periods
        if math.isfinite(period)
    )


def _warp_parts(own: Decomposition, where: PartInputs, labels: Labels) -> WarpParts:
    base = [part for part in own.components if part.kind in BASES]
    others = [part for part in own.components if part.kind not in (*BASES, REST.name)]
    shown = others[:MOST_PARTS]
    return WarpParts(
        own.warp,
        own.effect == "factor",
        own.belief,
        tuple(printable(str(part.sentence)) for part in base),
        base[-1].contribution.mae,
        tuple(_row(own, part, number, where, labels) for number, part in enumerate(shown, 1)),
        _rest(own.components, len(others) - len(shown)),
    )


def _rest(parts: Sequence[Component], num_others: int) -> str:
    """A sentence on parts that have no row."""
    if num_others:
        return f"{counted(num_others).capitalize()} more explain less, and are not shown."
    rare = [part for part in parts if part.kind == REST.name]
    return f"{rare[0].sentence.summary.removesuffix('.')}, are not shown." if rare else ""


def _row(
    own: Decomposition, part: Component, number: int, where: PartInputs, labels: Labels
) -> PartRow:
    added = part.contribution
    place = part.places[0] if len(part.places) == 1 else None
    whole = spark = closer = None
    if place is not None:
        whole = _series(part, where.along(place), place, where, labels)
        window = where.closer(part.part, place)
        closer = None if window is None else _series(part, window, place, where, labels)
        spark = closer or whole
    ends = ("", "") if spark is None else _ends(spark, labels, place or 0)
    sum_so_far, left = _sums(own, number, where, labels) if where.is_curve else (None, None)
    return PartRow(
        name=_name(part, labels),
        sentence=printable(str(part.sentence)),
        inputs=tuple(labels.inputs[own] for own in part.places),
        probability=min(1.0, part.probability + part.part.elsewhere),
        share=added.share,
        r2=_known(added.r2),
        r2_gain=_known(added.r2_gain),
        residual_r2=_known(added.residual_r2),
        mae=_known(added.mae),
        mae_gain=_known(added.mae_gain),
        spark=spark,
        spark_ends=ends,
        whole=whole,
        closer=closer,
        sum_so_far=sum_so_far,
        left=left,
    )


def _name(part: Component, labels: Labels) -> str:
    """What a part is called; one of many inputs by how many they are."""
    num = len(part.places)
    if num <= MOST_NAMED:
        return printable(part.reading)
    return f"{'all ' if num == len(labels.inputs) else ''}{counted(num)} inputs together"


def _series(part: Component, rows: Rows, place: int, where: PartInputs, labels: Labels) -> Series:
    """The posterior of a part over the input that it depends on."""
    mean, sd = part.given_mean[rows], part.given_sd[rows]
    ends = mean - NORMAL_90 * sd, mean + NORMAL_90 * sd
    is_factor = part.effect == "factor"
    low, middle, high = (np.exp(v) if is_factor else v for v in (ends[0], mean, ends[1]))
    return Series(
        labels.inputs[place],
        scale_name(part.effect, part.warp, labels),
        labels.kinds[place],
        numbers(where.X[rows, place]),
        numbers(middle),
        numbers(low),
        numbers(high),
        where.end,
        1.0 if is_factor else 0.0,
        "factor" if is_factor else "number",
    )


def scale_name(effect: str, warp: str, labels: Labels) -> str:
    """What the values of parts are."""
    if effect == "factor":
        return f"factor of {labels.target}"
    return labels.target if warp == "identity" else f"{warp} of {labels.target}"


def _ends(series: Series, labels: Labels, place: int) -> tuple[str, str]:
    return labels.place(series.grid[0], place), labels.place(series.grid[-1], place)


def _sums(
    own: Decomposition, number: int, where: PartInputs, labels: Labels
) -> tuple[Overlay, Overlay]:
    """The sum of the base and the first parts over the data, and what these leave of it."""
    x, y = own.rows.X[:, 0], own.rows.targets
    rows = where.along(0)
    name, kind = labels.inputs[0], labels.kinds[0]
    shown = _evenly(x)
    line = Points(numbers(where.X[rows, 0]), numbers(own.cumulative(number)[rows]))
    dots = Points(numbers(x[shown]), numbers(y[shown]))
    left = Points(numbers(x[shown]), numbers(own.residuals(number)[shown]))
    return (
        Overlay(name, labels.target, kind, dots, line, where.end),
        Overlay(name, labels.target, kind, left, has_zero=True),
    )


def _evenly(x: Array) -> Rows:
    """Places of rows in their order, of many evenly spread ones."""
    order = np.argsort(x, kind="stable")
    places = np.linspace(0, len(x) - 1, min(len(x), MOST_DOTS)).round().astype(int)
    return np.asarray(order[places])


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None

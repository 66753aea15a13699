"""What pictures of the parts of a function show, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vbks.arrays import Array
from vbks.data.sources import Values
from vbks.data.times import instants
from vbks.errors import DataError
from vbks.parts.axes import split_unit
from vbks.parts.components import NORMAL_90, Component, Decomposition
from vbks.parts.decomposing import MOST_ROWS
from vbks.selection.components import components_at
from vbks.selection.new_inputs import read_new_inputs
from vbks.selection.plot_data import grid_beyond
from vbks.selection.record import SelectionRecord

NUM_PLACES = 240
"""A part is drawn at this many places of the only input."""

PLACES_OF_MANY = 60
"""And at this many places of each of several inputs."""

MOST_INPUTS = 3
"""A part on more inputs than this is drawn over those that move it most."""

LEAST_PROBABILITY = 0.01
"""Parts that are less probable are not drawn."""

ENDS = (0.01, 0.99)
"""Parts are drawn between these quantiles of several inputs, so that no outlier stretches them."""


@dataclass(frozen=True, eq=False)
class PartCurve:
    """A part over an input: ends of a 90 % interval and medians [G, 3] at places [G].

    Beside it are rows x [N], and what all other parts leave of their targets, unless that is not
    on the scale of the parts: a likelihood with a link only has a mean there.
    """

    input_name: str
    places: Values
    band: Array
    x: Values
    partial: Array | None


@dataclass(frozen=True, eq=False)
class PartPicture:
    """A part, and the sum of the parts so far with what it leaves.

    ``fit`` [G, 3] has the ends of 90 % intervals and medians of that sum over the only input, or at
    the rows [N, 3] where there are several; ``residuals`` [N] are what it leaves of the targets.
    """

    title: str
    curves: tuple[PartCurve, ...]
    fit: Array
    residuals: Array


@dataclass(frozen=True, eq=False)
class PartPictures:
    """Pictures of all parts of one warp, the most important first."""

    parts: tuple[PartPicture, ...]
    targets: Array
    target_name: str
    unit_name: str
    """What parts are measured in: the target, factors of it, or the scale of a warp."""
    end: Any
    """Where the data end, if there is one input."""


def part_pictures(
    record: SelectionRecord, X: Any = None, num_parts: int = 6, warp: str | None = None
) -> PartPictures:
    """Pictures of the parts under a warp, or under the most probable one."""
    if num_parts < 1:
        raise DataError(f"num_parts is {num_parts}, expected at least 1 part to draw.")
    alone = record.num_inputs == 1
    if X is not None and not alone:
        raise DataError(
            f"X can be drawn over one input, and there are {record.num_inputs}. Leave it out to "
            "see each part over its inputs, or call components(X)."
        )
    if X is not None:
        inputs = read_new_inputs(record, X)
        inputs = inputs[np.argsort(inputs[:, 0], kind="stable")]
    else:
        inputs, _ = record.rows.source.sample(MOST_ROWS, np.random.default_rng(0))
        if alone:
            inputs = grid_beyond(inputs[:, 0], NUM_PLACES)[:, np.newaxis]
    found = components_at(record, inputs)
    own = found.main if warp is None else found.of_warp(warp)
    drawer = _Pictures(record, own)
    parts = own.components[: -own.num_base] or own.components[-1:]
    most = sum(part.probability >= LEAST_PROBABILITY for part in parts) or 1
    return PartPictures(
        tuple(drawer.part(place) for place in range(min(num_parts, most))),
        own.rows.targets,
        record.target_name or "target",
        drawer.unit_name,
        drawer.shown(own.rows.X[:, :1].max(axis=0), 0)[0] if alone else None,
    )


@dataclass(frozen=True, eq=False)
class _Pictures:
    record: SelectionRecord
    own: Decomposition

    @property
    def unit_name(self) -> str:
        """What parts are measured in."""
        name = self.record.target_name or "target"
        if self.own.effect == "factor":
            return f"factor of {split_unit(name)[0]}"
        return name if self.own.axes.warp == "identity" else f"{self.own.axes.warp} of {name}"

    def part(self, place: int) -> PartPicture:
        """A part, and the sum of all up to it."""
        part = self.own.components[place]
        alone = self.record.num_inputs == 1
        num = place + 1 if place < len(self.own.components) - self.own.num_base else 0
        told = [course.input - 1 for course in part.part.courses]
        dims = (0,) if alone else tuple(dict.fromkeys((*told, *part.places)))[:MOST_INPUTS]
        return PartPicture(
            f"{part.reading} ({100 * part.probability:.0f} %)",
            tuple(self._curve(place, part, dim) for dim in dims),
            self.own.cumulative_band(num),
            self.own.residuals(num),
        )

    def _curve(self, place: int, part: Component, dim: int) -> PartCurve:
        """A part over the only input, or over one of several with the others in their middle."""
        names = self.record.feature_names or [
            "input" if self.record.num_inputs == 1 else f"input {number}"
            for number in range(1, self.record.num_inputs + 1)
        ]
        rows = self.own.rows
        if self.record.num_inputs == 1:
            inputs, band = self.own.X, part.band
        else:
            inputs = np.tile(np.median(rows.X, axis=0), (PLACES_OF_MANY, 1))
            low, high = (float(end) for end in np.quantile(rows.X[:, dim], ENDS))
            inputs[:, dim] = np.linspace(low, high, PLACES_OF_MANY)
            mean, sd = self.own.moments([place], inputs)
            band = self._shown_values(mean[:, np.newaxis] + np.outer(sd, NORMAL_90 * STEPS))
        partial = None
        if rows.observed is not None:
            partial = self._shown_values(rows.observed - rows.means.sum(axis=0) + rows.means[place])
        return PartCurve(
            names[dim],
            self.shown(inputs[:, dim], dim),
            band,
            self.shown(rows.X[:, dim], dim),
            partial,
        )

    def _shown_values(self, values: Array) -> Array:
        return np.exp(values) if self.own.effect == "factor" else values

    def shown(self, x: Array, dim: int) -> Values:
        """Values of an input as they were given: instants, or numbers."""
        return instants(x) if dim in self.record.time_inputs else x


STEPS = np.array([-1.0, 0.0, 1.0])

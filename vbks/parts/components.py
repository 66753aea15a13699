"""Parts of an averaged function in the units of the data, and what each explains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
import pandas as pd

from vbks.arrays import Array
from vbks.errors import DataError
from vbks.parts.contributions import Contribution
from vbks.words import Axes, Part, Sentence, Values
from vbks.words.summaries import summarise

NORMAL_90 = 1.6448536269514722
"""A normal variable is within this many standard deviations of its mean in nine cases of ten."""

Effect = Literal["added", "factor"]
"""Whether parts add up, or multiply each other, their logarithms adding up."""


@dataclass(frozen=True, eq=False)
class Component:
    """An additive part of the function, averaged over all kernels under one warp.

    Means and standard deviations [N] are on the scale where parts add up: that of the target, of
    its warp, or of the link of a likelihood. Under a logarithm parts are factors of the target,
    which `factors` has. Kernels that do not have the part count as zero in ``mean`` and ``sd``, so
    that means of all parts add up to that of the function; ``given_mean`` and ``given_sd`` are of
    the kernels that have it.
    """

    reading: str
    """What it is in a few words."""
    sentence: Sentence
    """What it is, with periods, lengthscales and sizes in the units of the data."""
    kind: str
    """A level, cycle, trend, curve, or function of another family."""
    inputs: tuple[str, ...]
    """The names of the inputs that it depends on."""
    warp: str
    effect: Effect
    probability: float
    """The belief in kernels that have it."""
    mean: Array
    sd: Array
    given_mean: Array
    given_sd: Array
    contribution: Contribution
    acts: tuple[float, float] | None
    """From where to where along the first input it acts, or along time; None if all over."""
    kernels: tuple[str, ...]
    """The candidates that have it, the most probable first."""
    part: Part
    """What `vbks.words` was told of it."""
    places: tuple[int, ...] = ()
    """The inputs that it depends on, counted from 0, those of its changes included."""

    def __str__(self) -> str:
        return str(self.sentence)

    @property
    def share(self) -> float:
        """Its share of the variance."""
        return self.contribution.share

    @property
    def factors(self) -> Array:
        """Medians and ends of 90 % intervals of what it multiplies the target with: [N, 3]."""
        if self.effect != "factor":
            raise DataError(f"'{self.reading}' is added to other parts: it is no factor.")
        steps = np.array([-NORMAL_90, 0.0, NORMAL_90])
        return np.asarray(np.exp(self.mean[:, np.newaxis] + self.sd[:, np.newaxis] * steps))

    @property
    def band(self) -> Array:
        """Ends of 90 % intervals and medians as they are shown, [N, 3]: factors, or added."""
        if self.effect == "factor":
            return self.factors
        steps = np.array([-NORMAL_90, 0.0, NORMAL_90])
        return np.asarray(self.mean[:, np.newaxis] + self.sd[:, np.newaxis] * steps)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the data, and what parts say of them under one warp.

    X is in the user's units, ``targets`` [N] are those that were given; ``means`` [P, N] are those
    of the parts, in the order of the components. ``observed`` [N] are the targets on the scale
    where parts add up; there are none where a likelihood has a link.
    """

    X: Array
    targets: Array
    means: Array
    observed: Array | None = None


class Posterior(Protocol):
    """The joint posterior of parts, by their places, on the scale where they add up."""

    def covariance(self, first: int, second: int, X: Array) -> Array:
        """The covariance [N, N] of two parts at inputs, or of one with itself."""
        ...

    def moments(self, places: Sequence[int], X: Array) -> tuple[Array, Array]:
        """Mean and standard deviation [N] of the sum of some parts at inputs."""
        ...


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The function under one warp as a sum of parts, at inputs X [N, D].

    Parts come in the order in which they lower the error of rows that are left out most; the last
    are those that every sum begins with: the mean function, if there is one, and the level.
    """

    warp: str
    effect: Effect
    belief: float
    """The belief in the warp."""
    X: Array
    axes: Axes
    """The columns, and the scale on which parts add up."""
    components: tuple[Component, ...]
    rows: Rows
    response: Callable[[Array], Array] = field(repr=False)
    """What sums of parts are in the units of the target."""
    posterior: Posterior = field(repr=False)
    """The joint posterior of the parts at any inputs."""
    trend: Values | None = None
    """How its lines and curves along time, or the only input, go together."""

    @property
    def num_base(self) -> int:
        """How many parts every sum begins with."""
        return sum(part.kind in BASES for part in self.components)

    @property
    def total(self) -> Array:
        """The mean of the function, on the scale where parts add up: [N]."""
        return np.asarray(np.sum([part.mean for part in self.components], axis=0))

    def cumulative(self, num_parts: int | None = None) -> Array:
        """The sum of the base and the first parts, or of all, in the units of the target: [N]."""
        return self.response(self._sum(np.stack([c.mean for c in self.components]), num_parts))

    def residuals(self, num_parts: int | None = None) -> Array:
        """What the base and the first parts, or all, leave of the targets of `rows`: [N]."""
        return self.rows.targets - self.response(self._sum(self.rows.means, num_parts))

    def covariance(self, first: int, second: int | None = None) -> Array:
        """The posterior covariance [N, N] of two parts at X, or of one with itself.

        It is on the scale where parts add up, over kernels and their hyperparameters.
        """
        return self.posterior.covariance(first, first if second is None else second, self.X)

    def moments(self, places: Sequence[int], X: Array) -> tuple[Array, Array]:
        """Mean and standard deviation [N] of the sum of some parts at inputs in the user's units.

        They are on the scale where parts add up.
        """
        return self.posterior.moments(places, X)

    def cumulative_band(self, num_parts: int | None = None) -> Array:
        """Ends of 90 % intervals and medians of the sum of the base and the first parts: [N, 3].

        They are in the units of the target; intervals are those of the function, without noise.
        """
        mean, sd = self.moments(self.first(num_parts), self.X)
        steps = np.array([-NORMAL_90, 0.0, NORMAL_90])
        return self.response(mean[:, np.newaxis] + sd[:, np.newaxis] * steps)

    @property
    def summary(self) -> tuple[str, ...]:
        """Three to five sentences on the parts that are probably there."""
        last = [part.contribution.r2 for part in self.components[: -self.num_base]]
        parts = [part.part for part in self.components if part.kind not in BASES]
        return summarise(parts, self.axes, last[-1] if last else None, self.trend)

    def first(self, num_parts: int | None = None) -> list[int]:
        """Places of the first parts, or of all, and of the base."""
        most = len(self.components) - self.num_base
        num = most if num_parts is None else num_parts
        if not 0 <= num <= most:
            raise DataError(f"num_parts is {num}, expected a number of parts from 0 to {most}.")
        return [*range(num), *range(most, len(self.components))]

    def _sum(self, means: Array, num_parts: int | None) -> Array:
        return np.asarray(means[self.first(num_parts)].sum(axis=0))


@dataclass(frozen=True, eq=False)
class Components:
    """The parts of a function, for each warp of the belief, the most probable warp first."""

    decompositions: tuple[Decomposition, ...]
    axes: Axes

    def __len__(self) -> int:
        return sum(len(own.components) for own in self.decompositions)

    def __iter__(self) -> Iterator[Component]:
        return (part for own in self.decompositions for part in own.components)

    def __getitem__(self, place: int) -> Component:
        return tuple(self)[place]

    @property
    def main(self) -> Decomposition:
        """The parts under the most probable warp."""
        return self.decompositions[0]

    def of_warp(self, name: str) -> Decomposition:
        """The parts under a warp."""
        names = [own.warp for own in self.decompositions]
        if name not in names:
            raise DataError(f"no kernel with the warp '{name}' counts. Known: {', '.join(names)}.")
        return self.decompositions[names.index(name)]

    @property
    def summary(self) -> tuple[str, ...]:
        """Three to five sentences on the parts under the most probable warp."""
        return self.main.summary

    @property
    def table(self) -> pd.DataFrame:
        """A row for each part, as figure 1.12 of the chapter on ABCD has them.

        ``effect`` says whether parts are added or factors. ``r2`` is that of the parts so far under
        the warp, which this one has raised by ``r2_gain``, ``residual_r2`` of what was left;
        ``mae`` is their mean absolute error at rows left out, lowered by the share ``mae_gain``.
        """
        return pd.DataFrame([_row(part) for part in self], columns=COLUMNS)

    def __str__(self) -> str:
        return "\n".join(f"{number}. {part}" for number, part in enumerate(self, start=1))


COLUMNS = (
    "part",
    "kind",
    "warp",
    "effect",
    "probability",
    "share",
    "r2",
    "r2_gain",
    "residual_r2",
    "mae",
    "mae_gain",
    "acts_from",
    "acts_to",
)

BASES = ("level", "mean function")
"""Kinds of parts that every sum begins with."""


def _row(part: Component) -> dict[str, object]:
    added, ends = part.contribution, part.acts or (None, None)
    return {
        "part": part.reading,
        "kind": part.kind,
        "warp": part.warp,
        "effect": part.effect,
        "probability": part.probability,
        "share": added.share,
        "r2": added.r2,
        "r2_gain": added.r2_gain,
        "residual_r2": added.residual_r2,
        "mae": added.mae,
        "mae_gain": added.mae_gain,
        "acts_from": ends[0],
        "acts_to": ends[1],
    }

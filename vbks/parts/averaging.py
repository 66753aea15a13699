"""Parts of all kernels under one warp: which are the same one, and their average."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vbks.arrays import Array
from vbks.data.units import Units
from vbks.parts.kinds import Kind, match
from vbks.parts.posteriors import part_covariance, part_means, part_variances
from vbks.parts.sources import Source, weight_of
from vbks.words import Part

RARE = 0.01
"""Parts that fewer than this share of the kernels under a warp have, by their weights, are put
together."""

MOST_STEPS = 60_000_000_000
"""Steps of arithmetic for variances of all components: some seconds."""

LEVEL, REST = Kind("level"), Kind("rest")


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and standard deviations [P, N] of the parts, with zero where a kernel has them not.

    ``given`` are those of the kernels alone that have the part.
    """

    mean: Array
    sd: Array
    given_mean: Array
    given_sd: Array


@dataclass(frozen=True, eq=False)
class MatchedParts:
    """The parts of the kernels of one warp: their kinds, and where each kernel has them.

    ``groups`` has for each source the terms of each part that it has, by the place of the part.
    The first part is the level, which all have: it has the mean of the data.
    """

    sources: tuple[Source, ...]
    kinds: tuple[Kind, ...]
    parts: tuple[Part, ...]
    groups: tuple[dict[int, list[int]], ...]

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def units(self) -> Units:
        """The units of the rows under the warp."""
        return self.sources[0].posteriors.units

    @cached_property
    def weight(self) -> float:
        """The share of the warp in the whole average."""
        return weight_of(self.sources)

    @cached_property
    def probabilities(self) -> Array:
        """The share of the weights under the warp of those that have each part: [P]."""
        found = np.zeros(len(self))
        for source, groups in self.pairs():
            found[list(groups)] += source.weight / self.weight
        found[0] = 1.0
        return np.minimum(found, 1.0)

    def kernels(self, place: int) -> tuple[str, ...]:
        """The expressions that have a part, the most probable first."""
        own = [str(s.fit.expression) for s, groups in self.pairs() if place in groups]
        every = [str(s.fit.expression) for s in self.sources]
        return tuple(dict.fromkeys(every if place == 0 else own))

    def means(self, X: Array) -> Array:
        """Means of the parts at standardised inputs, on the scale of the warp: [P, N]."""
        return self.averaged(self.component_means(X), len(X))

    def component_means(self, X: Array) -> list[Array]:
        """Means of the parts [S, G, N] of the components of each source that has any."""
        return [part_means(source, list(groups.values()), X) for source, groups in self.pairs()]

    def averaged(self, component_means: Sequence[Array], num_rows: int) -> Array:
        """The average of means of components, on the scale of the warp: [P, N]."""
        found = np.zeros((len(self), num_rows))
        for (source, groups), means in zip(self.pairs(), component_means, strict=True):
            found[list(groups)] += np.einsum("s,sgn->gn", source.weights / self.weight, means)
        return self.restored(found)

    def moments(self, X: Array) -> Moments:
        """Means and standard deviations of the parts, on the scale of the warp."""
        first, second = self._sums(list(self.pairs()), len(self), X)
        share = np.maximum(self.probabilities, 1e-300)[:, np.newaxis]
        scale = self.units.y_scale
        return Moments(
            self.restored(first),
            scale * _root(second - first**2),
            self.restored(first / share),
            scale * _root(second / share - (first / share) ** 2),
        )

    def sum_moments(self, places: Sequence[int], X: Array) -> tuple[Array, Array]:
        """Mean and standard deviation [N] of the sum of some parts, on the scale of the warp."""
        together = (
            (source, [term for place in places for term in groups.get(place, [])])
            for source, groups in self.pairs()
        )
        pairs = [(source, {0: terms}) for source, terms in together if terms]
        (first,), (second,) = self._sums(pairs, 1, X)
        level = self.units.y_mean if 0 in places else 0.0
        scale = self.units.y_scale
        return scale * first + level, scale * _root(second - first**2)

    def _sums(
        self, pairs: Sequence[tuple[Source, dict[int, list[int]]]], num_parts: int, X: Array
    ) -> tuple[Array, Array]:
        """First and second moments [P, N] of standardised parts over all components.

        Means are those of all components. Where matrices are large, variances are of the first of
        the most probable sources, one at least for each part.
        """
        counts = _num_with_variances(pairs, X)
        first, second, spread = np.zeros((3, num_parts, len(X)))
        has, known = np.zeros((2, num_parts))
        for (source, groups), count in zip(pairs, counts, strict=True):
            own, weights = list(groups), source.weights / self.weight
            means = part_means(source, list(groups.values()), X)
            first[own] += np.einsum("s,sgn->gn", weights, means)
            second[own] += np.einsum("s,sgn->gn", weights, means**2)
            has[own] += weights.sum()
            if count:
                kept = np.arange(count)
                share = weights[kept] * (weights.sum() / weights[kept].sum())
                variances = part_variances(source, list(groups.values()), X, kept)
                spread[own] += np.einsum("s,sgn->gn", share, variances)
                known[own] += weights.sum()
        ratio = np.divide(has, known, out=np.zeros(num_parts), where=known > 0.0)
        return first, second + spread * ratio[:, np.newaxis]

    def covariance(self, first: int, second: int, X: Array) -> Array:
        """The covariance [N, N] of two parts, or of one with itself, on the scale of the warp."""
        total, means = np.zeros((len(X), len(X))), np.zeros((2, len(X)))
        for source, groups in self.pairs():
            weights = source.weights / self.weight
            own = [place for place in (first, second) if place in groups]
            found = {p: part_means(source, [groups[p]], X)[:, 0] for p in own}
            for row, place in enumerate((first, second)):
                means[row] += weights @ found[place] if place in found else 0.0
            if first in groups and second in groups:
                covariances = part_covariance(source, groups[first], groups[second], X)
                total += np.einsum("s,sij->ij", weights, covariances)
                total += (weights * found[first].T) @ found[second]
        return np.asarray((total - np.outer(*means)) * self.units.y_scale**2)

    def amplitudes(self, component_means: Sequence[Array]) -> Iterator[tuple[Array, Array]]:
        """For each part its standard deviation over inputs in each component, and their weights."""
        sizes: list[list[Array]] = [[] for _ in self.kinds]
        weights: list[list[Array]] = [[] for _ in self.kinds]
        for (source, groups), means in zip(self.pairs(), component_means, strict=True):
            for row, place in enumerate(groups):
                sizes[place].append(self.units.y_scale * means[:, row].std(axis=-1))
                weights[place].append(source.weights)
        for size, weight in zip(sizes, weights, strict=True):
            yield np.concatenate([*size, []]), np.concatenate([*weight, []])

    def pairs(self) -> Iterator[tuple[Source, dict[int, list[int]]]]:
        """Sources that have a part with a kernel, and the terms of their parts."""
        pairs = zip(self.sources, self.groups, strict=True)
        return ((source, groups) for source, groups in pairs if groups)

    def restored(self, standardised: Array) -> Array:
        """Means on the scale of the warp: the level has that of the data."""
        found = standardised * self.units.y_scale
        found[0] += self.units.y_mean
        return found


def matched(sources: Sequence[Source]) -> MatchedParts:
    """The parts of sources under one warp, which are in the order of their weights."""
    found, places = match([source.kinds for source in sources], sources[0].axes)
    new_places, kinds = _places(found, _shares(places, sources))
    parts = {place: Part(()) for place in range(len(kinds))}
    groups: list[dict[int, list[int]]] = [{} for _ in sources]
    is_named = [kind not in (LEVEL, REST) for kind in kinds]
    for n, source in reversed(list(enumerate(sources))):
        for number, old in enumerate(places[n]):
            new = new_places[old]
            groups[n].setdefault(new, []).extend(source.groups[number])
            if is_named[new]:
                parts[new] = source.parts[number]
    return MatchedParts(tuple(sources), kinds, tuple(parts.values()), tuple(groups))


def _shares(places: Sequence[Sequence[int]], sources: Sequence[Source]) -> dict[int, float]:
    """The share of the weights that has each kind."""
    shares: dict[int, float] = {}
    for source, own in zip(sources, places, strict=True):
        for place in own:
            shares[place] = shares.get(place, 0.0) + source.weight / weight_of(sources)
    return shares


def _places(
    found: Sequence[Kind], shares: dict[int, float]
) -> tuple[dict[int, int], tuple[Kind, ...]]:
    """The place of each kind among those that are told, and these: the level is the first.

    Rare ones have the last place together.
    """
    others = [place for place, kind in enumerate(found) if not kind.is_level]
    rare = [place for place in others if shares[place] < RARE]
    named = [place for place in others if place not in rare]
    kinds = (LEVEL, *(found[place] for place in named), *((REST,) if rare else ()))
    new = {place: 0 for place in range(len(found))}
    new.update({place: number for number, place in enumerate(named, start=1)})
    if rare:
        new.update(dict.fromkeys(rare, len(kinds) - 1))
    return new, kinds


def _num_with_variances(
    pairs: Sequence[tuple[Source, dict[int, list[int]]]], X: Array
) -> list[int]:
    """How many components of each source have variances of their own: all unless that is much."""
    num_columns = max((len(groups) for _, groups in pairs), default=0) * len(X)
    num_rows = max((len(source.posteriors.Z) for source, _ in pairs), default=0)
    affordable = MOST_STEPS // max(1, num_rows**2 * num_columns)
    sizes = [len(source.places) for source, _ in pairs]
    if affordable >= sum(sizes):
        return sizes
    total = weight_of([source for source, _ in pairs])
    counts, known = [], set[int]()
    for (source, groups), size in zip(pairs, sizes, strict=True):
        is_new = not known.issuperset(groups)
        count = max(int(is_new), round(affordable * source.weight / total))
        counts.append(min(size, count))
        known |= set(groups) if count else set()
    return counts


def _root(variances: Array) -> Array:
    return np.asarray(np.sqrt(np.maximum(variances, 0.0)))

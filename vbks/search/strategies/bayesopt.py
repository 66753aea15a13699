"""Bayesian optimisation for automated model selection (Malkomes, Schaff and Garnett, 2016)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

import numpy as np

from vbks.arrays import Array
from vbks.grammar.expression import Leaf
from vbks.inference.proposal import Proposal, Structure, pairs_of, structure_of
from vbks.inference.result import LocalFit
from vbks.search.protocol import SearchState
from vbks.search.strategies.hellinger import Grams, HellingerDistances
from vbks.search.strategies.neighbours import untried, walks
from vbks.search.strategies.pool import PoolSearch
from vbks.search.strategies.surrogate import Prediction, choose_batch, fit_surrogate, normal_scores

BATCH = 4
"""Candidates that are fitted together: more would be chosen with less known, and fewer would be
slower."""

PARENTS = 3
"""The best so far whose children are in a growing pool, as in BOMS."""

FIRST_WALKS = 15
"""Random walks whose ends are in a growing pool at first, as in BOMS."""

WALKS_PER_FIT = 3
"""Random walks whose ends every fit adds to a growing pool, so that there is always something new
far from the best."""


@dataclass(frozen=True)
class BayesianOptimisation(PoolSearch):
    """Fits next what a Gaussian process over kernels expects most improvement from.

    Kernels are near to each other whose priors for functions are, which ``grams`` tells. Candidates
    are the members of a ``pool``; without one, children of the best and the ends of random walks.
    A candidate that could not be fitted is not tried again, and nothing is learnt from it.
    """

    batch_size: int = BATCH
    grams: Grams = field(kw_only=True)

    def propose(self, state: SearchState) -> tuple[SearchState, tuple[Proposal, ...]]:
        """Single leaves first, then the candidates of the highest expected improvement."""
        first = tuple(untried(self._first(), state))
        if first:
            return state, first
        candidates = tuple(untried(self._candidates(state), state))
        if not candidates:
            ending = "all members of the space were tried"
            if not self.is_finite:
                ending = "neither children of the best kernels nor random walks are new"
            return replace(state, ending=ending), ()
        fitted = [fit for fit in state.fitted() if math.isfinite(fit.log_evidence())]
        chosen = self._chosen(fitted, candidates) if fitted else candidates[: self.batch_size]
        return state, self._begun(chosen, state)

    @cached_property
    def _hellinger(self) -> HellingerDistances:
        return HellingerDistances(self.grams)

    def _first(self) -> tuple[Proposal, ...]:
        """Single leaves, or some members of a pool that has none."""
        if self.pool is None:
            return pairs_of(self._space.leaves(), self.warps)
        leaves = [expression for expression in self.pool if isinstance(expression, Leaf)]
        return pairs_of(leaves, self.warps) or self._members[: self.batch_size]

    def _candidates(self, state: SearchState) -> Iterator[Proposal]:
        if self.pool is not None:
            yield from self._members
            return
        for parent in state.fitted()[:PARENTS]:
            for child in self._space.of(structure_of(parent)[0]):
                yield Proposal(child, parent.warp, parent)
        num_walks = FIRST_WALKS + WALKS_PER_FIT * len(state.fits)
        yield from islice(walks(self._space, self.warps, self.seed), num_walks)

    def _chosen(self, fitted: Sequence[LocalFit], candidates: Sequence[Proposal]) -> list[Proposal]:
        """A batch of the candidates, the most promising first."""
        seen = [structure_of(fit) for fit in fitted]
        unseen = [proposal.structure for proposal in candidates]
        self._hellinger.keep([expression for expression, _ in (*seen, *unseen)])
        values = normal_scores(np.array([fit.log_evidence("laplace") for fit in fitted]))
        known = self._squared_distances(seen, seen)
        model = fit_surrogate(known, values)
        cross = self._squared_distances(seen, unseen)
        places = choose_batch(
            Prediction(model, known, values, cross),
            float(values.max()),
            lambda place: self._squared_distances(unseen[place : place + 1], unseen)[0],
            self.batch_size,
        )
        return [candidates[place] for place in places]

    def _squared_distances(self, rows: Sequence[Structure], columns: Sequence[Structure]) -> Array:
        """Between priors for functions; another warp is as far away as another prior can be."""
        between = self._hellinger([e for e, _ in rows], [e for e, _ in columns])
        apart = np.array([[a != b for _, b in columns] for _, a in rows], float)
        return np.asarray(between + apart)

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
from vbks.search.strategies.acquisition import EXPECTED_IMPROVEMENT, Acquisition
from vbks.search.strategies.hellinger import Grams, HellingerDistances
from vbks.search.strategies.neighbours import untried, walks
from vbks.search.strategies.pool import PoolSearch
from vbks.search.strategies.surrogate import (
    PRIOR,
    Prediction,
    SurrogatePrior,
    choose_batch,
    fit_surrogate,
    normal_scores,
)


@dataclass(frozen=True)
class BayesianOptimisation(PoolSearch):
    """Fits next what an acquisition prefers, given a Gaussian process over kernels.

    Kernels are near to each other whose priors for functions are, which ``grams`` tells. Candidates
    are the members of a ``pool``; without one, children of the best and the ends of random walks.
    A candidate that could not be fitted is not tried again, and nothing is learnt from it.
    """

    batch_size: int = 4
    """Candidates that are fitted together: more would be chosen with less known, and fewer would be
    slower."""
    grams: Grams = field(kw_only=True)
    acquisition: Acquisition = EXPECTED_IMPROVEMENT
    """Scores candidates by what is expected of them; the highest are fitted next."""
    num_parents: int = 3
    """A growing pool has the children of this many of the best so far, as in BOMS."""
    first_walks: int = 15
    """A growing pool has the ends of this many random walks at first, as in BOMS."""
    walks_per_fit: int = 3
    """Every fit adds the ends of this many random walks to a growing pool, so that there is always
    something new far from the best."""
    surrogate_prior: SurrogatePrior = PRIOR
    """What is believed of the Gaussian process before there are any fits."""

    def propose(self, state: SearchState) -> tuple[SearchState, tuple[Proposal, ...]]:
        """Single leaves first, then the candidates of the highest acquisition."""
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
        for parent in state.fitted()[: self.num_parents]:
            for child in self._space.of(structure_of(parent)[0]):
                yield Proposal(child, parent.warp, parent)
        num_walks = self.first_walks + self.walks_per_fit * len(state.fits)
        yield from islice(walks(self._space, self.warps, self.seed), num_walks)

    def _chosen(self, fitted: Sequence[LocalFit], candidates: Sequence[Proposal]) -> list[Proposal]:
        """A batch of the candidates, the most promising first."""
        seen = [structure_of(fit) for fit in fitted]
        unseen = [proposal.structure for proposal in candidates]
        self._hellinger.keep([expression for expression, _ in (*seen, *unseen)])
        values = normal_scores(np.array([fit.log_evidence("laplace") for fit in fitted]))
        known = self._squared_distances(seen, seen)
        model = fit_surrogate(known, values, self.surrogate_prior)
        cross = self._squared_distances(seen, unseen)
        places = choose_batch(
            Prediction(model, known, values, cross),
            float(values.max()),
            lambda place: self._squared_distances(unseen[place : place + 1], unseen)[0],
            self.batch_size,
            self.acquisition,
        )
        return [candidates[place] for place in places]

    def _squared_distances(self, rows: Sequence[Structure], columns: Sequence[Structure]) -> Array:
        """Between priors for functions; another warp is as far away as another prior can be."""
        between = self._hellinger([e for e, _ in rows], [e for e, _ in columns])
        apart = np.array([[a != b for _, b in columns] for _, a in rows], float)
        return np.asarray(between + apart)

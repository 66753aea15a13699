"""What figures 3b and 4b compare: ways to a kernel that all train by the steps of the paper."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmarks.paper_experiments.training import Sizes, Stop, stops
from vbks.data.training import TrainingData
from vbks.grammar.expression import Expression
from vbks.inference.choices import make_context
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.prior_grams import prior_grams
from vbks.inference.settings import FitSettings
from vbks.search.protocol import SearchState
from vbks.search.strategies.bayesopt import BayesianOptimisation


@dataclass(frozen=True)
class Training:
    """How candidates are trained: settings, sizes, and the steps after which they are scored."""

    settings: PaperSettings
    sizes: Sizes
    counts: tuple[int, ...]
    seed: int

    def of(
        self, rows: TrainingData, kernels: Sequence[Expression], counts: Sequence[int] = ()
    ) -> Iterator[Stop]:
        """Candidates after each of the counts."""
        own = counts or self.counts
        return stops(rows, kernels, self.settings, self.sizes, self.seed, own)


def random_choice(
    rows: TrainingData, space: Sequence[Expression], training: Training
) -> Iterator[Stop]:
    """A kernel at random from the space."""
    place = int(np.random.default_rng(training.seed).integers(len(space)))
    return training.of(rows, [space[place]])


def bayesian_optimisation(
    rows: TrainingData,
    space: Sequence[Expression],
    training: Training,
    rounds: int,
    steps: int,
) -> Iterator[Stop]:
    """The kernel that Bayesian optimisation has found so far.

    In each round some kernels are trained for so many steps, by whose bounds the next are chosen.
    In the end the best is trained as long as all others.
    """
    began = time.perf_counter()
    comparison, _ = make_context(
        rows, 1, FitSettings(inference="collapsed", ard=False, seed=training.seed)
    )
    strategy = BayesianOptimisation(
        rows.num_inputs,
        pool=tuple(space),
        grams=partial(prior_grams, context=comparison),
        seed=training.seed,
    )
    state, seconds, best = SearchState(), time.perf_counter() - began, None
    for _ in range(rounds):
        began = time.perf_counter()
        state, proposals = strategy.propose(state)
        if not proposals:
            break
        (stop,) = training.of(rows, [own.expression for own in proposals], (steps,))
        state = strategy.absorb(state, stop.selection.fits)
        best = strategy.best(state)
        seconds += time.perf_counter() - began
        if best is not None:
            yield Stop(steps, seconds, replace(stop.selection, fits=(best,)))
    if best is not None:
        (stop,) = training.of(rows, [best.expression], training.counts[-1:])
        yield replace(stop, seconds=seconds + stop.seconds)

"""Which constants of a synthetic problem let the true kernel be found at all.

They are the first of the problem's grid for which the evidence of exact fits, by Laplace around the
best θ, puts the true kernel first among K12 in nine of ten draws. These draws are none of those
that are shown. Exact fits of 12 kernels to all 1,000 rows of many draws would take hours, so they
are to the first of the rows only; rows are in a random order. As rows have no noise, the evidence
is that with the least noise that exact fits can have, a variance of 1e-8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import vbks
from benchmarks.door.telling import tell
from benchmarks.paper_experiments.problems import Constants, Problem, draw_rows, prepared
from vbks.data.warps import Identity
from vbks.grammar.canonical import canonical
from vbks.inference.evaluator import Evaluator
from vbks.inference.proposal import pairs_of
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitSettings, FitStage

NUM_DRAWS, NUM_FIRST = 10, 9
"""Draws, and in how many of them the true kernel has to be first."""

RESTARTS = 24
"""Starts of each candidate, and more of those with several waves."""

CHOICE = 1
"""Sets the random numbers of this choice apart from those of the experiment."""

Mapped = Callable[..., Iterable[Any]]
"""`map`, or that of a pool of processes."""


@dataclass(frozen=True)
class Choice:
    """The constants that were chosen, and how that came."""

    constants: Constants
    num_first: int
    """Draws in which exact evidence puts the true kernel first."""
    num_draws: int
    num_tried: int
    suffices: bool


def first_that_suffices(
    candidates: Sequence[Constants],
    count: Callable[[Constants], tuple[int, int]],
    num_first: int = NUM_FIRST,
) -> Choice:
    """The first candidate for which enough draws agree, or the one with the largest share.

    ``count`` tells in how many of how many draws the true kernel is first.
    """
    best: Choice | None = None
    for tried, own in enumerate(candidates, 1):
        first, draws = count(own)
        choice = Choice(own, first, draws, tried, first >= num_first)
        if choice.suffices:
            return choice
        if best is None or first * best.num_draws > best.num_first * draws:
            best = choice
    if best is None:
        raise ValueError("there are no constants to choose from.")
    return Choice(best.constants, best.num_first, best.num_draws, len(candidates), suffices=False)


def count_until_lost(
    is_first: Callable[[int], bool],
    num_draws: int,
    num_first: int,
    at_once: int,
    mapped: Mapped = map,
) -> tuple[int, int]:
    """Draws in which the true kernel is first, and draws made; it ends where too many are lost."""
    found: list[bool] = []
    while len(found) < num_draws and found.count(False) <= num_draws - num_first:
        found += mapped(is_first, range(len(found), min(len(found) + at_once, num_draws)))
    return found.count(True), len(found)


def choose(
    problem: Problem, num_rows: int, max_tried: int, seed: int, at_once: int, mapped: Mapped
) -> Choice:
    """Constants by exact evidence on so many rows, of the first ``max_tried`` of the grid."""

    def count(own: Constants) -> tuple[int, int]:
        is_first = partial(exact_is_first, problem, own, num_rows, seed)
        first, draws = count_until_lost(is_first, NUM_DRAWS, NUM_FIRST, at_once, mapped)
        tell(f"{problem.text}, {own}: exact evidence is right in {first} of {draws}")
        return first, draws

    return first_that_suffices(problem.constants[:max_tried], count)


def exact_is_first(problem: Problem, own: Constants, num_rows: int, seed: int, number: int) -> bool:
    """Whether exact evidence puts the true kernel first in a draw of that number."""
    X, y = draw_rows(problem, own, np.random.default_rng([seed, number, CHOICE]))
    rows = prepared((X[:num_rows], y[:num_rows]))
    evaluator = Evaluator({Identity(): rows}, FitSettings(seed=number, restarts=RESTARTS))
    stage = FitStage("exact", "laplace")
    fits = evaluator.fit(pairs_of(vbks.K12, (Identity(),)), stage)
    return canonical(best_of(fits).expression) == problem.truth


def best_of(fits: Iterable[LocalFit]) -> LocalFit:
    """The fit of the highest evidence."""
    fitted = [fit for fit in fits if fit.status == "fitted"]
    return max(fitted, key=lambda fit: fit.log_evidence())

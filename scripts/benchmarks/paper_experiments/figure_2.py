"""Figure 2: belief in the kernel that made the data, on two synthetic problems, in K12 and K144.

Constants are chosen by exact evidence alone, as `constants` says. Then the paper's method, with its
minibatches of 32, is given 16 inducing points, and as many as suffice: the first of `LADDER` with
which the collapsed bound, the best that it can reach with these points, puts the true kernel first
in nine of ten draws. Proportions are of the minibatches that training uses, 15,000 as the authors
have them. Beside it is what `vbks.fit` does by default. Structures count as true if their canonical
form is that of the true kernel. The usual size has ten draws for K12, four of them for `vbks.fit`,
none for K144, and the first nine constants of the grid.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import vbks
from benchmarks.door.figure import Figure
from benchmarks.door.telling import tell
from benchmarks.door.workers import one_for_each_core, usable_cores
from benchmarks.paper_experiments.constants import (
    NUM_DRAWS,
    NUM_FIRST,
    Choice,
    Mapped,
    best_of,
    choose,
    count_until_lost,
)
from benchmarks.paper_experiments.problems import (
    NUM_ROWS,
    PRODUCT,
    SUM,
    Constants,
    Problem,
    draw_rows,
    prepared,
)
from benchmarks.paper_experiments.training import Sizes, watched
from vbks.arrays import Array
from vbks.data.warps import Identity
from vbks.grammar.canonical import canonical
from vbks.grammar.expression import Expression
from vbks.inference.evaluator import Evaluator
from vbks.inference.inducing import authors_inducing
from vbks.inference.proposal import pairs_of
from vbks.inference.settings import FitSettings, FitStage

SPACES: Mapping[str, Sequence[Expression]] = {"K12": vbks.K12, "K144": vbks.K144}

NUM_INDUCING, BATCH_SIZE = 16, 32
"""As in the paper."""

LADDER = (16, 24, 32, 48, 64, 96)
"""Inducing points that are tried."""

ASKED_BELIEF = 0.8
"""About what the paper's figure ends with."""

RESTARTS = 8
"""Starts of each candidate for the collapsed bound."""

SHOWN = 2
"""Sets the random numbers of the experiment apart from those of the choice of constants."""

PAPER, DEFAULT_CALL = "paper", "vbks.fit"


@dataclass(frozen=True)
class Size:
    """Draws in each space for the paper's method and for ours, steps, and how constants are chosen.

    ``more_draws`` are those with as many inducing points as suffice, among K12.
    """

    problem: Problem
    draws: Mapping[str, int]
    default_draws: Mapping[str, int]
    more_draws: int
    steps: Mapping[str, int]
    parts: int
    ladder: tuple[int, ...]
    ladder_draws: int
    exact_rows: int
    max_tried: int
    num_rows: int = NUM_ROWS


USUAL = Size(
    PRODUCT,
    draws={"K12": 10},
    default_draws={"K12": 4},
    more_draws=3,
    steps={"K12": 15_000},
    parts=15,
    ladder=LADDER,
    ladder_draws=NUM_DRAWS,
    exact_rows=64,
    max_tried=9,
)
FULL = Size(
    PRODUCT,
    draws={"K12": 10, "K144": 10},
    default_draws={"K12": 10, "K144": 10},
    more_draws=10,
    steps={"K12": 15_000, "K144": 15_000},
    parts=30,
    ladder=LADDER,
    ladder_draws=NUM_DRAWS,
    exact_rows=256,
    max_tried=135,
)
QUICK = Size(
    SUM,
    draws={"K12": 1},
    default_draws={"K12": 1},
    more_draws=1,
    steps={"K12": 100},
    parts=2,
    ladder=(16, 24),
    ladder_draws=1,
    exact_rows=24,
    max_tried=1,
    num_rows=100,
)


@dataclass(frozen=True)
class Outcome:
    """One draw: whether the true structure is first, and the belief in it against data used."""

    is_first: bool
    shares: tuple[float, ...]
    beliefs: tuple[float, ...]


@dataclass(frozen=True)
class Draws:
    """The draws of a problem that are shown."""

    problem: Problem
    constants: Constants
    num_rows: int
    seed: int

    def rows(self, number: int) -> tuple[Array, Array]:
        """Inputs [N, 1] and targets [N] of one of them."""
        rng = np.random.default_rng([self.seed, number, SHOWN])
        return draw_rows(self.problem, self.constants, rng, self.num_rows)


def measure(size: Size, seed: int) -> list[Figure]:
    """Beliefs in the true structure of a problem."""
    with _workers(size) as mapped:
        return list(_measure(size.problem, size, seed, mapped))


@contextmanager
def _workers(size: Size) -> Iterator[Mapped]:
    """Draws side by side, as their times are not what is measured; a single one here."""
    if max(size.draws.values()) == 1:
        yield map
        return
    with one_for_each_core() as workers:
        yield workers.map


def _measure(problem: Problem, size: Size, seed: int, mapped: Mapped) -> Iterator[Figure]:
    at_once = usable_cores()
    choice = _timed(
        f"{problem.text}: constants",
        lambda: choose(problem, size.exact_rows, size.max_tried, seed, at_once, mapped),
    )
    yield _choice_figure(problem, choice, size)
    draws = Draws(problem, choice.constants, size.num_rows, seed)
    for space, num in size.draws.items():
        one = partial(by_paper, draws, space, NUM_INDUCING, size.steps[space], size.parts)
        yield from _outcomes(problem, space, f"{PAPER}, M={NUM_INDUCING}", mapped, one, num)
    smallest = _timed(
        f"{problem.text}: smallest M",
        lambda: smallest_that_suffices(draws, size, at_once, mapped),
    )
    yield _smallest_figure(problem, smallest, size)
    if smallest and smallest > NUM_INDUCING:
        one = partial(by_paper, draws, "K12", smallest, size.steps["K12"], size.parts)
        label = f"{PAPER}, M that suffices"
        yield from _outcomes(problem, "K12", label, mapped, one, size.more_draws)
    for space, num in size.default_draws.items():
        one = partial(by_default, draws, space)
        yield from _outcomes(problem, space, DEFAULT_CALL, mapped, one, num)


def _timed(what: str, work: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    result = work()
    tell(f"{what}: {time.perf_counter() - began:.0f} s: {result}")
    return result


def _outcomes(
    problem: Problem,
    space: str,
    label: str,
    mapped: Mapped,
    one: Callable[[int], Outcome],
    num: int,
) -> list[Figure]:
    where = name_of(problem.text, space, label)
    outcomes = _timed(where, lambda: list(mapped(one, range(num))))
    return list(_outcome_figures(where, outcomes, is_paper=label.startswith(PAPER)))


def by_paper(
    draws: Draws, space: str, num_inducing: int, steps: int, parts: int, number: int
) -> Outcome:
    """One draw, with the paper's method."""
    settings = vbks.PaperSettings(steps=steps, every=max(1, steps // parts))
    sizes = Sizes(num_inducing, BATCH_SIZE)
    rows = prepared(draws.rows(number))
    history = watched(rows, SPACES[space], settings, sizes, number).belief_history
    beliefs = [_beliefs(record.expressions, record.probabilities) for record in history]
    truth = draws.problem.truth
    return Outcome(
        max(beliefs[-1], key=lambda structure: beliefs[-1][structure]) == truth,
        tuple(record.step / steps for record in history),
        tuple(belief[truth] for belief in beliefs),
    )


def by_default(draws: Draws, space: str, number: int) -> Outcome:
    """One draw, with `vbks.fit` as it is."""
    X, y = draws.rows(number)
    selection = vbks.fit(X, y, space=SPACES[space], seed=number, progress=False)
    beliefs = _beliefs([fit.expression for fit in selection.fits], selection.probabilities)
    first = max(beliefs, key=lambda structure: beliefs[structure])
    truth = draws.problem.truth
    return Outcome(first == truth, (1.0,), (beliefs[truth],))


def smallest_that_suffices(draws: Draws, size: Size, at_once: int, mapped: Mapped) -> int | None:
    """The smallest number of inducing points of the ladder that can tell the true kernel."""
    least = max(1, size.ladder_draws * NUM_FIRST // NUM_DRAWS)
    text = draws.problem.text
    for num_inducing in size.ladder:
        is_first = partial(collapsed_is_first, draws, num_inducing)
        first, made = count_until_lost(is_first, size.ladder_draws, least, at_once, mapped)
        tell(f"{text}, M={num_inducing}: the collapsed bound is right in {first} of {made}")
        if first >= least:
            return num_inducing
    return None


def collapsed_is_first(draws: Draws, num_inducing: int, number: int) -> bool:
    """Whether the best bound with the authors' inducing inputs puts the true kernel first."""
    rows = prepared(draws.rows(number))
    X, _ = rows.arrays()
    Z = authors_inducing(X, num_inducing, np.random.default_rng(number))
    evaluator = Evaluator(
        {Identity(): rows}, FitSettings(inducing=Z, seed=number, restarts=RESTARTS)
    )
    stage = FitStage("collapsed", "laplace")
    best = best_of(evaluator.fit(pairs_of(vbks.K12, (Identity(),)), stage))
    return canonical(best.expression) == draws.problem.truth


def _beliefs(expressions: Sequence[Expression | str], values: Array) -> dict[Expression, float]:
    """Beliefs summed over the copies of each structure."""
    beliefs: dict[Expression, float] = {}
    for expression, value in zip(expressions, values, strict=True):
        structure = canonical(expression)
        beliefs[structure] = beliefs.get(structure, 0.0) + float(value)
    return beliefs


def _choice_figure(problem: Problem, choice: Choice, size: Size) -> Figure:
    return Figure(
        f"Figure 2, {problem.text}: constants tried",
        choice.num_tried,
        f"of {len(problem.constants)}",
        f"exact evidence is right in at least {NUM_FIRST} of {NUM_DRAWS} draws",
        f"{choice.constants}; right in {choice.num_first} of {choice.num_draws}, "
        f"on {size.exact_rows} of the rows",
        choice.suffices,
    )


def _smallest_figure(problem: Problem, smallest: int | None, size: Size) -> Figure:
    return Figure(
        f"Figure 2, {problem.text}: inducing points that suffice",
        smallest or 0,
        "" if smallest else "as none of those tried does",
        None,
        f"by the collapsed bound in {size.ladder_draws} draws; tried {size.ladder}",
        smallest is not None,
    )


def _outcome_figures(where: str, outcomes: Sequence[Outcome], is_paper: bool) -> Iterator[Figure]:
    num = len(outcomes)
    yield Figure(f"{where}: true kernel first", sum(o.is_first for o in outcomes), f"of {num}")
    mean = float(np.mean([o.beliefs[-1] for o in outcomes]))
    yield Figure(
        f"{where}: belief in it at the end, mean",
        mean,
        "",
        f"about {ASKED_BELIEF:g}" if is_paper else None,
        f"from {min(o.beliefs[-1] for o in outcomes):.3f} "
        f"to {max(o.beliefs[-1] for o in outcomes):.3f}",
        mean >= ASKED_BELIEF if is_paper else None,
    )
    if is_paper:
        medians = np.median([o.beliefs for o in outcomes], axis=0)
        for share, median in zip(outcomes[0].shares, medians, strict=True):
            yield Figure(point_name(where, share), float(median), "")


def name_of(problem: str, space: str, label: str) -> str:
    """How figures of one problem, space and method begin."""
    return f"Figure 2, {problem}, {space}, {label}"


def point_name(where: str, share: float) -> str:
    """The name of a point of a curve."""
    return f"{where}: median belief in it after {share:.3f} of the data"

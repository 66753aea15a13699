"""The ways of choosing kernels: how each proposes candidates, fits them and judges them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.segments import segments
from vbks.data.warps import Warp
from vbks.errors import DataError, check_one_of
from vbks.grammar.additive import additive_form
from vbks.grammar.canonical import canonical
from vbks.grammar.expression import Expression
from vbks.grammar.families import BASE_FAMILIES, GROWN_FAMILIES
from vbks.grammar.moves import ABCD_MOVES, CKS_MOVES, noisy_children
from vbks.inference.prior_grams import prior_grams
from vbks.inference.result import Bound, Correction
from vbks.inference.settings import compare
from vbks.search.budget import Budget
from vbks.search.method import Method, Task, one_stage, refuse_space
from vbks.search.plan import Plan
from vbks.search.protocol import Strategy
from vbks.search.runner import Search
from vbks.search.strategies.acquisition import Acquisition, acquisition_of
from vbks.search.strategies.across_depths import AcrossDepths
from vbks.search.strategies.bayesopt import BayesianOptimisation
from vbks.search.strategies.constraints import StructureConstraints
from vbks.search.strategies.fixed import FixedSpace
from vbks.search.strategies.greedy import Form, Greedy
from vbks.search.strategies.grow import Changes, Growing
from vbks.search.strategies.interval import SKC_FAMILIES, IntervalSearch
from vbks.search.strategies.random import RandomChoice

USUAL_SECONDS = 100.0
"""Seconds for growing on up to `USUAL_ROWS` rows when no budget is given; beyond, they grow with
the square root of the rows."""

USUAL_ROWS = 1000
"""Rows up to which growing takes `USUAL_SECONDS` when no budget is given."""

USUAL_EVALUATIONS = 50
"""Candidates that Bayesian optimisation and random choice try: what the authors of BOMS allow."""

SKC_INDUCING = 160
"""Inducing points of SKC on its larger data sets."""

SKC_RESTARTS = 10

CHANGE_ROWS = 4000
"""Rows at most in which changes are looked for, and between the ends of which they have to be."""

ABCD_FAMILIES = ("SE", "LIN", "PER0", "C", "WN")
"""ABCD's base kernels; what it calls PER has no constant part."""


@dataclass(frozen=True)
class VBKS(Method):
    """Variational Bayesian kernel selection over a space that grows, or a fixed one."""

    name = "vbks"

    def strategy(self, task: Task) -> Strategy:
        """All of a fixed space, or what the data favour."""
        if task.space is not None:
            return FixedSpace(task.space, task.warps)
        words = task.words(GROWN_FAMILIES)
        shown = {warp: _changes(task, warp) for warp in task.warps}
        changes = {warp: changes for warp, changes in shown.items() if any(changes)}
        X, _ = task.rows.sample(CHANGE_ROWS, np.random.default_rng(0))
        return Growing(
            task.warps, task.rows.num_inputs, words, changes=changes,
            constraints=StructureConstraints.in_rows(X, repeats=0),
        )  # fmt: skip

    def plan(self, task: Task, num_expected: int) -> Plan:
        """Quick fits for all, and the best that are possible for those that remain."""
        return Plan.of(
            task.rows, num_expected, task.inference, task.posterior, task.num_inducing,
            task.settings,
        )  # fmt: skip

    def budget(self, task: Task) -> Budget:
        """All of a fixed space; growing ends after a while."""
        if task.space is not None:
            return Budget()
        return Budget(seconds=USUAL_SECONDS * math.sqrt(max(1.0, task.rows.num_rows / USUAL_ROWS)))


@dataclass(frozen=True)
class _GreedyMethod(Method):
    """What CKS and ABCD share: exact fits of points, judged by a criterion."""

    criterion: Correction = "bic"

    def plan(self, task: Task, num_expected: int) -> Plan:
        """Exact fits of points."""
        return one_stage(task, "exact", held_out=self.criterion == "held_out")

    def settings(self, task: Task) -> dict[str, Any]:
        """Likelihoods are maximised, unless the evidence is asked for."""
        return {"prior": "vbks" if self.criterion == "laplace" else "flat"}


@dataclass(frozen=True)
class CKS(_GreedyMethod):
    """Compositional kernel search (Duvenaud et al., 2013): greedy, maximum likelihood, BIC.

    ``criterion`` may also be "aic", "aicc", "laplace" (the evidence, under our priors) or
    "held_out" (the log density of rows given the others).
    """

    max_depth: int = 10
    name = "cks"

    def strategy(self, task: Task) -> Strategy:
        """From the best of one round to the best of its children."""
        refuse_space(self, task)
        words = task.words(BASE_FAMILIES)
        return Greedy(
            task.rows.num_inputs, words, CKS_MOVES, self.criterion, self.max_depth, task.warps
        )


_FORMS: dict[str, tuple[Form, ...]] = {
    "accuracy": (additive_form, canonical),
    "interpretability": (additive_form,),
}
"""In which forms the variants of ABCD try candidates. Without sums of products, which share no
parameters, searches ended 12 BIC units higher on the airline series and 20 on Mauna Loa."""


@dataclass(frozen=True)
class ABCD(_GreedyMethod):
    """Automatic Bayesian covariance discovery (Lloyd et al., 2014), the automatic statistician.

    CKS in a language with constants, noise, change points and windows, which refuses periods and
    changes that the data do not show. Candidates of the "interpretability" variant are sums of
    products; the "accuracy" variant tries others, too, once none of these scores higher.
    """

    variant: Literal["accuracy", "interpretability"] = "accuracy"
    max_depth: int = 10
    name = "abcd"

    def strategy(self, task: Task) -> Strategy:
        """Greedy by all moves, over fits that show."""
        refuse_space(self, task)
        check_one_of("variant", self.variant, _FORMS)
        words = task.words(ABCD_FAMILIES)
        X, _ = task.rows.arrays()
        return Greedy(
            task.rows.num_inputs, words, ABCD_MOVES, self.criterion, self.max_depth, task.warps,
            forms=_FORMS[self.variant], constraints=StructureConstraints.in_rows(X),
            expand=noisy_children,
        )  # fmt: skip


@dataclass(frozen=True)
class SKC(Method):
    """Scalable kernel composition (Kim and Teh, 2018): intervals of BIC for many rows.

    ``uppers`` is how many of each round, the best by their lower bounds, get an upper bound, for
    which all pairs of rows are looked at; 0 is SKC-LB. Without ``wait``, workers that have nothing
    else to do fit children of the best so far while the last upper bounds of a depth are computed
    (appendix G); what is tried then depends on the order in which fits are done.
    """

    criterion: Correction = "bic"
    max_depth: int = 6
    buffer: int = 3
    uppers: int = 1_000_000
    wait: bool = field(default=True, repr=False)
    name = "skc"

    @property
    def search(self) -> type[Search]:
        """What runs it."""
        return Search if self.wait else AcrossDepths

    def strategy(self, task: Task) -> Strategy:
        """The best, and those that it cannot be told from."""
        refuse_space(self, task)
        words = task.words(SKC_FAMILIES)
        return IntervalSearch(task.rows.num_inputs, words, self.max_depth, self.buffer, task.warps)

    def plan(self, task: Task, num_expected: int) -> Plan:
        """Collapsed fits of points."""
        return one_stage(task, "collapsed", uppers=self.uppers)

    def settings(self, task: Task) -> dict[str, Any]:
        """The paper's priors and restarts, and rows at random as inducing inputs."""
        num = min(task.num_inducing or SKC_INDUCING, task.rows.num_rows)
        return {"prior": "skc", "restarts": SKC_RESTARTS, "inducing": _some_rows(task, num)}


@dataclass(frozen=True)
class _FewEvaluations(Method):
    """What Bayesian optimisation and random choice share: some fits, as good as they can be."""

    batch_size: int = 4

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise DataError(f"batch_size is {self.batch_size}. Try at least 1 candidate at once.")

    def plan(self, task: Task, num_expected: int) -> Plan:
        """The tightest fits that are quick enough, around points."""
        return one_stage(task, _usual_bound(task, USUAL_EVALUATIONS))

    def budget(self, task: Task) -> Budget:
        """As many evaluations as the authors of BOMS allow."""
        return Budget(candidates=USUAL_EVALUATIONS)


@dataclass(frozen=True)
class BO(_FewEvaluations):
    """Bayesian optimisation over kernels (Malkomes, Schaff and Garnett, 2016).

    ``acquisition`` says which candidates are worth fitting: "ei", the expected improvement, "ucb",
    an upper confidence bound, or a `vbks.search.Acquisition`. One with a checkpoint should print
    alike in every process, as a frozen dataclass does, or have a name.
    """

    acquisition: str | Acquisition = "ei"
    name = "bo"

    def __post_init__(self) -> None:
        super().__post_init__()
        acquisition_of(self.acquisition)

    def strategy(self, task: Task) -> Strategy:
        """Where evidence is expected to improve, by how alike kernels are."""
        words = task.words(BASE_FAMILIES)
        comparison, _ = compare(task.rows, 1, inference="collapsed", **task.settings)

        def grams(expressions: Sequence[Expression]) -> Array:
            return prior_grams(expressions, comparison)

        return BayesianOptimisation(
            task.rows.num_inputs, words, pool=task.space, warps=task.warps, grams=grams,
            batch_size=self.batch_size, seed=task.settings.get("seed", 0),
            acquisition=acquisition_of(self.acquisition),
        )  # fmt: skip


@dataclass(frozen=True)
class RandomSearch(_FewEvaluations):
    """Candidates at random: what every search should beat."""

    batch_size: int = 8
    name = "random"

    def strategy(self, task: Task) -> Strategy:
        """Members of the space, or walks through the grammar, at random."""
        words = task.words(BASE_FAMILIES)
        return RandomChoice(
            task.rows.num_inputs, words, pool=task.space, warps=task.warps,
            batch_size=self.batch_size, seed=task.settings.get("seed", 0),
        )  # fmt: skip


METHODS: dict[str, Callable[[], Method]] = {
    "vbks": VBKS,
    "cks": CKS,
    "skc": SKC,
    "abcd": ABCD,
    "bo": BO,
    "random": RandomSearch,
}
"""Methods by their names in `vbks.fit`."""


def method_of(method: str | Method) -> Method:
    """A method from its name, with its usual settings, or as it is given."""
    if not isinstance(method, str):
        return method
    check_one_of("method", method, METHODS)
    return METHODS[method]()


def _usual_bound(task: Task, num_candidates: int) -> Bound:
    """The tightest bound that is affordable for ``num_candidates`` candidates."""
    comparison, _ = compare(
        task.rows, num_candidates, num_inducing=task.num_inducing, **task.settings
    )
    return comparison.bound


def _changes(task: Task, warp: Warp) -> Changes:
    """Along which inputs some of the rows show changes."""
    if not task.settings["likelihood"].is_gaussian:
        return Changes()
    rng = np.random.default_rng(task.settings.get("seed", 0))
    X, y = task.rows.warped(warp).sample(CHANGE_ROWS, rng)
    shown = [segments(x, y) for x in X.T]
    for_good = (d for d, (points, _) in enumerate(shown, 1) if points)
    for_a_while = (d for d, (_, windows) in enumerate(shown, 1) if windows)
    return Changes(tuple(for_good), tuple(for_a_while))


def _some_rows(task: Task, num: int) -> Array:
    """Standardised inputs of rows at random, each once: [M, D]."""
    rng = np.random.default_rng([task.settings.get("seed", 0), num])
    X, _ = task.rows.sample(num, rng)
    return np.unique(X, axis=0)

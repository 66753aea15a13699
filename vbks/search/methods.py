"""The ways of choosing kernels: how each proposes candidates, fits them and judges them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.segments import segments
from vbks.data.warps import Warp
from vbks.errors import SettingsError, check_one_of
from vbks.execution.fingerprint import NOT_IN_FITS
from vbks.grammar.additive import additive_form
from vbks.grammar.canonical import canonical
from vbks.grammar.expression import Expression
from vbks.grammar.families import BASE_FAMILIES, GROWN_FAMILIES
from vbks.grammar.moves import ABCD_MOVES, CKS_MOVES, noisy_children
from vbks.inference.bounds.preconditioners import PRECONDITIONERS, Preconditioner
from vbks.inference.choices import bound_of
from vbks.inference.context import FitContext
from vbks.inference.evaluator import Evaluator, FollowUp
from vbks.inference.prior_grams import prior_grams
from vbks.inference.result import Correction
from vbks.inference.seeds import Seed
from vbks.inference.settings import FitSettings, ThetaPrior
from vbks.search import follow_ups
from vbks.search.budget import Budget
from vbks.search.method import Method, one_stage, refuse_space
from vbks.search.plan import Plan
from vbks.search.problem import SearchProblem
from vbks.search.protocol import Strategy
from vbks.search.runner import SearchRunner
from vbks.search.strategies.acquisition import Acquisition, acquisition_of
from vbks.search.strategies.across_depths import AcrossDepths
from vbks.search.strategies.bayesopt import BayesianOptimisation
from vbks.search.strategies.constraints import StructureConstraints
from vbks.search.strategies.first_candidates import clear_cycles, first_candidates
from vbks.search.strategies.fixed import FixedSpace
from vbks.search.strategies.greedy import Form, Greedy
from vbks.search.strategies.grow import Changes, Growing
from vbks.search.strategies.interval import SKC_FAMILIES, IntervalSearch
from vbks.search.strategies.random import RandomChoice
from vbks.weights.settings import BeliefSettings

ABCD_FAMILIES = ("SE", "LIN", "PER0", "C", "WN")
"""ABCD's base kernels; what it calls PER has no constant part."""


@dataclass(frozen=True)
class VBKS(Method):
    """Variational Bayesian kernel selection over a space that grows, or a fixed one."""

    name = "vbks"
    forms_belief = True

    def strategy(self, problem: SearchProblem, evaluator: Evaluator) -> Strategy:
        """All of a fixed space, or what the data favour."""
        if problem.space is not None:
            return FixedSpace(problem.space, problem.warps)
        families = problem.families_or(GROWN_FAMILIES)
        shown = {warp: _changes(problem, warp) for warp in problem.warps}
        changes = {warp: changes for warp, changes in shown.items() if any(changes)}
        num = problem.settings.policies.search.change_rows
        X, _ = problem.rows.sample(num, np.random.default_rng(0))
        cycles = _cycles(evaluator.context(self.plan(problem, Growing.num_expected).search))
        return Growing(
            problem.warps, problem.rows.num_inputs, families, changes=changes,
            first=first_candidates(problem.rows.num_inputs, cycles, families),
            constraints=StructureConstraints.in_rows(X, repeats=0),
        )  # fmt: skip

    def plan(self, problem: SearchProblem, num_expected: int) -> Plan:
        """Quick fits for all, and the best that are possible for those that remain."""
        return Plan.of(problem.rows, num_expected, problem.settings)

    def budget(self, problem: SearchProblem) -> Budget:
        """All of a fixed space; growing ends after a while."""
        if problem.space is not None:
            return Budget()
        policy = problem.settings.policies.search
        longer = math.sqrt(max(1.0, problem.rows.num_rows / policy.growing_rows))
        return Budget(seconds=policy.growing_seconds * longer)

    def default_belief(self, asked: BeliefSettings) -> BeliefSettings:
        """The belief over all kernels."""
        return asked


@dataclass(frozen=True)
class _GreedyMethod(Method):
    """What CKS and ABCD share: exact fits of points, judged by a criterion."""

    criterion: Correction = "bic"

    def plan(self, problem: SearchProblem, num_expected: int) -> Plan:
        """Exact fits of points."""
        return one_stage(problem, "exact")

    def settings(self, problem: SearchProblem) -> FitSettings:
        """Likelihoods are maximised, unless the evidence is asked for."""
        prior: ThetaPrior = "vbks" if self.criterion == "laplace" else "flat"
        return replace(problem.settings, prior=prior)

    def follow_ups(self) -> tuple[FollowUp, ...]:
        """Densities of held-out rows, if candidates are judged by them."""
        return (follow_ups.held_out(),) if self.criterion == "held_out" else ()


@dataclass(frozen=True)
class CKS(_GreedyMethod):
    """Compositional kernel search (Duvenaud et al., 2013): greedy, maximum likelihood, BIC.

    ``criterion`` may also be "aic", "aicc", "laplace" (the evidence, under our priors) or
    "held_out" (the log density of rows given the others).
    """

    max_depth: int = 10
    name = "cks"

    def strategy(self, problem: SearchProblem, evaluator: Evaluator) -> Strategy:
        """From the best of one round to the best of its children."""
        refuse_space(self, problem)
        families = problem.families_or(BASE_FAMILIES)
        return Greedy(
            problem.rows.num_inputs,
            families,
            CKS_MOVES,
            self.criterion,
            self.max_depth,
            problem.warps,
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

    def strategy(self, problem: SearchProblem, evaluator: Evaluator) -> Strategy:
        """Greedy by all moves, over fits that show."""
        refuse_space(self, problem)
        check_one_of("variant", self.variant, _FORMS)
        families = problem.families_or(ABCD_FAMILIES)
        X, _ = problem.rows.arrays()
        return Greedy(
            problem.rows.num_inputs, families, ABCD_MOVES, self.criterion, self.max_depth,
            problem.warps, forms=_FORMS[self.variant], constraints=StructureConstraints.in_rows(X),
            expand=noisy_children,
        )  # fmt: skip


@dataclass(frozen=True)
class SKC(Method):
    """Scalable kernel composition (Kim and Teh, 2018): intervals of BIC for many rows.

    ``uppers`` is how many of each round, the best by their lower bounds, get an upper bound, for
    which all pairs of rows are looked at; 0 is SKC-LB. Their conjugate gradients are preconditioned
    by "nystrom", "fic" or "pic", or not by any (None), see `vbks.inference.sandwich`. Without
    ``wait``, workers that have nothing else to do fit children of the best so far while the last
    upper bounds of a depth are computed (appendix G); what is tried then depends on the order in
    which fits are done.
    """

    criterion: Correction = "bic"
    max_depth: int = 6
    buffer: int = 3
    uppers: int = 1_000_000
    preconditioner: Preconditioner | None = "nystrom"
    wait: bool = field(default=True, repr=False, metadata=NOT_IN_FITS)
    name = "skc"
    needs_upper_bounds = True

    def __post_init__(self) -> None:
        if self.preconditioner is not None:
            check_one_of("preconditioner", self.preconditioner, PRECONDITIONERS)

    @property
    def runner_type(self) -> type[SearchRunner]:
        """What runs it."""
        return SearchRunner if self.wait else AcrossDepths

    def strategy(self, problem: SearchProblem, evaluator: Evaluator) -> Strategy:
        """The best, and those that it cannot be told from."""
        refuse_space(self, problem)
        families = problem.families_or(SKC_FAMILIES)
        return IntervalSearch(
            problem.rows.num_inputs, families, self.max_depth, self.buffer, problem.warps
        )

    def plan(self, problem: SearchProblem, num_expected: int) -> Plan:
        """Collapsed fits of points."""
        return one_stage(problem, "collapsed")

    def settings(self, problem: SearchProblem) -> FitSettings:
        """The paper's priors and restarts, and rows at random as inducing inputs."""
        own, policy = problem.settings, problem.settings.policies.search
        num = min(own.num_inducing or policy.skc_inducing, problem.rows.num_rows)
        restarts = own.restarts or policy.skc_restarts
        return replace(own, prior="skc", restarts=restarts, inducing=_some_rows(problem, num))

    def follow_ups(self) -> tuple[FollowUp, ...]:
        """Upper bounds, unless this is SKC-LB."""
        return (follow_ups.upper_bounds(self.uppers, self.preconditioner),) if self.uppers else ()


@dataclass(frozen=True)
class _FewEvaluations(Method):
    """What Bayesian optimisation and random choice share: some fits, as good as they can be."""

    batch_size: int = 4

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise SettingsError(
                f"batch_size is {self.batch_size}. Try at least 1 candidate at once."
            )

    def plan(self, problem: SearchProblem, num_expected: int) -> Plan:
        """The tightest fits that are quick enough, around points."""
        num = problem.settings.policies.search.few_evaluations
        return one_stage(problem, bound_of(problem.rows, num, problem.settings))

    def budget(self, problem: SearchProblem) -> Budget:
        """As many evaluations as the authors of BOMS allow."""
        return Budget(candidates=problem.settings.policies.search.few_evaluations)


@dataclass(frozen=True)
class BO(_FewEvaluations):
    """Bayesian optimisation over kernels (Malkomes, Schaff and Garnett, 2016).

    ``acquisition`` says which candidates are worth fitting: "ei", the expected improvement, "ucb",
    an upper confidence bound, or a `vbks.search.Acquisition`. One with a checkpoint should be a
    frozen dataclass, or have a name.
    """

    acquisition: str | Acquisition = "ei"
    name = "bo"

    def __post_init__(self) -> None:
        super().__post_init__()
        acquisition_of(self.acquisition)

    def strategy(self, problem: SearchProblem, evaluator: Evaluator) -> Strategy:
        """Where evidence is expected to improve, by how alike kernels are."""
        families = problem.families_or(BASE_FAMILIES)
        stage = self.plan(problem, 1).search

        def grams(expressions: Sequence[Expression]) -> Array:
            return prior_grams(expressions, evaluator.context(stage))

        return BayesianOptimisation(
            problem.rows.num_inputs, families, pool=problem.space, warps=problem.warps, grams=grams,
            batch_size=self.batch_size, seed=problem.settings.seed,
            acquisition=acquisition_of(self.acquisition),
        )  # fmt: skip


@dataclass(frozen=True)
class RandomSearch(_FewEvaluations):
    """Candidates at random: what every search should beat."""

    batch_size: int = 8
    name = "random"

    def strategy(self, problem: SearchProblem, evaluator: Evaluator) -> Strategy:
        """Members of the space, or walks through the grammar, at random."""
        families = problem.families_or(BASE_FAMILIES)
        return RandomChoice(
            problem.rows.num_inputs, families, pool=problem.space, warps=problem.warps,
            batch_size=self.batch_size, seed=problem.settings.seed,
        )  # fmt: skip


METHODS: dict[str, Callable[[], Method]] = {
    "vbks": VBKS,
    "cks": CKS,
    "skc": SKC,
    "abcd": ABCD,
    "bo": BO,
    "random": RandomSearch,
}
"""Methods by their names in `vbks.fit`; `register_method` adds to them."""


def register_method(name: str, factory: Callable[[], Method]) -> None:
    """Have `vbks.fit(method=name)` stand for a method of your own from now on."""
    if not isinstance(name, str) or not name or name in METHODS:
        reason = "exists already" if name in METHODS else "is no text"
        raise SettingsError(f"the method {name!r} {reason}. Choose another name.")
    METHODS[name] = factory


def method_of(method: str | Method) -> Method:
    """A method from its name, with its usual settings, or as it is given."""
    if isinstance(method, Method):
        return method
    check_one_of("method", method, METHODS)
    return METHODS[method]()


def _cycles(context: FitContext) -> tuple[int, ...]:
    """Along which inputs the rows show a cycle."""
    X, y = context.some_rows(context.screening.summary_rows, Seed.SUMMARY_ROWS)
    targets = context.likelihood.pseudo_targets(y)
    return clear_cycles(X, targets, context.summaries, context.starts.signals)


def _changes(problem: SearchProblem, warp: Warp) -> Changes:
    """Along which inputs some of the rows show changes."""
    if not problem.settings.likelihood.is_gaussian:
        return Changes()
    rng = np.random.default_rng(problem.settings.seed)
    X, y = problem.data[warp].sample(problem.settings.policies.search.change_rows, rng)
    shown = [segments(x, y) for x in X.T]
    for_good = (d for d, (points, _) in enumerate(shown, 1) if points)
    for_a_while = (d for d, (_, windows) in enumerate(shown, 1) if windows)
    return Changes(tuple(for_good), tuple(for_a_while))


def _some_rows(problem: SearchProblem, num: int) -> Array:
    """Standardised inputs of rows at random, each once: [M, D]."""
    rng = np.random.default_rng([problem.settings.seed, num])
    X, _ = problem.rows.sample(num, rng)
    return np.unique(X, axis=0)

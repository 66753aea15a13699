"""The evaluator: proposals under several warps become fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from vbks.arrays import Array
from vbks.data.training import TrainingData
from vbks.data.warps import Warp
from vbks.errors import GrammarError
from vbks.execution.work import Executor, InOrder, Work
from vbks.execution.work import Stage as WorkStage
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import AS_ASKED, make_context
from vbks.inference.chunks import cost_of
from vbks.inference.context import FitContext
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.pipeline import Pipeline
from vbks.inference.proposal import Proposal, Structure, of_warp, structure_of
from vbks.inference.residuals import as_parent
from vbks.inference.result import Ascent, LocalFit, Posterior
from vbks.inference.settings import FitSettings, FitStage, Inference, ThetaPrior
from vbks.kernels.given import GivenValues
from vbks.kernels.starts.inheritance import Parent
from vbks.policies import Policies
from vbks.progress import Progress, Quiet, reporting
from vbks.progress.words import some_names

Tell = Callable[[Mapping[int, LocalFit]], object]
"""Hears of fits by their places."""


def nobody(fits: Mapping[int, LocalFit]) -> None:
    """Hear of fits, and do nothing."""


@dataclass(frozen=True)
class FollowUp:
    """Work on fits once they are there, such as bounding their likelihood from above.

    ``choose`` gives the indices of those it is done on, and ``stage`` does it, one fit at a time
    if ``is_slow``, and else on as many as are fitted together.
    """

    name: str
    stage: WorkStage
    choose: Callable[[Sequence[LocalFit], FitContext], Sequence[int]]
    is_slow: bool = False


@dataclass(frozen=True)
class Evaluator:
    """Turns proposals into fits, list after list, and has one context for each warp and stage.

    ``data`` are the rows under each warp. What is to be found out about fits of a search beside
    their bounds is done by ``follow_ups``.
    """

    data: Mapping[Warp, TrainingData]
    settings: FitSettings = field(default_factory=FitSettings)
    follow_ups: Sequence[FollowUp] = ()
    report: Progress = field(default_factory=Quiet)
    executor: Executor = field(default_factory=InOrder)
    _contexts: dict[tuple[Warp, FitStage], tuple[FitContext, tuple[str, ...]]] = field(
        default_factory=dict
    )
    """Contexts with the sentences about what was chosen for them."""
    _parents: dict[Structure, Parent] = field(default_factory=dict)

    @property
    def notices(self) -> tuple[str, ...]:
        """What there is to say about the contexts, each sentence once."""
        said = (notice for _, notices in self._contexts.values() for notice in notices)
        # The bound is that of a stage, so that its choice says nothing to the user.
        return tuple(dict.fromkeys(text for text in said if not text.endswith(AS_ASKED)))

    def context(self, stage: FitStage, warp: Warp | None = None) -> FitContext:
        """What fits of a stage share under a warp, by default the first one."""
        return self._made(stage, next(iter(self.data)) if warp is None else warp)[0]

    def fit(
        self, proposals: Sequence[Proposal], stage: FitStage, tell: Tell = nobody
    ) -> list[LocalFit]:
        """Fits in the order of the proposals, children from their parents.

        ``tell`` hears of fits, by their places, as soon as nothing is missing in them.
        """
        parts = _by_warp([p.warp for p in proposals])
        self._start([str(p) for p in proposals], "Trying", stage, len(parts))
        fits: dict[int, LocalFit] = {}
        for warp, places in parts.items():
            context, notices = self._made(stage, warp)
            candidates = [
                make_candidate(p.expression, context, self._parent(p.parent, stage))
                for p in (proposals[k] for k in places)
            ]
            pipeline = Pipeline(context, self.report, self.settings.prune, self.executor)
            done = [replace(fit, notices=notices) for fit in pipeline.fit(candidates)]
            for number, follow_up in enumerate(self.follow_ups, 1):
                told = tell if number == len(self.follow_ups) else nobody
                done = self._follow(follow_up, done, context, _by_place(places, told))
            fits |= dict(zip(places, done, strict=True))
        return [fits[k] for k in range(len(proposals))]

    def go_on(
        self, fits: Sequence[LocalFit], stage: FitStage, what: str = "Fitting to the end"
    ) -> list[LocalFit]:
        """The same candidates, none of which is pruned, from where earlier fits have ended.

        In words, this is ``what`` is done with them.
        """
        parts = _by_warp([fit.warp for fit in fits])
        names = [f"{fit.expression}{of_warp(fit.warp)}" for fit in fits]
        self._start(names, what, stage, len(parts))
        again: dict[int, LocalFit] = {}
        for warp, places in parts.items():
            context, notices = self._made(stage, warp)
            earlier = [fits[k] for k in places]
            candidates = [make_candidate(f.expression, context, None, f) for f in earlier]
            done = Pipeline(context, self.report, False, self.executor).fit(candidates)
            again |= {k: replace(fit, notices=notices) for k, fit in zip(places, done, strict=True)}
        return [again[k] for k in range(len(fits))]

    def _start(self, names: Sequence[str], verb: str, stage: FitStage, num_warps: int) -> None:
        """Say what begins, and what values of it are compared with."""
        num_stages = num_warps * (len(self.settings.policies.screening.rungs) + 1)
        measure = f"{stage.bound}, {stage.num_rows}"
        what = some_names(names)
        if len(names) > 1:
            what = f"{len(names)} kernels: {what}"
        self.report.start(len(names), f"{verb} {what}", num_stages, measure)

    def _made(self, stage: FitStage, warp: Warp) -> tuple[FitContext, tuple[str, ...]]:
        """The context of a stage under a warp, which is made when it is first asked for."""
        if (warp, stage) not in self._contexts:
            rows = self.data[warp]
            self._contexts[warp, stage] = make_context(
                stage.part_of(rows), 1, stage.of(self.settings), whole=rows
            )
        return self._contexts[warp, stage]

    def _parent(self, fit: LocalFit | None, stage: FitStage) -> Parent | None:
        """The fit as a parent, its residuals computed once."""
        if fit is None:
            return None
        structure = structure_of(fit)
        if structure not in self._parents:
            self._parents[structure] = as_parent(fit, self.context(stage, fit.warp))
        return self._parents[structure]

    def _follow(
        self, follow_up: FollowUp, fits: list[LocalFit], context: FitContext, tell: Tell
    ) -> list[LocalFit]:
        """Fits after a follow-up, which those that it does not choose do not wait for."""
        chosen = follow_up.choose(fits, context)
        tell({k: fit for k, fit in enumerate(fits) if k not in chosen})
        size = 1 if follow_up.is_slow else context.chunk_size
        places = [chosen[i : i + size] for i in range(0, len(chosen), size)]
        chunks = tuple(tuple(fits[k] for k in chunk) for chunk in places)
        self.report.stage(follow_up.name, len(chosen))
        work = Work(follow_up.name, follow_up.stage, context, chunks, _as_it_is, cost_of=cost_of)
        done: dict[int, LocalFit] = {}
        with closing(self.executor.run(work)) as results:
            for k, found in results:
                fresh = dict(zip(places[k], found, strict=True))
                done |= fresh
                self.report.advance(len(found))
                tell(fresh)
        return [done.get(k, fit) for k, fit in enumerate(fits)]


def _by_place(places: Sequence[int], tell: Tell) -> Tell:
    """Tell of fits by the places that members of a part of them have."""
    return lambda fits: tell({places[k]: fit for k, fit in fits.items()})


def _as_it_is(fit: LocalFit, context: FitContext, reason: str) -> LocalFit:
    """A fit about which nothing more could be found out."""
    return fit


def _by_warp(warps: Sequence[Warp]) -> dict[Warp, list[int]]:
    """Places of each warp, in order of first appearance."""
    places: dict[Warp, list[int]] = {}
    for place, warp in enumerate(warps):
        places.setdefault(warp, []).append(place)
    return places


def fit_candidates(
    expressions: Sequence[Expression | str],
    data: Any,
    *,
    inference: Inference = "auto",
    posterior: Posterior | Literal["auto"] = "auto",
    num_inducing: int | None = None,
    batch_size: int | None = None,
    ascent: Ascent = "natural",
    likelihood: Any = "gaussian",
    prior: ThetaPrior = "vbks",
    restarts: int | None = None,
    ard: bool = True,
    jitter: float | None = None,
    parents: Mapping[Expression, Parent] | None = None,
    earlier: Mapping[Expression, LocalFit] | None = None,
    inducing: Array | None = None,
    given: Mapping[Expression, GivenValues] | None = None,
    prune: bool = True,
    memory_limit: int | None = None,
    importance: bool = False,
    policies: Policies | None = None,
    executor: Executor | None = None,
    seed: int = 0,
    progress: bool | Progress = False,
) -> list[LocalFit]:
    """Fit every expression to rows (X, y) in any units, and bound its log evidence.

    Args:
        expressions: the candidates; fits come back in their order.
        data: a pair (X, y), a `tf.data.Dataset` of rows, or `TrainingData`.
        inference: how the function is integrated out: "exact", "collapsed" (Titsias' bound),
            "stochastic" (minibatches), or what time and memory allow.
        posterior: q(θ) with the best "full" or "diagonal" covariance, or that of "laplace", or a
            "point"; by default full, and a point where fits are stochastic.
        num_inducing: inducing points, the same for all candidates.
        batch_size: rows of a minibatch.
        ascent: how stochastic fits are optimised: by "natural" gradients and Newton's steps, or
            "plain" stochastic gradient ascent for everything, as in the VBKS paper.
        likelihood: "gaussian" or another name, or a scalar GPflow likelihood.
        prior: "vbks", "flat" for maximum likelihood, or "skc" for the partly improper priors of Kim
            and Teh (2018).
        restarts: starts of each candidate; eight by default.
        ard: whether a leaf on several inputs has a lengthscale for each.
        jitter: what is added to the diagonals of matrices before they are factorised.
        parents: fitted expressions that candidates begin from.
        earlier: fits of the candidates themselves, from which they go on instead of starting anew.
        inducing: inducing inputs [M, D] in standardised units, instead of chosen ones.
        given: values of θ of some candidates, in standardised units; some are held, and the others
            are one of the starts.
        prune: whether candidates far behind stop early, which their fits record.
        memory_limit: bytes that the fit may use; half of what is free by default.
        importance: whether evidences are found by importance sampling, where that is affordable.
        policies: numbers that trade time for quality.
        executor: where the fits are made; here, chunk after chunk, by default.
        seed: everything random follows from it.
        progress: show what is done, as in `vbks.fit`.

    A candidate that cannot be fitted comes back as a failed fit with the reason.
    """
    if isinstance(expressions, str):
        raise GrammarError(f"expected a list of expressions, got the text {expressions!r}.")
    parsed = [parse(expression) for expression in expressions]
    if not parsed:
        raise GrammarError("there is nothing to fit. Give at least one expression.")
    settings = FitSettings(
        inference=inference,
        posterior=posterior,
        num_inducing=num_inducing,
        batch_size=batch_size,
        ascent=ascent,
        likelihood=make_likelihood(likelihood),
        prior=prior,
        restarts=restarts,
        ard=ard,
        jitter=jitter,
        inducing=inducing,
        given=given or {},
        prune=prune,
        importance=importance,
        memory_limit=memory_limit,
        seed=seed,
        policies=policies or Policies(),
    )
    context, notices = make_context(data, len(parsed), settings)
    parents, earlier = parents or {}, earlier or {}
    candidates = [make_candidate(e, context, parents.get(e), earlier.get(e)) for e in parsed]
    with reporting(progress) as report:
        report.start(len(parsed), _describe(context, len(parsed)))
        for notice in notices:
            report.say(notice)
        fits = Pipeline(context, report, prune, executor or InOrder()).fit(candidates)
    return [replace(fit, notices=notices) for fit in fits]


def _describe(context: FitContext, num_candidates: int) -> str:
    text = f"{num_candidates} candidates, {context.num_rows:,} rows, {context.bound}"
    if context.bound != "exact":
        text += f" with {len(context.Z)} inducing points"
    return text

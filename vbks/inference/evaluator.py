"""The evaluator: a list of expressions becomes a list of fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from vbks.arrays import Array
from vbks.errors import GrammarError
from vbks.execution.work import Executor, InOrder
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference.candidate import make_candidate
from vbks.inference.context import FitContext
from vbks.inference.pipeline import Pipeline
from vbks.inference.progress import Progress, Quiet, reporting
from vbks.inference.result import Ascent, LocalFit, Posterior
from vbks.inference.settings import RESTARTS, Inference, compare
from vbks.kernels.given import GivenValues
from vbks.kernels.starts.inheritance import Parent


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
    prior: str = "vbks",
    restarts: int = RESTARTS,
    ard: bool = True,
    jitter: float | None = None,
    parents: Mapping[Expression, Parent] | None = None,
    earlier: Mapping[Expression, LocalFit] | None = None,
    inducing: Array | None = None,
    given: Mapping[Expression, GivenValues] | None = None,
    race: bool = True,
    memory_limit: int | None = None,
    importance: bool = False,
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
        ascent: how stochastic fits climb: by "natural" gradients and Newton's steps, or "plain"
            stochastic gradient ascent for everything, as in the VBKS paper.
        likelihood: "gaussian" or another name, or a scalar GPflow likelihood.
        prior: "vbks", "flat" for maximum likelihood, or "skc" for the partly improper priors of Kim
            and Teh (2018).
        restarts: starts of each candidate.
        ard: whether a leaf on several inputs has a lengthscale for each.
        jitter: what is added to the diagonals of matrices before they are factorised.
        parents: fitted expressions that candidates begin from.
        earlier: fits of the candidates themselves, from which they go on instead of starting anew.
        inducing: inducing inputs [M, D] in standardised units, instead of chosen ones.
        given: values of θ of some candidates, in standardised units; some are held, and the others
            are one of the starts.
        race: whether candidates far behind stop early, which their fits record.
        memory_limit: bytes that the fit may use; half of what is free by default.
        executor: where the fits are made; here, chunk after chunk, by default.
        seed: everything random follows from it.
        progress: show a live table, if the output is a terminal.

    A candidate that cannot be fitted comes back as a failed fit with the reason.
    """
    comparison, notices = compare(
        data,
        len(expressions),
        inference=inference,
        posterior=posterior,
        num_inducing=num_inducing,
        batch_size=batch_size,
        ascent=ascent,
        likelihood=likelihood,
        prior=prior,
        restarts=restarts,
        ard=ard,
        jitter=jitter,
        inducing=inducing,
        given=given,
        memory=memory_limit,
        importance=importance,
        seed=seed,
    )
    evaluate = Evaluator(comparison, notices, race, executor or InOrder())
    with reporting(progress) as report:
        report.start(len(expressions), _describe(comparison, len(expressions)))
        for notice in notices:
            report.say(notice)
        return evaluate(expressions, parents=parents, earlier=earlier, report=report)


@dataclass(frozen=True)
class Evaluator:
    """Turns lists of expressions into fits that can be compared, list after list."""

    comparison: FitContext
    notices: tuple[str, ...] = ()
    race: bool = True
    executor: Executor = field(default_factory=InOrder)

    def __call__(
        self,
        expressions: Sequence[Expression | str],
        *,
        parents: Mapping[Expression, Parent] | None = None,
        earlier: Mapping[Expression, LocalFit] | None = None,
        report: Progress | None = None,
    ) -> list[LocalFit]:
        """Fits in the order of the expressions; one that cannot be fitted has failed, and says why.

        A candidate begins from its parent, or goes on from an earlier fit of itself.
        """
        if isinstance(expressions, str):
            raise GrammarError(f"expected a list of expressions, got the text {expressions!r}.")
        parsed = [parse(expression) for expression in expressions]
        if not parsed:
            raise GrammarError("there is nothing to fit. Give at least one expression.")
        parents, earlier = parents or {}, earlier or {}
        candidates = [
            make_candidate(e, self.comparison, parents.get(e), earlier.get(e)) for e in parsed
        ]
        fits = Pipeline(self.comparison, report or Quiet(), self.race, self.executor).fit(
            candidates
        )
        return [replace(fit, notices=self.notices) for fit in fits]


def _describe(comparison: FitContext, num_candidates: int) -> str:
    text = f"{num_candidates} candidates, {comparison.num_rows:,} rows, {comparison.bound}"
    if comparison.bound != "exact":
        text += f" with {len(comparison.Z)} inducing points"
    return text

"""The one call: data in, a belief over kernels and averaged predictions out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from vbks.data import TrainingData, Warp, choose_warps, prepare, read_inputs
from vbks.errors import DataError, GrammarError
from vbks.execution import Workshop
from vbks.grammar import Expression, parse
from vbks.inference import Progress, make_likelihood
from vbks.inference.likelihoods import Likelihood
from vbks.inference.local_fit import Posterior
from vbks.inference.progress import reporting
from vbks.inference.settings import RESTARTS, Inference
from vbks.prediction import Selection
from vbks.prediction.tracing import trace_belief
from vbks.selection import (
    DEFAULT_BELIEF,
    BeliefKind,
    BeliefSettings,
    Budget,
    KernelPrior,
    Method,
    Search,
    Task,
    budget_of,
    finish_best,
    method_of,
    paper_settings,
)
from vbks.selection.search import FINAL_SHARE

PAPER_BATCH = 128
"""Rows of a minibatch in the experiments of the VBKS paper."""

Space = Literal["grow"] | Sequence[Expression | str]


def fit(
    X: Any,
    y: Any = None,
    *,
    space: Space = "grow",
    method: str | Method = "vbks",
    inference: Inference = "auto",
    posterior: Posterior | Literal["auto"] = "auto",
    num_inducing: int | None = None,
    batch_size: int | None = None,
    likelihood: Any = "gaussian",
    warps: Literal["auto"] | Sequence[str] = "auto",
    bounds: tuple[float, float] | None = None,
    belief: BeliefKind | None = None,
    temperature: float = 1.0,
    prior: KernelPrior = "uniform",
    preset: Literal["paper"] | None = None,
    families: Sequence[str] | None = None,
    restarts: int | None = None,
    race: bool = True,
    budget: float | Budget | None = None,
    trace: int = 0,
    memory_limit: int | None = None,
    seed: int = 0,
    progress: bool | Progress = True,
) -> Selection:
    """Choose kernels for rows (X, y), and say how sure that is.

    Args:
        X: inputs [N] or [N, D]: arrays, lists, tables, times, memory maps; or a
            `tf.data.Dataset` of rows, without y.
        y: targets [N].
        space: "grow" starts small and expands what the data favour; or a list of expressions such
            as `vbks.K144`.
        method: "vbks", or one of the searches before it: "cks", "skc", "abcd", "bo" or "random";
            or a method with its settings, such as `vbks.selection.CKS(criterion="aic")`.
        inference: "exact", "collapsed" or "stochastic" for all fits; by default what rows and
            candidates allow: a search by the collapsed bound, and the best of it fitted exactly.
        posterior: q(θ) with the best "full" or "diagonal" covariance, or that of "laplace", or a
            "point"; by default full where that is quick.
        num_inducing: inducing points of collapsed and stochastic fits.
        batch_size: rows of a minibatch.
        likelihood: "gaussian" or another name, or a scalar GPflow likelihood.
        warps: transforms of the target that are tried: "identity", "log", "softplus", "logit"; by
            default all that the data allow, and only the first with methods other than "vbks".
        bounds: the ends of the target's range, for "logit".
        belief: "vbks", "bayes" or "stacking"; by default what the method goes with: all in one
            kernel with those that choose one.
        temperature: evidences are divided by it before the belief is formed.
        prior: "uniform" over structures, or "grammar", under which small ones are likelier.
        preset: "paper" for the settings of the authors of VBKS.
        families: base kernels that a search makes candidates of; by default the method's own.
        restarts: starts of each candidate.
        race: whether candidates far behind stop early.
        budget: seconds, or `vbks.Budget(candidates=...)`, which gives the same answer each time.
        trace: at how many growing parts of the data to form the belief, for `plot_trace`.
        memory_limit: bytes that fits may use.
        seed: everything random follows from it.
        progress: show a live table, if the output is a terminal.
    """
    chosen = method_of(method)
    _check_one_of("preset", preset, (None, "paper"))
    is_paper = preset == "paper"
    if is_paper:
        posterior, warps, race = "point", ("identity",), False
    elif warps == "auto" and chosen.name != "vbks":
        warps = ("identity",)
    model = make_likelihood(likelihood)
    rows = prepare(X if y is None else (X, y), standardise_targets=model.is_gaussian)
    data = _warped(rows, warps, bounds, model)
    given: dict[str, Any] = {
        "batch_size": batch_size,
        "likelihood": model,
        "restarts": restarts or RESTARTS,
        "ard": not is_paper,
        "memory": memory_limit,
        "seed": seed,
    }
    task = Task(
        rows,
        tuple(data),
        None if families is None else _words(families),
        _fixed(space),
        inference,
        posterior,
        num_inducing,
        given,
    )
    strategy = chosen.strategy(task)
    plan = chosen.plan(task, strategy.num_expected)
    settings = given | chosen.settings(task)
    if restarts is not None:
        settings["restarts"] = restarts
    believed = _belief(chosen, belief, temperature, prior, seed)
    if is_paper:
        believed = paper_settings(rows.num_rows, batch_size or PAPER_BATCH)
    spending = budget_of(budget) or chosen.budget(task)
    with reporting(progress) as report:
        workshop = Workshop(data, plan.search, race, settings, report)
        share = FINAL_SHARE if plan.final != plan.search else 0.0
        search = Search(strategy, workshop, spending, chosen.criterion, share)
        state = search.run()
        fits, failure = list(state.fits), ""
        final = Workshop(data, plan.final, False, settings, report)
        if plan.final != plan.search:
            margin, most = plan.limits if race else (math.inf, None)
            fits, failure = finish_best(fits, final, margin, most)
        notices = (
            *rows.notices, *workshop.notices, *final.notices, plan.notice(rows.num_rows),
            search.notice(state), failure,
        )  # fmt: skip
        inputs = None if y is None else read_inputs(X)
        selection = Selection(
            tuple(fits),
            data,
            believed,
            model,
            None if inputs is None else inputs.names,
            tuple(dict.fromkeys(filter(None, notices))),
            time_inputs=() if inputs is None else inputs.times,
            steps=tuple(search.path),
        )
        if trace:
            selection = trace_belief(selection, final, trace)
    return selection


def _warped(
    rows: TrainingData,
    wanted: Literal["auto"] | Sequence[str],
    bounds: tuple[float, float] | None,
    likelihood: Likelihood,
) -> dict[Warp, TrainingData]:
    """The rows under each warp that is tried."""
    if not likelihood.is_gaussian and wanted == "auto":
        wanted = ("identity",)
    warps = choose_warps(wanted, rows, bounds)
    return {warp: rows if warp.name == "identity" else rows.warped(warp) for warp in warps}


def _fixed(space: Space) -> tuple[Expression, ...] | None:
    """The members of a fixed space; none if candidates are searched for."""
    if isinstance(space, str):
        if space != "grow":
            raise GrammarError(
                f"space is {space!r}, expected 'grow' or a list of expressions such as vbks.K144."
            )
        return None
    expressions = tuple(parse(expression) for expression in space)
    if not expressions:
        raise GrammarError("the space is empty. Give at least one expression.")
    return expressions


def _words(families: Sequence[str]) -> tuple[str, ...]:
    return (families,) if isinstance(families, str) else tuple(families)


def _belief(
    method: Method, kind: BeliefKind | None, temperature: float, prior: KernelPrior, seed: int
) -> BeliefSettings:
    """The belief asked for, or that of the method."""
    if kind is None and method.name != "vbks":
        return method.belief()
    return BeliefSettings(kind or DEFAULT_BELIEF, temperature, prior, seed=seed)


def _check_one_of(name: str, value: object, known: tuple[object, ...]) -> None:
    if value not in known:
        choices = " or ".join(repr(choice) for choice in known)
        raise DataError(f"{name} is {value!r}, expected {choices}.")

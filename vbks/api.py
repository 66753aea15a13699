"""The one call: data in, a belief over kernels and averaged predictions out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from os import PathLike
from typing import Any, Literal

import numpy as np
from gpflow.functions import Function
from gpflow.kernels import Kernel

from vbks.data.sources import ArraySource
from vbks.data.tables import read_inputs
from vbks.data.training import TrainingData, prepare
from vbks.data.units import Units
from vbks.data.warp_choice import choose_warps
from vbks.data.warps import Warp, warp_to_values
from vbks.errors import DataError, GrammarError, check_one_of
from vbks.execution.fingerprint import fingerprint
from vbks.execution.run_context import run_context
from vbks.execution.work import Executor
from vbks.grammar.canonical import arrange
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.grammar.space import K144
from vbks.inference.likelihoods.levels import ROWS as LEVEL_ROWS
from vbks.inference.likelihoods.levels import level_of, scale_of
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.progress import Progress, reporting
from vbks.inference.result import Posterior
from vbks.inference.settings import Inference, check_targets, usual_restarts
from vbks.kernels.given import GivenValues
from vbks.kernels.gpflow.reading import read_standardised
from vbks.kernels.precision import check_precision
from vbks.predict.models.mean_functions import make_mean_function, mean_values
from vbks.search.budget import Budget, budget_of
from vbks.search.course import Course
from vbks.search.method import Method, Task
from vbks.search.methods import method_of
from vbks.search.paper import Callback
from vbks.selection.paper import check_call, posterior_of, select_as_paper
from vbks.selection.selection import Selection
from vbks.selection.trace import trace_belief
from vbks.several_targets import for_each_target
from vbks.storage.likelihood_encoding import encode_likelihood
from vbks.weights.prior import KernelPrior, check_prior
from vbks.weights.settings import BeliefSettings, Weighting, belief_fields

ONE_WARP = (
    "The space has GPflow kernels, whose values are about the targets as they are, so no warp was "
    "tried."
)
"""What is said where warps are left to us and the space has GPflow kernels."""

ONE_WARP_BY_UNITS = (
    "A mean function or known noise is about the targets as they are, so no warp was tried."
)
"""What is said where warps are left to us and there is a mean function or known noise."""

NO_UPPERS = (
    "method 'skc' needs upper bounds of likelihoods, which known noise of each row does not go "
    "with. Leave out noise_variance, or choose another method."
)
"""Why known noise is refused by one method."""

MEAN_ROWS = 100_000
"""Rows at random that a mean function is fitted to, if there are more."""

Space = Literal["grow"] | Sequence[Expression | str | Kernel]


@for_each_target
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
    noise_variance: Any = None,
    mean_function: Any = None,
    targets: Literal["separate", "shared"] = "separate",
    warps: Literal["auto"] | Sequence[str] = "auto",
    bounds: tuple[float, float] | None = None,
    belief: Literal["bayes", "vbks", "stacking"] | BeliefSettings | None = None,
    temperature: float = 1.0,
    prior: KernelPrior = "uniform",
    weights: Weighting | None = None,
    preset: Literal["paper"] | PaperSettings | None = None,
    families: Sequence[str] | None = None,
    restarts: int | None = None,
    race: bool = True,
    budget: float | Budget | None = None,
    trace: int = 0,
    callback: Callback | None = None,
    memory_limit: int | None = None,
    executor: Executor | None = None,
    checkpoint: str | PathLike[str] | None = None,
    seed: int = 0,
    progress: bool | Progress = True,
) -> Selection:
    """Choose kernels for rows (X, y), and say how sure that is.

    Args:
        X: inputs [N] or [N, D]: arrays, lists, tables, times, memory maps; or a
            `tf.data.Dataset` of rows, without y.
        y: targets [N]; or [N, P], of which each is fitted on its own, so that `vbks.Selections` of
            them come back.
        space: "grow" starts small and expands what the data favour; or a list of expressions such
            as `vbks.K144`, in which there may be GPflow kernels. Their values are in the units of X
            and y: what is not trainable is held, and the rest is one of the starts.
        method: "vbks", or one of the searches before it: "cks", "skc", "abcd", "bo" or "random";
            or a method with its settings, such as `vbks.search.CKS(criterion="aic")`.
        inference: "exact", "collapsed" or "stochastic" for all fits; by default what rows and
            candidates allow: a search by the collapsed bound, and the best of it fitted exactly.
        posterior: q(θ) with the best "full" or "diagonal" covariance, or that of "laplace", or a
            "point"; by default that of Laplace, and full for the candidates that hold most of the
            belief where that is quick.
        num_inducing: inducing points of collapsed and stochastic fits.
        batch_size: rows of a minibatch.
        likelihood: "gaussian" or another name, or a scalar GPflow likelihood.
        noise_variance: known variances [N] of the noise of each row, in squares of the units of y,
            so that rows with more of it count less; what they leave unexplained is learned as
            further noise, the same for all rows. Fits are exact or collapsed then, without a warp.
        mean_function: what targets vary around: "linear", a line by least squares, or a function of
            GPflow's in the units of X and y, of which trainable parameters are fitted by least
            squares first. Kernels are then chosen with it held, for targets without a warp and
            Gaussian noise; a line that is not sure of itself is LIN in a kernel.
        targets: how much to believe in kernels for each of several targets, "separate", or for all
            of them, "shared": then log evidences add up over the targets. A budget in seconds is
            that of all of them, and mean_function may be a list with one for each.
        warps: transforms of the target that are tried: "identity", "log", "softplus", "logit"; by
            default all that the data allow, and only the first with methods other than "vbks" or
            GPflow kernels in the space, which go with one warp.
        bounds: the ends of the target's range, for "logit".
        belief: "bayes", Bayes' posterior; "vbks", the layer of the paper; "stacking", Bayes' with
            weights by stacking; or `vbks.BeliefSettings` with all there is to choose, in place of
            the next three. By default what the method goes with: all in one kernel with those
            that choose one.
        temperature: evidences are divided by it before the belief is formed.
        prior: p(k): "uniform" over structures; "grammar", under which small ones are likelier; a
            mapping from the expressions of the space to numbers; or a function of an expression.
        weights: what predictions are averaged with: "belief", the probabilities; "stacking", the
            weights that predict left-out rows best; or "auto", the latter where it is clearly
            better.
        preset: "paper", or `vbks.PaperSettings`, for what the VBKS paper describes and nothing
            else: all candidates, by q(u) and q(θ) on minibatches, with a point or another
            ``posterior``; K144 unless another space is given.
        families: base kernels that a search makes candidates of; by default the method's own.
        restarts: starts of each candidate.
        race: whether candidates far behind stop early.
        budget: seconds after which there is an answer, or `vbks.Budget(candidates=...)`, which
            gives the same answer each time; by default as long as the method usually takes.
        trace: at how many growing parts of the data to form the belief, for `plot_trace`; this
            takes its time after the budget. With the preset "paper", the number of equal parts of
            the steps after each of which it is formed.
        callback: with the preset "paper", called every `PaperSettings.every` steps with a
            `vbks.search.BeliefRecord`; training ends if it returns True.
        memory_limit: bytes that fits may use.
        executor: where fits are made: `vbks.execution.Devices` of this machine, all GPUs by
            default, or `vbks.execution.Ray` for a cluster.
        checkpoint: a folder where finished work is kept; the same call goes on from there after
            an interruption.
        seed: everything random follows from it.
        progress: show a live table, if the output is a terminal.
    """
    check_precision()
    began = time.perf_counter()
    chosen = method_of(method)
    paper = _paper(preset)
    model = make_likelihood(likelihood)
    if paper is not None:
        formed = (belief, temperature, weights)
        check_call(chosen.name, inference, posterior, model, warps, families, formed)
        posterior, warps, race = posterior_of(posterior), ("identity",), False
        space = K144 if isinstance(space, str) and space == "grow" else space
    elif callback is not None:
        raise DataError("a callback goes with preset='paper'. Leave it out, or use progress=.")
    elif warps == "auto" and chosen.name != "vbks":
        warps = ("identity",)
    members = _listed(space)
    has_kernels = any(isinstance(member, Kernel) for member in members or ())
    notices: tuple[str, ...] = ()
    if has_kernels and warps == "auto":
        warps, notices = ("identity",), (ONE_WARP,)
    for name, value in (("noise_variance", noise_variance), ("mean_function", mean_function)):
        if value is not None:
            if preset is not None:
                raise DataError(f"{name} is no part of the VBKS paper. Leave out it or preset=.")
            _refuse_warps(name, model, warps)
    if noise_variance is not None and chosen.name == "skc":
        raise DataError(NO_UPPERS)
    if warps == "auto" and not (noise_variance is None and mean_function is None):
        warps, notices = ("identity",), (ONE_WARP_BY_UNITS,)
    rows = _prepared(X if y is None else (X, y), model, seed, noise_variance)
    mean = None
    if mean_function is not None:
        mean, rows = _around(mean_function, rows, seed)
    data = _warped(rows, warps, bounds, model)
    if has_kernels and len(data) > 1:
        raise DataError("the values of GPflow kernels go with one warp. Give warps= only one.")
    units = next(iter(data.values())).units
    words = _words(families)
    expressions, values = _read(members or (), units, ard=paper is None)
    candidates = None if members is None else expressions
    spending = budget_of(budget)
    believed = _belief(chosen, belief, temperature, prior, weights, seed)
    check_prior(believed.prior, is_growing=candidates is None)
    told: dict[str, Any] = {
        "method": repr(chosen),
        "space": None if candidates is None else [str(expression) for expression in candidates],
        "given": {str(e): [[*own.theta], [*own.fixed]] for e, own in values.items()} or None,
        "families": None if words is None else list(words),
        "inference": inference,
        "posterior": posterior,
        "num_inducing": num_inducing,
        "batch_size": batch_size,
        "preset": None if paper is None else asdict(paper),
        "restarts": restarts,
        "race": race,
        "trace": trace,
        "seed": seed,
    }
    call = partial(_described, rows, tuple(data), model, told)
    with (
        reporting(progress) as report,
        run_context(executor, checkpoint, call, memory_limit, began) as place,
    ):
        if paper is not None:
            return select_as_paper(
                data,
                expressions,
                paper,
                posterior=posterior_of(posterior),
                num_inducing=num_inducing,
                batch_size=batch_size,
                restarts=restarts or 1,
                given=values,
                prior=believed.prior,
                budget=spending,
                trace=trace,
                callback=callback,
                place=place,
                report=report,
                seed=seed,
                inputs=None if y is None else read_inputs(X),
            )
        given: dict[str, Any] = {
            "batch_size": batch_size,
            "likelihood": model,
            "restarts": restarts or usual_restarts(rows.num_rows),
            "ard": True,
            "given": values,
            "memory": place.memory,
            "seed": seed,
        }
        task = Task(rows, tuple(data), words, candidates, inference, posterior, num_inducing, given)
        course = Course(chosen, task, data, race, report, place, restarts, believed.prior)
        answer = course.run(spending)
        inputs = None if y is None else read_inputs(X)
        selection = Selection(
            answer.fits,
            data,
            believed.resolved(answer.fits),
            likelihood=model,
            feature_names=None if inputs is None else inputs.names,
            notices=(*answer.notices, *notices),
            time_inputs=() if inputs is None else inputs.times,
            steps=answer.path,
            untried=answer.untried,
            mean_function=mean,
        )
        if trace:
            selection = trace_belief(selection, answer.workshop, trace)
    return selection


def _paper(preset: str | PaperSettings | None) -> PaperSettings | None:
    if preset is None or isinstance(preset, PaperSettings):
        return preset
    check_one_of("preset", preset, ("paper",))
    return PaperSettings()


def _refuse_warps(
    name: str, likelihood: Likelihood, warps: Literal["auto"] | Sequence[str]
) -> None:
    """Refuse what is about targets as they are where the function is on another scale."""
    if not likelihood.is_gaussian:
        raise DataError(
            f"{name} goes with Gaussian noise, and the likelihood is {likelihood.name}. Leave out "
            "one of the two."
        )
    if warps not in ("auto", "identity") and {*warps} != {"identity"}:
        raise DataError(
            f"{name} is about targets as they are, which goes with no warp. Leave out warps, or "
            "give targets after the warp."
        )


def _around(given: Any, rows: TrainingData, seed: int) -> tuple[Function, TrainingData]:
    """The mean function, fitted, and what it leaves of the targets."""
    source = rows.sampled(MEAN_ROWS, np.random.default_rng(seed)).source
    if not isinstance(rows.source, ArraySource) or not isinstance(source, ArraySource):
        raise DataError("mean_function needs rows that are given as arrays, not as a dataset.")
    mean = make_mean_function(given, source.X, source.y, source.noise)
    values = [mean_values(mean, X) for X, _ in rows.source.blocks(MEAN_ROWS)]
    return mean, rows.shifted(np.concatenate(values))


def _prepared(data: Any, likelihood: Likelihood, seed: int, noise: Any) -> TrainingData:
    """Rows to learn from, with level and scale of the function where noise is not Gaussian."""
    rows = prepare(data, standardise_targets=likelihood.is_gaussian, noise_variance=noise)
    if likelihood.is_gaussian:
        return rows
    check_targets(likelihood, rows)
    _, y = rows.sample(LEVEL_ROWS, np.random.default_rng(seed))
    scale = scale_of(likelihood, y)
    return rows.with_level(level_of(likelihood, y, scale), scale)


def _described(
    rows: TrainingData, warps: Sequence[Warp], likelihood: Likelihood, told: Mapping[str, Any]
) -> dict[str, Any]:
    """All that fits depend on, for the folder that keeps them."""
    return {
        "rows": fingerprint(rows),
        "likelihood": encode_likelihood(likelihood),
        "warps": [warp_to_values(warp) for warp in warps],
        **told,
    }


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


def _listed(space: Space) -> tuple[Expression | Kernel, ...] | None:
    """The members of a fixed space; none if candidates are searched for."""
    if isinstance(space, Kernel):
        raise GrammarError("the space is one kernel, expected a list. Write space=[kernel].")
    if isinstance(space, str):
        if space != "grow":
            raise GrammarError(
                f"space is {space!r}, expected 'grow' or a list of expressions such as vbks.K144."
            )
        return None
    members = tuple(member if isinstance(member, Kernel) else parse(member) for member in space)
    if not members:
        raise GrammarError("the space is empty. Give at least one expression.")
    return members


def _read(
    members: Sequence[Expression | Kernel], units: Units, ard: bool
) -> tuple[tuple[Expression, ...], dict[Expression, GivenValues]]:
    """The expressions of a space, and the values that GPflow kernels give them."""
    expressions: list[Expression] = []
    given: dict[Expression, GivenValues] = {}
    for member in members:
        if not isinstance(member, Kernel):
            expressions.append(member)
            continue
        reading = read_standardised(member, units, ard)
        expressions.append(reading.expression)
        given[reading.expression] = reading.given
    structures = Counter(map(arrange, expressions))
    for expression in given:
        if structures[arrange(expression)] > 1:
            raise GrammarError(
                f"'{expression}' is more than once in the space, with values of a GPflow kernel, "
                "so that its fits could not be told apart. Fit them in calls of their own."
            )
    return tuple(expressions), given


def _words(families: Sequence[str] | None) -> tuple[str, ...] | None:
    if families is None:
        return None
    return (families,) if isinstance(families, str) else tuple(families)


def _belief(
    method: Method,
    belief: str | BeliefSettings | None,
    temperature: float,
    prior: KernelPrior,
    weights: Weighting | None,
    seed: int,
) -> BeliefSettings:
    """The belief asked for, or that of the method."""
    if isinstance(belief, BeliefSettings):
        return belief
    if belief is None and method.name != "vbks":
        return method.belief()
    chosen = {"weights": weights} if weights is not None else {}
    fields = {"temperature": temperature, "prior": prior, "seed": seed}
    return BeliefSettings(**{**belief_fields(belief), **chosen, **fields})

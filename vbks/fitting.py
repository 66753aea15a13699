"""The one call: data in, a belief over kernels and averaged predictions out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from vbks.data import TrainingData, Warp, choose_warps, prepare, read_inputs
from vbks.errors import DataError, GrammarError
from vbks.execution import Workshop
from vbks.grammar import BASE_FAMILIES, Expression, parse, vocabulary
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
    FixedSpace,
    Growing,
    KernelPrior,
    Plan,
    Search,
    Strategy,
    budget_of,
    finish_best,
    paper_settings,
)

USUAL_SECONDS = 100.0
"""Time for growing on up to ..."""

USUAL_ROWS = 1000
"""... so many rows, when no budget is given; beyond, it grows with the square root of the rows."""

PAPER_BATCH = 128
"""Rows of a minibatch in the experiments of the VBKS paper."""

Space = Literal["grow"] | Sequence[Expression | str]


def fit(
    X: Any,
    y: Any = None,
    *,
    space: Space = "grow",
    method: Literal["vbks"] = "vbks",
    inference: Inference = "auto",
    posterior: Posterior | Literal["auto"] = "auto",
    num_inducing: int | None = None,
    batch_size: int | None = None,
    likelihood: Any = "gaussian",
    warps: Literal["auto"] | Sequence[str] = "auto",
    bounds: tuple[float, float] | None = None,
    belief: BeliefKind = DEFAULT_BELIEF,
    temperature: float = 1.0,
    prior: KernelPrior = "uniform",
    preset: Literal["paper"] | None = None,
    families: Sequence[str] = BASE_FAMILIES,
    restarts: int = RESTARTS,
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
        method: "vbks".
        inference: "exact", "collapsed" or "stochastic" for all fits; by default what rows and
            candidates allow: a search by the collapsed bound, and the best of it fitted exactly.
        posterior: q(θ) with the best "full" or "diagonal" covariance, or that of "laplace", or a
            "point"; by default full where that is quick.
        num_inducing: inducing points of collapsed and stochastic fits.
        batch_size: rows of a minibatch.
        likelihood: "gaussian" or another name, or a scalar GPflow likelihood.
        warps: transforms of the target that are tried: "identity", "log", "softplus", "logit", or
            all that the data allow.
        bounds: the ends of the target's range, for "logit".
        belief: "vbks", "bayes" or "stacking".
        temperature: evidences are divided by it before the belief is formed.
        prior: "uniform" over structures, or "grammar", under which small ones are likelier.
        preset: "paper" for the settings of the authors of VBKS.
        families: base kernels that a growing space is made of.
        restarts: starts of each candidate.
        race: whether candidates far behind stop early.
        budget: seconds, or `vbks.Budget(candidates=...)`, which gives the same answer each time.
        trace: at how many growing parts of the data to form the belief, for `plot_trace`.
        memory_limit: bytes that fits may use.
        seed: everything random follows from it.
        progress: show a live table, if the output is a terminal.
    """
    _check_one_of("method", method, ("vbks",))
    _check_one_of("preset", preset, (None, "paper"))
    is_paper = preset == "paper"
    if is_paper:
        posterior, warps, race = "point", ("identity",), False
    model = make_likelihood(likelihood)
    rows = prepare(X if y is None else (X, y), standardise_targets=model.is_gaussian)
    data = _warped(rows, warps, bounds, model)
    words = (families,) if isinstance(families, str) else tuple(families)
    strategy = _strategy(space, tuple(data), rows.num_inputs, words)
    believed = BeliefSettings(belief, temperature, prior, seed=seed)
    if is_paper:
        believed = paper_settings(rows.num_rows, batch_size or PAPER_BATCH)
    settings = {
        "batch_size": batch_size,
        "likelihood": model,
        "restarts": restarts,
        "ard": not is_paper,
        "memory": memory_limit,
        "seed": seed,
    }
    plan = Plan.of(rows, strategy.num_expected, inference, posterior, num_inducing, settings)
    spending = budget_of(budget) or _usual_budget(strategy, rows.num_rows)
    with reporting(progress) as report:
        search = Search(strategy, Workshop(data, plan.search, race, settings, report), spending)
        state = search.run()
        fits = list(state.fits)
        final = Workshop(data, plan.final, False, settings, report)
        if plan.final != plan.search:
            margin, most = plan.limits if race else (math.inf, None)
            fits = finish_best(fits, final, margin, most)
        notices = (
            *rows.notices, *search.workshop.notices, *final.notices, plan.notice(rows.num_rows),
            search.notice(state),
        )  # fmt: skip
        inputs = None if y is None else read_inputs(X)
        selection = Selection(
            tuple(fits),
            data,
            believed,
            model,
            None if inputs is None else inputs.names,
            tuple(dict.fromkeys(notices)),
            time_inputs=() if inputs is None else inputs.times,
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


def _strategy(
    space: Space, warps: tuple[Warp, ...], num_inputs: int, families: tuple[str, ...]
) -> Strategy:
    if isinstance(space, str):
        if space != "grow":
            raise GrammarError(
                f"space is {space!r}, expected 'grow' or a list of expressions such as vbks.K144."
            )
        vocabulary(families, num_inputs)
        return Growing(warps, num_inputs, families)
    expressions = tuple(parse(expression) for expression in space)
    if not expressions:
        raise GrammarError("the space is empty. Give at least one expression.")
    return FixedSpace(expressions, warps)


def _usual_budget(strategy: Strategy, num_rows: int) -> Budget:
    """All of a fixed space; growing ends after a while."""
    if strategy.is_finite:
        return Budget()
    return Budget(seconds=USUAL_SECONDS * math.sqrt(max(1.0, num_rows / USUAL_ROWS)))


def _check_one_of(name: str, value: object, known: tuple[object, ...]) -> None:
    if value not in known:
        choices = " or ".join(repr(choice) for choice in known)
        raise DataError(f"{name} is {value!r}, expected {choices}.")

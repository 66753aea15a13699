"""The one call: data in, a belief over kernels and averaged predictions out."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from vbks.collector import held_collector
from vbks.progress import reporting
from vbks.progress.choosing import above

Preset: TypeAlias = Literal["fast", "medium", "best", "paper"]
"""Names of presets: three budgets, and what the VBKS paper describes."""

if TYPE_CHECKING:
    from vbks.config import Space, Targets
    from vbks.execution.work import Executor
    from vbks.inference.paper.settings import PaperSettings
    from vbks.inference.result import Posterior
    from vbks.inference.settings import Inference
    from vbks.policies import Policies
    from vbks.progress import Progress
    from vbks.search.budget import Budget
    from vbks.search.method import Method
    from vbks.search.paper import Callback
    from vbks.selection.selection import Selection
    from vbks.weights.prior import KernelPrior
    from vbks.weights.settings import BeliefSettings, Weighting


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
    targets: Targets = "separate",
    warps: Literal["auto"] | Sequence[str] = "auto",
    target_range: tuple[float, float] | None = None,
    belief: Literal["bayes", "vbks", "stacking"] | BeliefSettings | None = None,
    temperature: float = 1.0,
    prior: KernelPrior = "uniform",
    weights: Weighting | None = None,
    preset: Preset | PaperSettings | None = None,
    families: Sequence[str] | None = None,
    restarts: int | None = None,
    prune: bool = True,
    budget: float | Budget | None = None,
    trace: int = 0,
    callback: Callback | None = None,
    policies: Policies | None = None,
    memory_limit: int | None = None,
    executor: Executor | None = None,
    checkpoint: str | PathLike[str] | None = None,
    seed: int = 0,
    progress: bool | Progress = True,
) -> Selection:
    """Choose kernels for rows (X, y), and say how sure that is.

    Args:
        X: inputs [N] or [N, D]: arrays, lists, tables of pandas, polars or Arrow, times, also as
            texts of ISO 8601, memory maps; or, without y, a series, whose index explains it, or a
            `tf.data.Dataset` of rows.
        y: targets [N]; or [N, P], of which each is fitted on its own, so that `vbks.Selections` of
            them come back; or the name of a column of the table X, or a list of names: the other
            columns are inputs then, and its index if that has times. Where X and y are of pandas
            they have one index.
        space: "grow" starts small and expands what the data favour; "K12" or "K144"; expressions
            as a text, such as "SE, SE * PER"; or a list of them such as `vbks.K144`, in which there
            may be texts, GPflow kernels, and what `vbks.from_gpflow` has read. Values of kernels
            are in the units of X and y: what is not trainable is held, and the rest is one of the
            starts.
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
        target_range: the ends of the target's range, for "logit".
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
        preset: "fast", "medium" or "best", a budget of 2, 10 or 60 seconds that begins once
            TensorFlow is imported; or "paper", or `vbks.PaperSettings`, for what the VBKS paper
            describes and nothing else: all candidates, by q(u) and q(θ) on minibatches, with a
            point or another ``posterior``; K144 unless another space is given.
        families: base kernels that a search makes candidates of; by default the method's own.
        restarts: starts of each candidate.
        prune: whether candidates far behind stop early.
        budget: seconds after which there is an answer, counted from the call on, in a new process
            with TensorFlow's start; or `vbks.Budget(candidates=...)`, which gives the same answer
            each time; by default as long as the method usually takes.
        trace: at how many growing parts of the data to form the belief, for `plot_trace`; this
            takes its time after the budget. With the preset "paper", the number of equal parts of
            the steps after each of which it is formed.
        callback: with the preset "paper", called every `PaperSettings.every` steps with a
            `vbks.search.BeliefRecord`; training ends if it returns True.
        policies: numbers that trade time for quality, such as
            ``vbks.Policies(search=vbks.search.SearchPolicy(slack=5.0))``.
        memory_limit: bytes that fits may use.
        executor: where fits are made: `vbks.execution.Devices` of this machine, all GPUs by
            default, or `vbks.execution.Ray` for a cluster.
        checkpoint: a folder where finished work is kept; the same call goes on from there after
            an interruption.
        seed: everything random follows from it.
        progress: show what is tried, how far it has come and the best so far: in place on a
            terminal or in a notebook, elsewhere a line now and then. An object with the methods of
            `vbks.progress.Progress` hears of it instead.
    """
    began = time.perf_counter()
    with reporting(progress) as report:
        _start_tensorflow(report, budget, began)
        from vbks.config import (
            FitConfig,
            as_in_paper,
            read_belief,
            read_budget,
            read_names,
            read_preset,
            read_space,
        )
        from vbks.data.columns import num_columns
        from vbks.data.given import inputs_and_targets
        from vbks.inference.likelihoods.registry import make_likelihood
        from vbks.inference.settings import FitSettings
        from vbks.policies import Policies
        from vbks.search.methods import method_of
        from vbks.selecting import select_kernels
        from vbks.several_targets import select_for_each_target

        fits = FitSettings(
            inference=inference,
            posterior=posterior,
            num_inducing=num_inducing,
            batch_size=batch_size,
            likelihood=make_likelihood(likelihood),
            restarts=restarts,
            prune=prune,
            memory_limit=memory_limit,
            seed=seed,
            policies=policies or Policies(),
        )
        chosen, (paper, speed) = method_of(method), read_preset(preset)
        config = FitConfig(
            fits=fits,
            method=chosen,
            space=read_space(space),
            families=read_names("families", families),
            warps=None if warps == "auto" else read_names("warps", warps),
            target_range=target_range,
            preset=paper,
            trace=trace,
            belief=read_belief(chosen, belief, temperature, prior, weights, paper, seed),
            targets=targets,
            noise_variance=noise_variance,
            mean_function=mean_function,
            budget=read_budget(budget, speed, fits.policies.budget, began),
            speed=speed,
            callback=callback,
            executor=executor,
            checkpoint=checkpoint,
            progress=report,
        )
        if paper is not None:
            config = as_in_paper(config)
        given = inputs_and_targets(X, y)
        if given.y is None or num_columns(given.y) < 2:
            selection = select_kernels(given.X, given.y, config)
            return selection.with_notices(*given.notices)
        # Several targets are what the caller asked for, and what the docstring says they get.
        return cast("Selection", select_for_each_target(given.X, given.y, config))


def _start_tensorflow(report: Progress, budget: object, began: float) -> None:
    """Import all that is needed, which takes seconds in a new process, and show meanwhile that."""
    seconds = getattr(budget, "seconds", budget)
    if isinstance(seconds, int | float) and seconds > 0:
        since = getattr(budget, "began", math.nan)
        report.goal(float(seconds), math.inf, began if math.isnan(since) else since)
    if "vbks.selecting" not in sys.modules:
        report.start(0, "Starting TensorFlow")
        with above(report), held_collector():
            import_module("vbks.selecting")
    report.start(0, "Reading the data")

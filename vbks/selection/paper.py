"""Selections as in the VBKS paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vbks.data.tables import Inputs
from vbks.data.training import TrainingData
from vbks.data.warps import Warp
from vbks.errors import DataError
from vbks.execution.run_context import RunContext
from vbks.grammar.expression import Expression
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.progress import Progress
from vbks.inference.result import Posterior
from vbks.kernels.given import GivenValues
from vbks.search.budget import Budget
from vbks.search.course import failed_warps
from vbks.search.paper import (
    Callback,
    Trainer,
    begin,
)
from vbks.selection.paper_updates import notices
from vbks.selection.selection import Selection
from vbks.weights.prior import KernelPrior
from vbks.weights.settings import paper_settings


def select_as_paper(
    data: Mapping[Warp, TrainingData],
    expressions: Sequence[Expression],
    settings: PaperSettings,
    *,
    posterior: Posterior,
    num_inducing: int | None,
    batch_size: int | None,
    restarts: int,
    given: Mapping[Expression, GivenValues],
    prior: KernelPrior,
    budget: Budget | None,
    trace: int,
    callback: Callback | None,
    place: RunContext,
    report: Progress,
    seed: int,
    inputs: Inputs | None = None,
) -> Selection:
    """All candidates trained on minibatches, and the belief over their local ELBOs."""
    (rows,) = data.values()
    if trace:
        settings = replace(settings, every=max(1, settings.steps // trace))
    states, comparison = begin(
        expressions,
        rows,
        settings,
        posterior=posterior,
        num_inducing=num_inducing,
        batch_size=batch_size,
        restarts=restarts,
        given=given,
        memory=place.memory,
        seed=seed,
    )
    belief = paper_settings(settings, rows.num_rows, comparison.batch_size, prior, seed)
    trainer = Trainer(
        settings,
        belief,
        place.executor,
        report,
        callback,
        has_history=bool(trace),
        seconds=float("inf") if budget is None else budget.seconds,
        clock=place.clock,
    )
    fits, training = trainer.run(states, comparison)
    told = (*rows.notices, *notices(training.record), *failed_warps(fits))
    return Selection(
        fits,
        data,
        belief.resolved(fits),
        feature_names=None if inputs is None else inputs.names,
        notices=told,
        time_inputs=() if inputs is None else inputs.times,
        training=training,
    )


def check_call(
    method: str,
    inference: str,
    posterior: str,
    likelihood: Any,
    warps: Any,
    families: Any,
    belief: tuple[Any, ...],
) -> None:
    """Refuse settings that the paper does not have."""
    for name, is_other, expected in (
        ("method", method != "vbks", "vbks"),
        ("inference", inference not in ("auto", "stochastic"), "stochastic"),
        (
            "posterior",
            posterior not in ("auto", "point", "full", "diagonal"),
            "point, full or diagonal",
        ),
        ("likelihood", not likelihood.is_gaussian, "gaussian"),
        ("warps", warps != "auto" and tuple(warps) != ("identity",), "identity"),
        ("belief", belief != (None, 1.0, None), "of its own, which PaperSettings has"),
        ("families", families is not None, "none, as the space is fixed"),
    ):
        if is_other:
            raise DataError(f"preset='paper' goes with {name} {expected}. Leave {name} out.")


def posterior_of(posterior: str) -> Posterior:
    """The covariance of q(θ): a point by default, as in the experiments of the paper."""
    known: dict[str, Posterior] = {"full": "full", "diagonal": "diagonal"}
    return known.get(posterior, "point")

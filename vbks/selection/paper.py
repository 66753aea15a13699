"""Selections as in the VBKS paper, and how they go on with new rows alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vbks.data.sources import ArraySource
from vbks.data.tables import Inputs, read_inputs
from vbks.data.training import TrainingData
from vbks.data.warps import Warp
from vbks.errors import DataError
from vbks.execution.devices import Devices
from vbks.execution.run_context import RunContext
from vbks.grammar.expression import Expression
from vbks.inference.likelihoods.likelihood import Gaussian
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.progress import Progress, reporting
from vbks.inference.result import Posterior
from vbks.kernels.given import GivenValues
from vbks.search.budget import Budget
from vbks.search.course import failed_warps
from vbks.search.paper import (
    BeliefRecord,
    Callback,
    Trainer,
    Training,
    TrainingRecord,
    begin,
    go_on,
)
from vbks.selection.missing_rows import MissingRows
from vbks.selection.selection import Selection
from vbks.weights.prior import KernelPrior
from vbks.weights.settings import paper_settings

OURS = (
    "p(θ) is ours, since the VBKS paper names none; lines pass through the zero of the "
    "standardised inputs."
)
"""What the paper leaves open, for fits with q(θ)."""


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
        Gaussian(),
        None if inputs is None else inputs.names,
        told,
        time_inputs=() if inputs is None else inputs.times,
        training=training,
    )


def notices(record: TrainingRecord) -> list[str]:
    """What was done, in sentences."""
    u = "sampled" if record.sample_inducing else "integrated out"
    told = [
        f"Trained as in the VBKS paper: {record.steps:,} steps of {record.optimiser} on "
        f"minibatches of {record.batch_size} of {record.num_rows:,} rows, {record.num_inducing} "
        f"inducing points with u {u}, θ {_posterior(record)}."
    ]
    if record.stopped:
        told.append(f"Training ended early: {record.stopped.rstrip('.')}.")
    return told if record.posterior == "point" else [*told, OURS]


def _posterior(record: TrainingRecord) -> str:
    if record.posterior == "point":
        return "as a point"
    return f"with a {record.posterior} covariance and {record.num_samples} samples in each step"


def update_as_paper(
    selection: Selection, X: Any, y: Any, callback: Callback | None = None
) -> Selection:
    """The selection after more rows, from q(u) and q(θ) and without the rows that they know.

    New rows are added to what earlier ones say of u and θ; a point estimate of θ stays, as it does
    not tell how sure they were of it.
    """
    training = selection.training
    assert training is not None
    ((warp, before),) = selection.data.items()
    new = before.new_rows(X, y)
    inputs = read_inputs(X)
    selection.refuse_mixed_times(inputs.labels, inputs.times)
    going = [k for k, fit in enumerate(selection.fits) if fit.status == "fitted"]
    settings, record = training.settings, training.record
    states, comparison = go_on(
        [selection.fits[k] for k in going], new, record, settings, selection.settings.seed
    )
    num_rows = before.num_rows + new.num_rows
    temperature = settings.temperature_of(num_rows, record.batch_size)
    belief = replace(selection.settings, temperature=temperature)
    with reporting(False) as report:
        trainer = Trainer(settings, belief, Devices(), report, callback)
        fits, after = trainer.run(states, comparison, before.num_rows)
    done = dict(zip(going, fits, strict=True))
    names = tuple(str(fit.expression) for fit in selection.fits)
    history = tuple(_among(record, going, names) for record in after.history)
    return replace(
        selection,
        fits=tuple(done.get(k, fit) for k, fit in enumerate(selection.fits)),
        data={warp: _joined(before, new)},
        settings=belief,
        notices=(*before.notices, *notices(after.record)),
        trace=None,
        given_weights=None,
        training=Training(settings, after.record, (*training.history, *history)),
    )


def _among(record: BeliefRecord, places: Sequence[int], names: tuple[str, ...]) -> BeliefRecord:
    """A record of some candidates as one of all, of which the others take no part."""
    elbos, probabilities = np.full(len(names), -np.inf), np.zeros(len(names))
    elbos[list(places)], probabilities[list(places)] = record.elbos, record.probabilities
    return replace(record, expressions=names, elbos=elbos, probabilities=probabilities)


def _joined(before: TrainingData, new: TrainingData) -> TrainingData:
    """All rows where they are in memory, for pictures; else only how many there are."""
    old, more = before.source, new.source
    if isinstance(old, ArraySource) and old.is_in_memory and isinstance(more, ArraySource):
        return before.with_rows(more.X, more.y)
    return replace(before, source=MissingRows(before.num_rows + new.num_rows, new.num_inputs))


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

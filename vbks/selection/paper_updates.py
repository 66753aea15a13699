"""Selections as in the VBKS paper after more rows: they go on with the new rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vbks.data.sources import ArraySource
from vbks.data.training import TrainingData
from vbks.execution.devices import Devices
from vbks.progress import reporting
from vbks.search.paper import BeliefRecord, Callback, Trainer, Training, TrainingRecord, go_on
from vbks.selection.missing_rows import MissingRows
from vbks.selection.new_inputs import check_times
from vbks.selection.record import AnySelection

OURS = (
    "p(θ) is ours, since the VBKS paper names none; lines pass through the zero of the "
    "standardised inputs."
)
"""What the paper leaves open, for fits with q(θ)."""


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
    selection: AnySelection, X: Any, y: Any, callback: Callback | None = None
) -> AnySelection:
    """The selection after more rows, from q(u) and q(θ) and without the rows that they know.

    New rows are added to what earlier ones say of u and θ; a point estimate of θ stays, as it does
    not tell how sure they were of it.
    """
    training = selection.training
    assert training is not None
    ((warp, before),) = selection.data.items()
    new = before.new_rows(X, y)
    check_times(selection, X)
    going = [k for k, fit in enumerate(selection.fits) if fit.status == "fitted"]
    settings, record = training.settings, training.record
    states, context = go_on(
        [selection.fits[k] for k in going], new, record, settings, selection.belief_settings.seed
    )
    num_rows = before.num_rows + new.num_rows
    temperature = settings.temperature_of(num_rows, record.batch_size)
    belief = replace(selection.belief_settings, temperature=temperature)
    with reporting(False) as report:
        trainer = Trainer(settings, belief, Devices(), report, callback)
        fits, after = trainer.run(states, context, before.num_rows)
    done = dict(zip(going, fits, strict=True))
    names = tuple(str(fit.expression) for fit in selection.fits)
    history = tuple(_among(record, going, names) for record in after.history)
    return replace(
        selection,
        fits=tuple(done.get(k, fit) for k, fit in enumerate(selection.fits)),
        data={warp: _joined(before, new)},
        belief_settings=belief,
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

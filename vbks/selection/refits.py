"""Fits that go on: from where a candidate is, or from a GPflow model that was trained elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gpflow
import numpy as np

from vbks.data.training import TrainingData
from vbks.data.units import Units
from vbks.data.warps import Warp
from vbks.errors import DataError, VbksError
from vbks.execution.devices import Devices
from vbks.grammar.canonical import arrange
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference.candidate import given_by
from vbks.inference.evaluator import Evaluator
from vbks.inference.proposal import Proposal, of_warp
from vbks.inference.result import LocalFit, Mode, Posterior
from vbks.inference.settings import FitSettings, FitStage
from vbks.kernels.gpflow.reading import read_standardised
from vbks.kernels.layout import NOISE_SLOT
from vbks.selection.record import AnySelection, SelectionRecord

SAME = 1e-6
"""Rows of a model are those of a selection up to this relative difference."""

LEAST_NOISE = 1e-12
"""A noise variance below counts as this, since its logarithm is what is fitted."""


def refit(
    selection: AnySelection,
    fit: LocalFit,
    posterior: Posterior | None = None,
    restarts: int | None = None,
    seed: int = 0,
) -> AnySelection:
    """The selection with one of its fits gone on with, and also begun anew from some starts."""
    again = _go_on(selection, fit, posterior)
    if restarts is not None:
        again = _better(again, _begin(selection, fit, posterior, restarts, seed))
    if again.status != "fitted":
        raise VbksError(f"'{fit.expression}' could not be fitted again: {again.reason}")
    return _with_fit(selection, fit, again)


def with_model(
    selection: AnySelection, model: Any, expression: Expression | str | None, warp: str | None
) -> AnySelection:
    """The selection with a fit that starts from the values of a GPflow model."""
    rows = _rows_under(selection, warp)
    _refuse_model(model, selection)
    start = _start(selection, model, rows)
    if expression is not None and arrange(parse(expression)) != arrange(start.expression):
        raise DataError(
            f"the kernel of the model reads as '{start.expression}', not '{expression}'. Leave the "
            "expression out, or give the model of it."
        )
    again = _go_on(selection, start, None)
    if again.status != "fitted":
        raise VbksError(f"'{start.expression}' could not be fitted: {again.reason}")
    known = [fit for fit in selection.fits if _is_same(fit, start)]
    if not known:
        return _with_fit(selection, None, again)
    best = _better(again, known[0])
    did = "keeps the fit it had" if best is known[0] else "has the fit from the model given"
    note = f"'{start.expression}'{of_warp(start.warp)} {did}, which has the higher evidence."
    return replace(_with_fit(selection, known[0], best), notices=(*selection.notices, note))


def _go_on(selection: SelectionRecord, fit: LocalFit, posterior: Posterior | None) -> LocalFit:
    """The candidate from where it is, by the bound of all others."""
    stage = _stage(selection, fit, posterior)
    (found,) = _evaluator(selection, fit, FitSettings()).go_on([fit], stage)
    return found


def _begin(
    selection: SelectionRecord, fit: LocalFit, posterior: Posterior | None, restarts: int, seed: int
) -> LocalFit:
    """The candidate from starts of its own."""
    evaluator = _evaluator(selection, fit, FitSettings(restarts=restarts, seed=seed))
    stage = _stage(selection, fit, posterior)
    (found,) = evaluator.fit([Proposal(fit.expression, fit.warp)], stage)
    return found


def _stage(selection: SelectionRecord, fit: LocalFit, posterior: Posterior | None) -> FitStage:
    """The stage of the best, with the posterior that is asked for or that the fit has."""
    best = selection.best
    own = fit.posterior if fit.status == "fitted" else best.posterior
    return FitStage(best.bound, posterior or own, importance=not math.isnan(best.evidence))


def _evaluator(selection: SelectionRecord, fit: LocalFit, settings: FitSettings) -> Evaluator:
    """What fits with the inducing inputs of all others, and with what the fit has held."""
    best = selection.best
    own = replace(
        settings,
        likelihood=selection.likelihood,
        ard=best.ard,
        inducing=best.inducing,
        given=given_by([fit] if fit.modes else []),
        prune=False,
    )
    return Evaluator(selection.data, own, executor=Devices())


def _with_fit(selection: AnySelection, old: LocalFit | None, new: LocalFit) -> AnySelection:
    """The selection with a fit in place of an old one, or as one more, and a belief anew."""
    fits: Sequence[LocalFit] = (
        (*selection.fits, new)
        if old is None
        else [new if fit is old else fit for fit in selection.fits]
    )
    settings = selection.belief_settings.resolved(fits)
    return replace(
        selection, fits=tuple(fits), belief_settings=settings, trace=None, given_weights=None
    )


def _better(one: LocalFit, other: LocalFit) -> LocalFit:
    """The fit of higher evidence."""
    both = [fit for fit in (one, other) if fit.status == "fitted"]
    return max(both, key=lambda fit: fit.log_evidence(), default=one)


def _is_same(fit: LocalFit, start: LocalFit) -> bool:
    return fit.warp == start.warp and arrange(fit.expression) == arrange(start.expression)


def _rows_under(selection: SelectionRecord, warp: str | None) -> TrainingData:
    """The rows under the warp that the values of a model go with."""
    known: dict[str, Warp] = {own.name: own for own in selection.data}
    if warp is None and len(known) == 1:
        return next(iter(selection.data.values()))
    if warp not in known:
        raise DataError(
            f"the warp of the model is {warp!r}, expected one of {', '.join(known)}: that of the "
            "targets it was trained on. Give it as warp=."
        )
    return selection.data[known[warp]]


def _refuse_model(model: Any, selection: SelectionRecord) -> None:
    if not isinstance(model, gpflow.models.GPModel):
        raise DataError(f"a GPflow model is needed, got a {type(model).__name__}.")
    is_gaussian = isinstance(model.likelihood, gpflow.likelihoods.Gaussian)
    if selection.likelihood.is_gaussian and not is_gaussian:
        raise DataError(
            f"the model has the likelihood {type(model.likelihood).__name__}, but the selection "
            "has Gaussian noise. Give a model of the same likelihood."
        )
    has_mean = not isinstance(model.mean_function, gpflow.functions.Zero)
    if has_mean and selection.likelihood.is_gaussian:
        raise DataError(
            f"the model has the mean function {type(model.mean_function).__name__}, which has no "
            "place in a fit of the selection. Average it with others by vbks.average."
        )


def _start(selection: SelectionRecord, model: Any, rows: TrainingData) -> LocalFit:
    """A fit that has only the values of a model, from which another goes on."""
    best = selection.best
    units = _units_of(model, rows)
    reading = read_standardised(model.kernel, units, ard=best.ard)
    theta, fixed = reading.theta.copy(), {*map(int, np.flatnonzero(reading.fixed))}
    variance = getattr(model.likelihood, "variance", None)
    if selection.likelihood.is_gaussian and isinstance(variance, gpflow.Parameter):
        own = float(np.exp(-2.0 * np.log(units.y_scale)) * variance.numpy())
        theta[NOISE_SLOT] = np.log(max(own, LEAST_NOISE))
        fixed.discard(NOISE_SLOT)
        fixed |= set() if variance.trainable else {NOISE_SLOT}
    mode = Mode(theta, np.zeros((len(theta),) * 2), 1.0, 0.0, 0.0, math.nan)
    return replace(
        best,
        expression=reading.expression,
        num_free=len(theta),
        status="dropped",
        modes=(mode,),
        q_u=None,
        warp=rows.units.warp,
        log_jacobian=rows.log_jacobian,
        fixed=tuple(sorted(fixed)),
    )


def _units_of(model: Any, rows: TrainingData) -> Units:
    """The units in which the values of a model are: standardised, or the user's own.

    A model that keeps its rows shows it; one that does not is taken to be standardised, as those
    that a selection gives are.
    """
    D = rows.num_inputs
    standardised = Units(np.zeros(D), np.ones(D), 0.0, 1.0)
    data = getattr(model, "data", None)
    if data is None:
        return standardised
    X, Y = (np.asarray(values) for values in data)
    own_X, own_y = rows.arrays()
    units = rows.units
    warped = own_y * units.y_scale + units.y_mean
    for expected, found in (
        ((own_X, own_y), standardised),
        ((units.restore_inputs(own_X), warped - units.y_mean), replace(units, y_mean=0.0)),
        ((units.restore_inputs(own_X), warped), units),
    ):
        if _is_close(X, expected[0]) and _is_close(Y, expected[1][:, np.newaxis]):
            return found
    raise DataError(
        f"the model was trained on other data: {list(X.shape)} inputs and {list(Y.shape)} targets "
        "that are neither the rows of the selection nor these standardised. Use the same rows."
    )


def _is_close(values: Any, expected: Any) -> bool:
    return values.shape == expected.shape and bool(
        np.allclose(values, expected, rtol=SAME, atol=SAME * float(np.abs(expected).max()))
    )

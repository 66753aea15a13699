"""Selections after more rows: fits go on from where they are, and the belief moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vbks.execution.devices import Devices
from vbks.inference.candidate import given_by
from vbks.inference.evaluator import Evaluator
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitSettings, FitStage
from vbks.predict.models.mean_functions import mean_values
from vbks.selection.new_inputs import check_times, read_new_inputs
from vbks.selection.record import AnySelection


def update(selection: AnySelection, X: Any, y: Any, noise_variance: Any) -> AnySelection:
    """The selection after more rows; units and inducing inputs stay."""
    check_times(selection, X)
    if selection.mean_function is not None:
        expected = mean_values(selection.mean_function, read_new_inputs(selection, X))
        y = np.ravel(np.asarray(y, float)) - expected
    data = {warp: rows.with_rows(X, y, noise_variance) for warp, rows in selection.data.items()}
    going = [k for k, fit in enumerate(selection.fits) if fit.status == "fitted"]
    first = selection.fits[going[0]]
    settings = FitSettings(
        likelihood=selection.likelihood, ard=first.ard, inducing=first.inducing,
        given=given_by(selection.fits[k] for k in going),
    )  # fmt: skip
    evaluator = Evaluator(data, settings, executor=Devices())
    done: dict[int, LocalFit] = {}
    for stage, places in _stages(selection.fits, going).items():
        again = evaluator.go_on([selection.fits[k] for k in places], stage)
        done |= zip(places, again, strict=True)
    fits = tuple(done.get(k, fit) for k, fit in enumerate(selection.fits))
    return replace(selection, fits=fits, data=data, trace=None, given_weights=None)


def _stages(fits: Sequence[LocalFit], places: Sequence[int]) -> dict[FitStage, list[int]]:
    """Places of fits that were made alike."""
    found: dict[FitStage, list[int]] = {}
    for k in places:
        fit = fits[k]
        stage = FitStage(fit.bound, fit.posterior, importance=bool(np.isfinite(fit.evidence)))
        found.setdefault(stage, []).append(k)
    return found

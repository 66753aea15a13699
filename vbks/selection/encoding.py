"""A selection as plain values and packed arrays, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from gpflow.functions import Function

from vbks.arrays import Array
from vbks.data.sources import ArraySource, Source
from vbks.data.training import TrainingData
from vbks.data.units import Units
from vbks.data.warps import Warp
from vbks.errors import FileError
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.inference.paper.settings import PaperSettings
from vbks.search.paper import BeliefRecord, Training, TrainingRecord
from vbks.search.protocol import Step
from vbks.selection.missing_rows import MissingRows
from vbks.selection.record import SelectionRecord
from vbks.storage.codec import Kind, PlainKind, StandIn
from vbks.storage.fit_codec import FITS
from vbks.storage.likelihood_encoding import decode_likelihood, encode_likelihood
from vbks.storage.mean_encoding import decode_mean_function, encode_mean_function
from vbks.storage.records import Packing, Record, Unpacking, as_finite, damaged, wrong
from vbks.weights.policy import AveragingPolicy, LayerPolicy
from vbks.weights.settings import BeliefSettings


@dataclass(frozen=True, eq=False)
class SavedRows:
    """Rows X [N, D] and y [N] in the user's units, with their known noise [N], if they are kept."""

    num_rows: int
    num_inputs: int
    X: Array | None
    y: Array | None
    noise: Array | None


@dataclass(frozen=True, eq=False)
class SavedUnits:
    """What `TrainingData` says of rows under one warp."""

    units: Units
    notices: tuple[str, ...]
    log_jacobian: float
    has_own_targets: bool


@dataclass(frozen=True, eq=False)
class SavedData:
    """The rows, which are the same under all warps, and the units of each."""

    rows: SavedRows
    units: tuple[SavedUnits, ...]


@dataclass(frozen=True, eq=False)
class SavedTrace:
    """Probabilities [T, P] of candidates at shares of the rows."""

    proportions: tuple[float, ...]
    expressions: tuple[str, ...]
    warps: tuple[str, ...]
    probabilities: Array


def encode(selection: SelectionRecord) -> tuple[dict[str, Any], dict[str, Array]]:
    """Everything that a selection is made of, but for rows outside of memory that none needs."""
    source = selection.rows.source
    is_in_memory = isinstance(source, ArraySource) and source.is_in_memory
    if not is_in_memory and not _needs_rows(selection):
        missing = MissingRows(source.num_rows, source.num_inputs)
        selection = replace(
            selection,
            data={warp: replace(rows, source=missing) for warp, rows in selection.data.items()},
            given_weights=selection.weights,
        )
    packing = Packing(ARRAYS)
    # A `Selection` has the fields of its record, and answers beside them.
    return SELECTIONS.encode(selection, packing, as_type=SelectionRecord), packing.arrays()


def decode(record: Record, arrays: Mapping[str, Array], place: str) -> SelectionRecord:
    """The selection that was encoded; ``place`` is what messages call the arrays."""
    unpacking = Unpacking(arrays, place)
    selection = SELECTIONS.decode(SelectionRecord, record, unpacking)
    unpacking.finish()
    return selection


def _needs_rows(selection: SelectionRecord) -> bool:
    """Whether predictions cannot be made from the posteriors of the fits alone."""
    bounds = {fit.bound for fit in selection.fits if fit.status == "fitted"}
    return bounds != {"stochastic"}


def _saved_data(data: Mapping[Warp, TrainingData]) -> SavedData:
    source = next(iter(data.values())).source
    X, y, noise = None, None, None
    if not isinstance(source, MissingRows):
        X, y = next(source.blocks(source.num_rows))
        noise = source.noise if isinstance(source, ArraySource) else None
    rows = SavedRows(source.num_rows, source.num_inputs, X, y, noise)
    units = (
        SavedUnits(own.units, own.notices, own.log_jacobian, own.has_own_targets)
        for own in data.values()
    )
    return SavedData(rows, tuple(units))


def _data(saved: SavedData) -> dict[Warp, TrainingData]:
    rows = saved.rows
    source: Source = MissingRows(rows.num_rows, rows.num_inputs)
    if rows.X is not None and rows.y is not None:
        source = ArraySource(rows.X, rows.y, rows.noise)
    return {
        own.units.warp: TrainingData(
            source, own.units, own.notices, own.log_jacobian, own.has_own_targets
        )
        for own in saved.units
    }


def _saved_trace(trace: pd.DataFrame) -> SavedTrace:
    names = trace.columns
    return SavedTrace(
        tuple(map(float, trace.index)),
        tuple(names.get_level_values("expression")),
        tuple(names.get_level_values("warp")),
        trace.to_numpy(),
    )


def _trace(saved: SavedTrace) -> pd.DataFrame:
    names = ["expression", "warp"]
    return pd.DataFrame(
        saved.probabilities,
        index=pd.Index(saved.proportions, name="proportion"),
        columns=pd.MultiIndex.from_arrays([saved.expressions, saved.warps], names=names),
    )


def _encode_settings(settings: Mapping[str, object]) -> dict[str, object]:
    return {str(name): _plain_setting(name, value) for name, value in settings.items()}


def _plain_setting(name: str, value: object) -> object:
    """A setting for JSON, in which numbers that are not finite have a name of their own."""
    if isinstance(value, tuple | list):
        return [_plain_setting(name, part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise FileError(f"the setting '{name}' cannot be saved: it is a {type(value).__name__}.")


def _decode_settings(value: object, what: str) -> dict[str, object]:
    return {name: _setting(own, what) for name, own in Record.of(value, what).values.items()}


def _setting(value: object, what: str) -> object:
    if isinstance(value, list):
        return tuple(_setting(part, what) for part in value)
    if isinstance(value, dict):
        return Record.of(value, what).number("number")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        raise wrong(what, value, "a number that fits into 64 bits")
    return as_finite(value, what) if isinstance(value, float) else value


def _check_rows(rows: SavedRows, place: str) -> None:
    N, D = rows.num_rows, rows.num_inputs
    if not N or not D:
        raise damaged(f"{place} has {N} rows of {D} inputs, expected at least one of each")
    if (rows.X is None) != (rows.y is None):
        raise damaged(f"{place} has inputs or targets alone")
    if rows.X is None or rows.y is None:
        return
    if not (np.isfinite(rows.X).all() and np.isfinite(rows.y).all()):
        raise damaged(f"{place} has missing or infinite values")
    if rows.noise is not None and not (np.isfinite(rows.noise).all() and (rows.noise >= 0).all()):
        raise damaged(f"{place} has known noise that is no variance")


def _check_units(units: Units, place: str) -> None:
    scales = np.append(units.x_scale, units.y_scale)
    if not (np.isfinite(units.x_mean).all() and np.isfinite(scales).all() and (scales > 0).all()):
        raise damaged(f"{place} has units that are not numbers with scales above 0")


def _check_selection(selection: SelectionRecord, place: str) -> None:
    if not selection.data:
        raise damaged(f"{place} has no data")
    for number, fit in enumerate(selection.fits, 1):
        if fit.warp not in selection.data:
            raise damaged(f"fit {number} of {place} is of other data than is there")
    if isinstance(selection.rows.source, MissingRows) and _needs_rows(selection):
        raise damaged(f"{place} says that rows were not saved, but its fits need them")


SELECTIONS = FITS.extended(
    [
        Kind(
            SelectionRecord,
            "selection",
            sizes={"fits": "K", "given_weights": "K"},
            check=_check_selection,
        ),
        Kind(SavedData),
        Kind(
            SavedRows,
            sizes={"num_rows": "N", "num_inputs": "D", "X": "N D", "y": "N", "noise": "N"},
            check=_check_rows,
        ),
        Kind(SavedUnits, "data", finite=("log_jacobian",)),
        Kind(
            Units,
            sizes={"x_mean": "D", "x_scale": "D"},
            finite=("y_mean", "y_scale"),
            check=_check_units,
        ),
        Kind(
            SavedTrace,
            sizes={"proportions": "T", "expressions": "P", "warps": "P", "probabilities": "T P"},
            prefix="trace_",
        ),
        Kind(
            BeliefSettings,
            finite=("prior", "prior_mean", "prior_covariance", "averaging_variance"),
        ),
        Kind(LayerPolicy),
        Kind(AveragingPolicy),
        Kind(Step, "step"),
        Kind(Training),
        Kind(TrainingRecord, finite=("learning_rate",)),
        Kind(
            PaperSettings,
            finite=("learning_rate", "belief_variance", "averaging_variance", "temperature"),
        ),
        Kind(
            BeliefRecord,
            "belief",
            sizes={"expressions": "E", "elbos": "E", "probabilities": "E"},
            own="E",
            prefix="history_",
            left_out=("kernel_belief",),
            finite=("share",),
        ),
    ],
    {
        Likelihood: PlainKind(
            encode_likelihood, lambda value, what: decode_likelihood(Record.of(value, what))
        ),
        Function: PlainKind(
            encode_mean_function, lambda value, what: decode_mean_function(Record.of(value, what))
        ),
        Mapping[str, object]: PlainKind(_encode_settings, _decode_settings),
    },
    {
        Mapping[Warp, TrainingData]: StandIn(SavedData, _saved_data, _data),
        pd.DataFrame: StandIn(SavedTrace, _saved_trace, _trace),
    },
)
"""Selections with all that they are made of."""

ARRAYS = SELECTIONS.array_names
"""Names of the packed arrays, all of which a saved selection has."""

"""A selection as plain values and packed arrays, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np
import pandas as pd
from gpflow.functions import Function

from vbks.arrays import Array
from vbks.data.sources import ArraySource, Source
from vbks.data.training import TrainingData
from vbks.data.units import Units
from vbks.data.warp_registry import warp_to_values
from vbks.data.warps import Warp
from vbks.errors import FileError, VbksError
from vbks.inference.result import Correction
from vbks.search.protocol import Step
from vbks.selection.missing_rows import MissingRows
from vbks.selection.record import SelectionRecord
from vbks.selection.training_encoding import decode_training, encode_training
from vbks.storage.fit_encoding import (
    FIT_ARRAYS,
    InducingInputs,
    decode_fit,
    decode_warp,
    encode_fit,
)
from vbks.storage.likelihood_encoding import decode_likelihood, encode_likelihood
from vbks.storage.mean_encoding import decode_mean_function, encode_mean_function
from vbks.storage.records import Packing, Record, Unpacking, damaged, plain_number
from vbks.weights.gaussian import Form
from vbks.weights.prior import KernelPrior, PriorName
from vbks.weights.settings import BeliefKind, BeliefSettings, Weighting

ARRAYS = (
    "X", "y", "x_mean", "x_scale", "inducing", *FIT_ARRAYS, "trace", "weights", "history", "noise"
)  # fmt: skip
"""Names of the packed arrays, all of which a saved selection has."""


def encode(selection: SelectionRecord) -> tuple[dict[str, Any], dict[str, Array]]:
    """Everything that a selection is made of."""
    packing, inducing = Packing(ARRAYS), InducingInputs()
    fits = [encode_fit(fit, inducing, packing) for fit in selection.fits]
    lengths = inducing.pack(packing)
    names, mean = selection.feature_names, selection.mean_function
    plain = {
        "likelihood": encode_likelihood(selection.likelihood),
        "belief": _encode_settings(selection.belief_settings),
        "feature_names": None if names is None else list(names),
        "time_inputs": list(selection.time_inputs),
        "notices": list(selection.notices),
        "rows": _encode_rows(selection, packing),
        "data": [_encode_data(warp, data, packing) for warp, data in selection.data.items()],
        "inducing": lengths,
        "fits": fits,
        "trace": _encode_trace(selection.trace, packing),
        "steps": [_encode_step(step) for step in selection.steps],
        "untried": list(selection.untried),
        "mean_function": None if mean is None else encode_mean_function(mean),
        "training": encode_training(selection.training, packing),
    }
    return plain, packing.arrays()


def decode(record: Record, arrays: Mapping[str, Array], place: str) -> SelectionRecord:
    """The selection that was encoded; ``place`` is what messages call the arrays."""
    unpacking = Unpacking(arrays, place)
    source = _decode_rows(record.record("rows"), unpacking)
    data = dict(_decode_data(part, source, unpacking) for part in record.records("data", "data"))
    if not data:
        raise damaged(f"{record.place} has no data")
    D = source.num_inputs
    inducing = InducingInputs.unpack(record, D, unpacking)
    fits = tuple(decode_fit(fit, D, inducing, unpacking) for fit in record.records("fits", "fit"))
    for number, fit in enumerate(fits, 1):
        if fit.warp not in data:
            raise damaged(f"fit {number} of {record.place} is of other data than is there")
    trace = _decode_trace(record, unpacking)
    is_without_rows = isinstance(source, MissingRows)
    weights = unpacking.take("weights", len(fits)) if len(arrays["weights"]) else None
    training = decode_training(record, unpacking)
    unpacking.finish()
    try:
        selection = SelectionRecord(
            fits,
            data,
            _decode_settings(record.record("belief")),
            decode_likelihood(record.record("likelihood")),
            None if record.is_null("feature_names") else record.texts("feature_names"),
            record.texts("notices"),
            trace,
            tuple(record.counts("time_inputs")),
            tuple(_decode_step(step) for step in record.records("steps", "step")),
            record.texts("untried"),
            weights,
            training,
            mean_function=_decode_mean(record),
        )
    except FileError:
        raise
    except VbksError as error:
        raise damaged(f"{record.place} cannot be read: {str(error).rstrip('.')}") from None
    if is_without_rows and _needs_rows(selection):
        raise damaged(f"{record.place} says that rows were not saved, but its fits need them")
    return selection


def _decode_mean(record: Record) -> Function | None:
    if record.is_null("mean_function"):
        return None
    return decode_mean_function(record.record("mean_function"))


def _encode_rows(selection: SelectionRecord, packing: Packing) -> dict[str, Any]:
    """All warps have the same rows. Those outside of memory are left out where none needs them."""
    source = next(iter(selection.data.values())).source
    is_in_memory = isinstance(source, ArraySource) and source.is_in_memory
    is_saved = is_in_memory or _needs_rows(selection)
    if not is_saved:
        packing.add("weights", selection.weights)
    if is_saved:
        X, y = next(source.blocks(source.num_rows))
        packing.add("X", X)
        packing.add("y", y)
        if isinstance(source, ArraySource) and source.noise is not None:
            packing.add("noise", source.noise)
    return {"saved": is_saved, "num_rows": source.num_rows, "num_inputs": source.num_inputs}


def _decode_rows(record: Record, unpacking: Unpacking) -> Source:
    N, D = record.count("num_rows"), record.count("num_inputs")
    if not N or not D:
        raise damaged(f"{record.place} has {N} rows of {D} inputs, expected at least one of each")
    if not record.flag("saved"):
        return MissingRows(N, D)
    X, y = unpacking.take("X", N, D), unpacking.take("y", N)
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise damaged(f"{record.place} has missing or infinite values")
    return ArraySource(X, y, _decode_noise(N, record.place, unpacking))


def _decode_noise(num_rows: int, place: str, unpacking: Unpacking) -> Array | None:
    """Known noise of the rows, if there is any."""
    if not unpacking.has("noise"):
        return None
    noise = unpacking.take("noise", num_rows)
    if not (np.isfinite(noise).all() and (noise >= 0).all()):
        raise damaged(f"{place} has known noise that is no variance")
    return noise


def _needs_rows(selection: SelectionRecord) -> bool:
    """Whether predictions cannot be made from the posteriors of the fits alone."""
    bounds = {fit.bound for fit in selection.fits if fit.status == "fitted"}
    return bounds != {"stochastic"}


def _encode_data(warp: Warp, data: TrainingData, packing: Packing) -> dict[str, Any]:
    units = data.units
    packing.add("x_mean", units.x_mean)
    packing.add("x_scale", units.x_scale)
    return {
        "warp": warp_to_values(warp),
        "y_mean": plain_number(units.y_mean),
        "y_scale": plain_number(units.y_scale),
        "log_jacobian": plain_number(data.log_jacobian),
        "has_own_targets": data.has_own_targets,
        "notices": list(data.notices),
    }


def _decode_data(record: Record, source: Source, unpacking: Unpacking) -> tuple[Warp, TrainingData]:
    units = Units(
        x_mean=unpacking.take("x_mean", source.num_inputs),
        x_scale=unpacking.take("x_scale", source.num_inputs),
        y_mean=record.finite("y_mean"),
        y_scale=record.finite("y_scale"),
        warp=decode_warp(record),
    )
    scales = np.append(units.x_scale, units.y_scale)
    if not (np.isfinite(units.x_mean).all() and np.isfinite(scales).all() and (scales > 0).all()):
        raise damaged(f"{record.place} has units that are not numbers with scales above 0")
    log_jacobian = record.finite("log_jacobian")
    has_own = record.flag("has_own_targets")
    data = TrainingData(source, units, record.texts("notices"), log_jacobian, has_own)
    return units.warp, data


def _encode_settings(settings: BeliefSettings) -> dict[str, Any]:
    covariance = settings.prior_covariance
    return {
        "kind": settings.kind,
        "temperature": plain_number(settings.temperature),
        "prior": settings.prior if isinstance(settings.prior, str) else _plain(settings.prior),
        "prior_variance": plain_number(settings.prior_variance),
        "correction": settings.correction,
        "members": None if settings.members is None else int(settings.members),
        "form": settings.form,
        "prior_mean": None if settings.prior_mean is None else _plain(settings.prior_mean),
        "prior_covariance": None if covariance is None else _plain_pairs(covariance),
        "weights": settings.weights,
        "seed": int(settings.seed),
        "averaging_variance": _optional(settings.averaging_variance, plain_number),
        "averaging_members": _optional(settings.averaging_members, int),
    }


def _optional(value: Any, plain: Callable[[Any], Any]) -> Any:
    return None if value is None else plain(value)


def _plain(values: Any) -> list[dict[str, Any]]:
    """Numbers of expressions; functions are resolved before a selection is made."""
    return [
        {"expression": str(name), "value": plain_number(value)} for name, value in values.items()
    ]


def _plain_pairs(values: Any) -> list[dict[str, Any]]:
    return [
        {"first": first, "second": second, "value": plain_number(value)}
        for (first, second), value in values.items()
    ]


def _decode_numbers(record: Record, key: str) -> dict[str, float]:
    return {own.text("expression"): own.finite("value") for own in record.records(key, key)}


def _decode_prior(record: Record) -> KernelPrior:
    if isinstance(record.values.get("prior"), list):
        return _decode_numbers(record, "prior")
    name: PriorName = record.one_of("prior", get_args(PriorName))
    return name


def _decode_pairs(record: Record) -> dict[tuple[str, str], float] | None:
    if record.is_null("prior_covariance"):
        return None
    pairs = record.records("prior_covariance", "covariance")
    return {(own.text("first"), own.text("second")): own.finite("value") for own in pairs}


def _decode_settings(record: Record) -> BeliefSettings:
    has_mean = not record.is_null("prior_mean")
    return BeliefSettings(
        kind=record.one_of("kind", get_args(BeliefKind)),
        temperature=record.number("temperature"),
        prior=_decode_prior(record),
        prior_variance=record.number("prior_variance"),
        correction=record.one_of("correction", get_args(Correction)),
        members=None if record.is_null("members") else record.count("members"),
        form=record.one_of("form", get_args(Form)),
        prior_mean=_decode_numbers(record, "prior_mean") if has_mean else None,
        prior_covariance=_decode_pairs(record),
        weights=record.one_of("weights", get_args(Weighting)),
        seed=record.count("seed"),
        averaging_variance=(
            None if record.is_null("averaging_variance") else record.finite("averaging_variance")
        ),
        averaging_members=(
            None if record.is_null("averaging_members") else record.count("averaging_members")
        ),
    )


def _encode_step(step: Step) -> dict[str, Any]:
    return {
        "seconds": plain_number(step.seconds),
        "candidates": int(step.candidates),
        "expression": step.expression,
        "warp": step.warp,
        "score": plain_number(step.score),
    }


def _decode_step(record: Record) -> Step:
    return Step(
        record.number("seconds"),
        record.count("candidates"),
        record.text("expression"),
        record.text("warp"),
        record.number("score"),
    )


def _encode_trace(trace: pd.DataFrame | None, packing: Packing) -> dict[str, Any] | None:
    if trace is None:
        return None
    packing.add("trace", trace.to_numpy())
    return {
        "proportions": [float(proportion) for proportion in trace.index],
        "expressions": list(trace.columns.get_level_values("expression")),
        "warps": list(trace.columns.get_level_values("warp")),
    }


def _decode_trace(record: Record, unpacking: Unpacking) -> pd.DataFrame | None:
    if record.is_null("trace"):
        return None
    trace = record.record("trace")
    expressions, warps = trace.texts("expressions"), trace.texts("warps")
    if len(expressions) != len(warps):
        raise damaged(f"{trace.place} has {len(expressions)} expressions and {len(warps)} warps")
    proportions = trace.numbers("proportions")
    return pd.DataFrame(
        unpacking.take("trace", len(proportions), len(expressions)),
        index=pd.Index(proportions, name="proportion"),
        columns=pd.MultiIndex.from_arrays([expressions, warps], names=["expression", "warp"]),
    )

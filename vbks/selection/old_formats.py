"""Earlier formats of saved selections, rewritten as the newest.

Only names and shapes are moved here: what they are worth is checked when the newest is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from vbks.arrays import Array
from vbks.inference.paper.settings import PaperSettings
from vbks.storage.records import Record, damaged
from vbks.weights.policy import AveragingPolicy, LayerPolicy

_ARRAYS: dict[str, int] = {
    "X": 1, "y": 1, "x_mean": 1, "x_scale": 1, "inducing": 1, "theta_mean": 1, "theta_factor": 1,
    "u_mean": 1, "u_covariance": 1, "sample_theta": 2, "sample_mean": 2, "sample_covariance": 2,
    "trace": 1, "weights": 3, "history": 4, "noise": 5,
}  # fmt: skip
"""Packed arrays of the formats up to 5, and the first of them that has each."""

_ADDED: dict[str, dict[str, Any]] = {
    "fits": {
        "samples": 0,
        "fixed": [],
        "evidence": "nan",
        "evidence_error": "nan",
        "most_probable": "nan",
    },
    "data": {"has_own_targets": False},
}
"""What formats before 5 do not have: samples of θ, values that were held, evidences by importance
sampling, and functions around a level."""

_ADDED_TO_BELIEF: dict[str, Any] = {
    "form": "gaussian",
    "prior_mean": None,
    "prior_covariance": None,
    "weights": "belief",
    "averaging_variance": None,
    "averaging_members": None,
}
"""What beliefs of formats before 5 do not have; weights of stacking were a kind of belief."""


_RENAMED = {"members": "max_candidates", "averaging_members": "max_averaged"}
"""Settings of beliefs that had other names."""


def array_names(number: int) -> list[str]:
    """The packed arrays of a format up to 5."""
    return [name for name, since in _ARRAYS.items() if since <= number]


def upgraded(record: Record, arrays: Mapping[str, Array]) -> tuple[Record, dict[str, Array]]:
    """Plain values and arrays of a format up to 5 as the newest."""
    record = _as_format_5(record)
    every = {name: np.zeros(0) for name in _ARRAYS} | dict(arrays)
    fits = _fits(record)
    values = {
        "fits": fits,
        "data": _data(record, has_noise=len(every["noise"]) > 0),
        "belief_settings": _belief(record.record("belief")),
        "likelihood": record.value("likelihood"),
        "feature_names": record.value("feature_names"),
        "notices": record.value("notices"),
        "trace": _trace(record),
        "time_inputs": record.value("time_inputs"),
        "search_steps": record.value("steps"),
        "untried": record.value("untried"),
        "given_weights": [len(fits)] if len(every["weights"]) else None,
        "training": _training(record),
        "mean_function": record.value("mean_function"),
        "settings": {},
        "target_name": None,
    }
    elbos, probabilities = _split_history(record, every.pop("history"))
    every |= {
        "trace_probabilities": every.pop("trace"),
        "given_weights": every.pop("weights"),
        "history_elbos": elbos,
        "theta_samples": np.zeros(0),
        "history_probabilities": probabilities,
    }
    return Record.of(values, record.place), every


def _as_format_5(record: Record) -> Record:
    changed: dict[str, Any] = {"training": None, "mean_function": None, **record.values}
    belief = changed.get("belief")
    if isinstance(belief, dict):
        stacked = (
            {"kind": "bayes", "weights": "stacking"} if belief.get("kind") == "stacking" else {}
        )
        changed["belief"] = {**_ADDED_TO_BELIEF, **belief, **stacked}
    for key, more in _ADDED.items():
        if isinstance(changed.get(key), list):
            changed[key] = [
                {**more, **part} if isinstance(part, dict) else part for part in changed[key]
            ]
    return Record.of(changed, record.place)


def _fits(record: Record) -> list[dict[str, Any]]:
    """Fits with the shapes of their arrays; tables of inducing inputs stand where they begin."""
    lengths, seen, found = record.counts("inducing"), 0, []
    for own in record.records("fits", "fit"):
        values = dict(own.values)
        H, samples = own.count("num_parameters"), own.count("samples")
        del values["num_parameters"], values["samples"]
        values["theta_samples"] = None
        values["pruning"] = own.value("race")
        del values["race"]
        values["modes"] = [
            {**mode.values, "mean": [H], "factor": [H, H]} for mode in own.records("modes", "mode")
        ]
        if not own.is_null("q_u"):
            values["q_u"] = _q_u(own.count("q_u"), samples, H)
        if not own.is_null("inducing"):
            place = own.count("inducing")
            if place >= len(lengths) or place > seen:
                raise own.wrong("inducing", place, f"a number below {min(len(lengths), seen + 1)}")
            if place == seen:
                values["inducing"] = [lengths[place], own.count("num_inputs")]
                seen += 1
        found.append(values)
    return found


def _q_u(M: int, samples: int, H: int) -> dict[str, Any]:
    conditional = {"theta": [samples, H], "mean": [samples, M], "covariance": [samples, M, M]}
    return {"mean": [M], "covariance": [M, M], "samples": conditional if samples else None}


def _data(record: Record, has_noise: bool) -> dict[str, Any]:
    rows = record.record("rows")
    N, D, is_saved = rows.count("num_rows"), rows.count("num_inputs"), rows.flag("saved")
    units = [
        {
            "units": {
                "x_mean": [D],
                "x_scale": [D],
                **{name: own.value(name) for name in ("y_mean", "y_scale", "warp")},
            },
            **{name: own.value(name) for name in ("notices", "log_jacobian", "has_own_targets")},
        }
        for own in record.records("data", "data")
    ]
    saved = {
        "num_rows": N,
        "num_inputs": D,
        "X": [N, D] if is_saved else None,
        "y": [N] if is_saved else None,
        "noise": [N] if has_noise else None,
    }
    return {"rows": saved, "units": units}


def _belief(belief: Record) -> dict[str, Any]:
    values = dict(belief.values)
    values |= {new: values.pop(old) for old, new in _RENAMED.items() if old in values}
    values |= {"layer": asdict(LayerPolicy()), "averaging": asdict(AveragingPolicy())}
    for name in ("prior", "prior_mean"):
        if isinstance(values.get(name), list):
            values[name] = [
                [own.value("expression"), own.value("value")] for own in belief.records(name, name)
            ]
    if values.get("prior_covariance") is not None:
        values["prior_covariance"] = [
            [[own.value("first"), own.value("second")], own.value("value")]
            for own in belief.records("prior_covariance", "covariance")
        ]
    return values


def _trace(record: Record) -> dict[str, Any] | None:
    if record.is_null("trace"):
        return None
    trace = record.record("trace")
    sizes = [len(trace.numbers("proportions")), len(trace.texts("expressions"))]
    return {**trace.values, "probabilities": sizes}


def _training(record: Record) -> dict[str, Any] | None:
    if record.is_null("training"):
        return None
    training = record.record("training")
    defaults = {own.name: own.default for own in fields(PaperSettings)}
    names = training.texts("expressions")
    more = {"expressions": [*names], "elbos": [len(names)], "probabilities": [len(names)]}
    return {
        "settings": {**defaults, **_renamed(training.record("settings"))},
        "record": training.value("record"),
        "history": [{**own.values, **more} for own in training.records("history", "record")],
    }


def _renamed(settings: Record) -> dict[str, Any]:
    values = dict(settings.values)
    if "members" in values:
        values["max_averaged"] = values.pop("members")
    return values


def _split_history(record: Record, history: Array) -> tuple[Array, Array]:
    """Bounds and probabilities, which took turns."""
    if record.is_null("training"):
        return history, np.zeros(0)
    training = record.record("training")
    T = len([*training.records("history", "record")])
    K = len(training.texts("expressions"))
    if len(history) != 2 * T * K:
        raise damaged(f"'history' of {record.place} has {len(history)} numbers, not {2 * T * K}")
    parts = history.reshape(T, 2, K)
    return parts[:, 0].ravel(), parts[:, 1].ravel()

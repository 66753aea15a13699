"""What tells one call of `vbks.fit` from another: its rows, and the settings of its fits."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from vbks.data.training import TrainingData
from vbks.grammar.expression import Expression
from vbks.inference.likelihoods.gpflow_likelihood import GPflowLikelihood
from vbks.inference.likelihoods.likelihood import Gaussian
from vbks.storage.likelihood_encoding import encode_likelihood

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
"""What JSON can tell."""

NOT_IN_FITS = MappingProxyType({"affects_fits": False})
"""Metadata of fields whose values have no effect on fits, so that work goes on with others."""


def in_fits(*names: str) -> Mapping[str, tuple[str, ...]]:
    """Metadata of a field of whose own fields only these have an effect on fits."""
    return MappingProxyType({"affects_fits": names})


BLOCK = 65_536
"""Rows that are read together."""


def fingerprint(rows: TrainingData) -> str:
    """A text that is the same for the same rows in the same order, and for no others."""
    digest = hashlib.sha256(f"{rows.num_rows} {rows.num_inputs}".encode())
    for X, y in rows.source.blocks(BLOCK):
        digest.update(np.ascontiguousarray(X, "<f8").tobytes())
        digest.update(np.ascontiguousarray(y, "<f8").tobytes())
    if rows.known_noise is not None:
        digest.update(np.ascontiguousarray(rows.known_noise, "<f8").tobytes())
    return digest.hexdigest()


def plain(value: object) -> Plain:
    """A setting as plain values: of a dataclass those of its fields, but for `NOT_IN_FITS`.

    A function is known by its name alone, and an array by its shape and a digest of its numbers.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, Expression):
        return str(value)
    if isinstance(value, Gaussian | GPflowLikelihood):
        return encode_likelihood(value)
    if isinstance(value, np.ndarray):
        numbers = np.ascontiguousarray(value, "<f8").tobytes()
        return f"{list(value.shape)} {hashlib.sha256(numbers).hexdigest()}"
    if is_dataclass(value) and not isinstance(value, type):
        return {"kind": type(value).__name__, **plain_fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, Sequence):
        return [plain(own) for own in value]
    if callable(value):
        home, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
        return f"{home}.{name or type(value).__name__}"
    raise TypeError(f"a {type(value).__name__} cannot be told by plain values")


def plain_fields(value: object) -> dict[str, Plain]:
    """The fields of a dataclass that affect fits, as plain values."""
    found: dict[str, Plain] = {}
    for own in fields(value):  # type: ignore[arg-type]
        part, affects = getattr(value, own.name), own.metadata.get("affects_fits", True)
        if isinstance(affects, tuple):
            chosen: dict[str, Plain] = {name: plain(getattr(part, name)) for name in affects}
            found[own.name] = {"kind": type(part).__name__, **chosen}
        elif affects:
            found[own.name] = plain(part)
    return found


def flat(values: Mapping[str, Plain], prefix: str = "") -> dict[str, Plain]:
    """Nested values by the names on the way to them with dots between, without their kinds."""
    found: dict[str, Plain] = {}
    for name, value in values.items():
        if isinstance(value, dict) and "kind" in value:
            inner = {key: own for key, own in value.items() if key != "kind"}
            found |= {f"{prefix}{name}": value["kind"], **flat(inner, f"{prefix}{name}.")}
        else:
            found[f"{prefix}{name}"] = value
    return found

"""Mean functions of GPflow's as plain values, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpflow
import numpy as np
from gpflow.functions import (
    Additive,
    Constant,
    Function,
    Identity,
    Linear,
    Polynomial,
    Product,
    Zero,
)

from vbks.errors import FileError
from vbks.storage.records import Record, damaged, plain_number

DEEPEST = 20
"""At most this many sums and products of functions inside each other are read."""


def encode_mean_function(function: Function) -> dict[str, Any]:
    """The name of a function of GPflow's and its numbers, or a `FileError`."""
    name = type(function).__name__
    match function:
        case Additive() if type(function) is Additive:
            return {"name": name, "parts": _encoded(function.add_1, function.add_2)}
        case Product() if type(function) is Product:
            return {"name": name, "parts": _encoded(function.prod_1, function.prod_2)}
        case Polynomial() if type(function) is Polynomial:
            powers = function.powers.numpy()
            degree = {"degree": int(powers.sum(axis=1).max()), "num_inputs": powers.shape[1]}
            return {"name": name, **degree, "w": _numbers(function.w)}
    if type(function) in (Identity, Zero):
        return {"name": name}
    if type(function) is Constant:
        return {"name": name, "c": _numbers(function.c)}
    if type(function) is Linear:
        return {"name": name, "A": _numbers(function.A), "b": _numbers(function.b)}
    raise FileError(
        f"the mean function {name} cannot be saved, as vbks does not know how to make it again. "
        "Fit with one of GPflow's own, or with their sums and products, to save the selection."
    )


def decode_mean_function(record: Record, depth: int = 0) -> Function:
    """The function that was encoded, not trainable, as it was when it was saved."""
    name = record.one_of("name", tuple(_MAKERS))
    if depth > DEEPEST:
        raise damaged(f"{record.place} is nested too deeply")
    function = _MAKERS[name](record, depth)
    gpflow.set_trainable(function, False)
    return function


def _encoded(*parts: Function) -> list[dict[str, Any]]:
    return [encode_mean_function(part) for part in parts]


def _numbers(parameter: Any) -> list[float | str]:
    return [plain_number(value) for value in np.ravel(parameter.numpy())]


def _finite(record: Record, key: str, num: int | None = None) -> Any:
    values = np.array(record.numbers(key))
    wrong_number = len(values) != num if num is not None else not len(values)
    if wrong_number or not np.isfinite(values).all():
        raise damaged(f"'{key}' of {record.place} has other numbers than are expected")
    return values


def _two(make: Callable[[Function, Function], Function]) -> Callable[[Record, int], Function]:
    def made(record: Record, depth: int) -> Function:
        parts = [decode_mean_function(p, depth + 1) for p in record.records("parts", "part")]
        if len(parts) != 2:
            raise damaged(f"{record.place} has {len(parts)} parts, expected 2")
        return make(*parts)

    return made


def _polynomial(record: Record, _: int) -> Function:
    degree, num_inputs = record.count("degree"), record.count("num_inputs")
    w = _finite(record, "w")
    if degree > len(w) or num_inputs > len(w):
        raise damaged(f"{record.place} has a degree that its numbers do not go with")
    num_terms = len(Polynomial.compute_powers(degree, num_inputs))
    if num_terms != len(w):
        raise damaged(f"{record.place} has {len(w)} numbers, expected {num_terms}")
    return Polynomial(degree, num_inputs, w=w[np.newaxis])


_MAKERS: dict[str, Callable[[Record, int], Function]] = {
    "Additive": _two(Additive),
    "Constant": lambda record, _: Constant(_finite(record, "c", 1)),
    "Identity": lambda record, _: Identity(),
    "Linear": lambda record, _: Linear(
        _finite(record, "A")[:, np.newaxis], _finite(record, "b", 1)
    ),
    "Polynomial": _polynomial,
    "Product": _two(Product),
    "Zero": lambda record, _: Zero(),
}

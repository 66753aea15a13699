"""Likelihoods by their names, as far as a name says all about them."""

from __future__ import annotations

import math
from types import BuiltinFunctionType, FunctionType
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

from vbks.errors import DataError, FileError
from vbks.inference.likelihoods.likelihood import Gaussian, Likelihood
from vbks.inference.likelihoods.registry import is_saved, make_likelihood, names_of
from vbks.storage.records import Record, damaged, plain_number


def encode_likelihood(likelihood: Likelihood) -> dict[str, Any]:
    """The name of a likelihood that can be made again from it, and a Gaussian's variance."""
    if isinstance(likelihood, Gaussian):
        return {"name": "gaussian", "variance": plain_number(likelihood.variance)}
    names = names_of(likelihood)
    if not names:
        raise _refusal(likelihood, "vbks has no name for it")
    same = [name for name in names if _is_same(make_likelihood(name), likelihood)]
    if not same:
        raise _refusal(likelihood, f"it is not the one that likelihood='{names[0]}' stands for")
    saved = [name for name in same if is_saved(name)]
    if not saved:
        raise _refusal(likelihood, f"likelihood='{same[0]}' was registered with is_saved=False")
    return {"name": saved[0]}


def decode_likelihood(record: Record) -> Likelihood:
    """The likelihood of a name."""
    name = record.text("name")
    if name == "gaussian":
        variance = record.finite("variance")
        if variance <= 0:
            raise record.wrong("variance", variance, "a number above 0")
        return Gaussian(variance)
    try:
        return make_likelihood(name)
    except DataError as error:
        raise damaged(f"{record.place} cannot be read: {str(error).rstrip('.')}") from None


def _is_same(one: Likelihood, other: Likelihood) -> bool:
    return type(one) is type(other) and _state(one) == _state(other)


def _refusal(likelihood: Likelihood, reason: str) -> FileError:
    return FileError(
        f"the likelihood {likelihood.name} cannot be saved: {reason}. Fit with a likelihood that "
        "is given by its name, such as likelihood='student_t', to save the selection."
    )


def _state(likelihood: Likelihood) -> object:
    return _description(likelihood.to_gpflow(math.exp(likelihood.parameter_start)))


def _description(value: Any) -> object:
    """The numbers, functions and types that a GPflow object consists of, to be compared."""
    if isinstance(value, gpflow.Parameter) or tf.is_tensor(value):
        value = value.numpy()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, FunctionType | BuiltinFunctionType) or not hasattr(value, "__dict__"):
        return value
    own = {name: part for name, part in vars(value).items() if not name.startswith("_")}
    return type(value), {name: _description(part) for name, part in own.items()}

"""Likelihoods by their names, as far as a name says all about them."""

from __future__ import annotations

import math
import re
from types import BuiltinFunctionType, FunctionType
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

from vbks.errors import DataError, FileError
from vbks.inference.likelihoods.likelihood import Gaussian, Likelihood, make_likelihood
from vbks.storage.records import Record, damaged, plain_number


def encode_likelihood(likelihood: Likelihood) -> dict[str, Any]:
    """The name of a likelihood that can be made again from it, and a Gaussian's variance."""
    if isinstance(likelihood, Gaussian):
        return {"name": "gaussian", "variance": plain_number(likelihood.variance)}
    name = re.sub("(?<=[a-z])(?=[A-Z])", "_", likelihood.name).lower()
    try:
        again = make_likelihood(name)
    except DataError:
        raise _refusal(likelihood, "vbks has no name for it") from None
    if type(again) is not type(likelihood) or _state(again) != _state(likelihood):
        raise _refusal(likelihood, f"it is not the one that likelihood='{name}' stands for")
    return {"name": name}


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

"""Opaque families: GPflow kernels that no expression describes, as leaves by a name of their own.

The members of such a family are copies of a kernel. A number of it is what GPflow stores,
transformed as GPflow does; its prior is normal around the value with which the family was first
read. Kernels that differ only in the values of trainable parameters are of one family.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from functools import partial
from itertools import count
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.kernels import Combination, Kernel, Periodic
from gpflow.utilities import parameter_dict

from vbks.arrays import Array
from vbks.grammar.families import RESERVED_WORDS, is_known
from vbks.kernels.family import Family
from vbks.kernels.gpflow.kernels import InUnits, Scaled
from vbks.kernels.gpflow.linear import positive_parameter
from vbks.kernels.parameters import NormalPrior, Parameter
from vbks.kernels.registry import LOCK, family_of, register_opaque, registered_families

OPAQUE_PRIOR_SD = 1.5
"""Prior standard deviation of a number of an opaque leaf. It is about the width of our own priors,
since nothing is known of the number but that somebody chose it. It grows with numbers above one:
what GPflow stores of a positive parameter is about its logarithm where that is negative, and else
about the parameter itself."""


def scale_holder(kernel: Kernel) -> Any:
    """The kernel whose ``variance`` is the scale of a leaf."""
    return kernel.base_kernel if isinstance(kernel, Periodic) else kernel


def opaque_family(prototype: Kernel, kernel: Kernel) -> Family:
    """The family of a kernel, registered under the first name that is free or means the same."""
    with LOCK:
        return _find_or_register(prototype, kernel)


def _find_or_register(prototype: Kernel, kernel: Kernel) -> Family:
    stem = re.sub("[^A-Za-z0-9_]", "_", type(kernel).__name__).lstrip("_0123456789") or "Kernel"
    configuration = _configuration(prototype)
    for number in count(1):
        name = stem if number == 1 else f"{stem}_{number}"
        if name in registered_families():
            known = family_of(name).prototype
            if known is not None and _configuration(known) == configuration:
                return family_of(name)
        elif name not in RESERVED_WORDS and not is_known(name):
            break
    parameters = tuple(
        Parameter(number, NormalPrior(value, OPAQUE_PRIOR_SD * max(1.0, value)), positive=False)
        for number, value in free_values(prototype).items()
    )
    stationary = isinstance(kernel, gpflow.kernels.Stationary)
    return register_opaque(name, prototype, parameters, stationary=stationary)


def prototype_of(kernel: Kernel, num_columns: int) -> tuple[Kernel, gpflow.Parameter | None]:
    """A copy at unit scale without priors on its parameters, and the variance it had, if any."""
    prototype = copy.deepcopy(kernel)
    prototype.active_dims = slice(None)
    for parameter in prototype.parameters:
        parameter.prior = None
    holder = scale_holder(prototype)
    variance = getattr(holder, "variance", None)
    if isinstance(variance, gpflow.Parameter) and _is_scale(prototype, variance, num_columns):
        holder.variance = positive_parameter(1.0)
    else:
        variance = None
        prototype = holder = Scaled(prototype)
    gpflow.set_trainable(holder.variance, False)
    return prototype, variance


def in_units(prototype: Kernel, mean: Array, scale: Array) -> Kernel:
    """A prototype for standardised inputs, which evaluates another one at those with mean and scale
    [D], so that its numbers are in the user's units."""
    inner = Scaled(InUnits(prototype, mean, scale))
    gpflow.set_trainable(inner.variance, False)
    return inner


def _is_scale(kernel: Kernel, variance: gpflow.Parameter, num_columns: int) -> bool:
    """Whether a parameter multiplies the kernel, as a variance should; Polynomial's does not."""
    if isinstance(kernel, Combination) or variance.shape.rank != 0:
        return False
    X = np.linspace([0.5] * num_columns, [1.0] * num_columns, 3)
    given, before = variance.numpy(), kernel(X).numpy()
    variance.assign(2.0 * given)
    after = kernel(X).numpy()
    variance.assign(given)
    return np.allclose(after, 2.0 * before, rtol=1e-9, atol=0.0)


def free_numbers(prototype: Kernel) -> dict[str, tuple[str, ...]]:
    """The names of the numbers of every trainable parameter of an opaque family, by its path."""
    names: dict[str, tuple[str, ...]] = {}
    seen: set[int] = set()
    for path, parameter in parameter_dict(prototype).items():
        is_free = isinstance(parameter, gpflow.Parameter) and parameter.trainable
        if is_free and id(parameter) not in seen:
            seen.add(id(parameter))
            name, shape = path.lstrip("."), tuple(parameter.unconstrained_variable.shape)
            indices = (",".join(map(str, index)) for index in np.ndindex(shape))
            names[path] = tuple(f"{name}[{index}]" for index in indices) if shape else (name,)
    return names


def free_values(prototype: Kernel) -> dict[str, float]:
    """The numbers themselves, as GPflow stores them."""
    parameters = parameter_dict(prototype)
    return {
        name: float(value)
        for path, names in free_numbers(prototype).items()
        for name, value in zip(
            names, parameters[path].unconstrained_variable.numpy().ravel(), strict=True
        )
    }


def _configuration(value: Any, above: tuple[int, ...] = ()) -> object:
    """All that tells two kernels of a class apart but the values of their trainable parameters."""
    if id(value) in above:
        return "itself"
    within = partial(_configuration, above=(*above, id(value)))
    if isinstance(value, gpflow.Parameter):
        zero = value.bijector.forward(tf.zeros_like(value.unconstrained_variable))
        held = None if value.trainable else within(value.numpy())
        return value.dtype.name, value.bijector.name, within(zero), value.trainable, held
    if isinstance(value, np.ndarray | np.generic):
        return value.shape, value.tolist()
    if tf.is_tensor(value):
        return within(value.numpy())
    if isinstance(value, Mapping):
        return {key: within(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [within(item) for item in value]
    if callable(value) and not isinstance(value, tf.Module):
        return value
    if hasattr(value, "__dict__"):
        state = {k: within(v) for k, v in vars(value).items() if not _is_bookkeeping(k)}
        return type(value), state
    return value


def _is_bookkeeping(attribute: str) -> bool:
    """Whether TensorFlow, not the author of a class, put an attribute there."""
    return attribute in ("_name", "_name_scope") or attribute.startswith("_self_")

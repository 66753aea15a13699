"""Expressions to GPflow kernels, with θ in the order of the layout."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import gpflow
import numpy as np
from gpflow.kernels import Kernel
from gpflow.utilities import parameter_dict

from vbks.arrays import Array
from vbks.errors import GrammarError
from vbks.grammar.expression import (
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    Product,
    dims_used,
)
from vbks.grammar.parser import parse
from vbks.kernels.family import Family
from vbks.kernels.gpflow import kernels as ours
from vbks.kernels.gpflow.form import owner_of
from vbks.kernels.gpflow.kernels import ConvexSum, FamilyKernel
from vbks.kernels.gpflow.linear import positive_parameter
from vbks.kernels.gpflow.opaque import free_numbers, scale_holder
from vbks.kernels.layout import Layout, Node, lay_out
from vbks.kernels.registry import family_of, forget_on_change


def to_gpflow(
    expression: Expression | str,
    num_inputs: int | None = None,
    *,
    theta: Array | None = None,
    ard: bool = True,
) -> Kernel:
    """A GPflow kernel with parameters of its own for every leaf, at θ or at the prior means.

    Without ``num_inputs`` there are as many as the highest input that the expression names, one if
    it names none; leaves on all inputs have a lengthscale (and period) for each of them.
    Unconstrained values of positive parameters are logarithms; variances that the layout leaves out
    are fixed at one.
    """
    expression = parse(expression)
    if num_inputs is None:
        num_inputs = max(dims_used(expression), default=1)
    layout = lay_out(expression, num_inputs, ard)
    kernel = _build(layout.root)
    assign(kernel, layout, layout.prior_mean if theta is None else theta)
    return kernel


def assign(kernel: Kernel, layout: Layout, theta: Array) -> None:
    """Put θ into a kernel that `to_gpflow` made for the same layout."""
    theta = np.asarray(theta, np.float64)
    if theta.shape != (len(layout),):
        raise GrammarError(
            f"θ of '{layout.expression}' on {layout.num_inputs} inputs has shape "
            f"({len(layout)},), got {theta.shape}."
        )
    for binding in bindings(kernel, layout):
        binding.put(theta)


def read_theta(kernel: Kernel, layout: Layout) -> Array:
    """θ of a kernel that `to_gpflow` made for the same layout, trained or not.

    Noise is the variance of white noise in a sum, or the prior mean where the kernel has none.
    """
    theta = layout.prior_mean
    for parameter, slots, offset in bindings(kernel, layout):
        theta[list(slots)] = parameter.unconstrained_variable.numpy().ravel() + offset
    return theta


def _build(node: Node) -> Kernel:
    parts = [_build(operand) for operand in node.operands]
    weights = None if node.weights is None else np.full(len(parts), 1.0 / len(parts))
    match node.expression:
        case Leaf():
            return _build_leaf(node, node.expression)
        case Product():
            return gpflow.kernels.Product(parts)
        case ChangePoint(dim=dim):
            return ours.ChangePoint(parts, column=dim - 1, weights=weights)
        case ChangeWindow(dim=dim):
            return ours.ChangeWindow(parts, column=dim - 1, weights=weights)
    return gpflow.kernels.Sum(parts) if weights is None else ConvexSum(parts, weights)


def _build_leaf(node: Node, leaf: Leaf) -> Kernel:
    sizes = tuple((name, len(slots)) for name, slots in node.slots.items())
    # A copy takes a tenth of the time that GPflow needs to make new parameters. GPflow's own
    # deepcopy empties a cache that all threads share, and fails when two do so at once.
    kernel = copy.deepcopy(_template(family_of(leaf.family), sizes, gpflow.default_float()))
    if leaf.dim is not None:
        if not isinstance(kernel.active_dims, slice):
            raise GrammarError(
                f"'{leaf.family}' acts on inputs of its own, so it cannot be on input {leaf.dim}. "
                f"Write '{leaf.family}' without an input."
            )
        kernel.active_dims = [leaf.dim - 1]
    gpflow.set_trainable(scale_holder(kernel).variance, node.scale is not None)
    return kernel


@lru_cache(maxsize=1_000)
def _template(family: Family, sizes: tuple[tuple[str, int], ...], dtype: type) -> Kernel:
    """A kernel on all inputs with as many numbers as its parameters have slots, for one dtype."""
    if family.prototype is not None:
        return family.prototype
    values: dict[str, Any] = {name: np.ones(size) if size > 1 else 1.0 for name, size in sizes}
    if family.gpflow.written is None:
        return FamilyKernel(family, **values)
    kernel = family.gpflow.make()
    scale_holder(kernel).variance = positive_parameter(1.0)
    for parameter in family.parameters:
        # Of our own transform in place of GPflow's.
        make = positive_parameter if parameter.positive else gpflow.Parameter
        owner = owner_of(kernel, parameter.name)
        setattr(owner, parameter.name, make(values[parameter.name]))
    return kernel


forget_on_change(_template.cache_clear)


class Binding(NamedTuple):
    """The slots of a GPflow parameter; a slot holds the unconstrained value plus the offset."""

    parameter: gpflow.Parameter
    slots: tuple[int, ...]
    offset: float = 0.0

    def put(self, theta: Array) -> None:
        """Give the parameter its numbers of θ."""
        variable = self.parameter.unconstrained_variable
        variable.assign(np.reshape(theta[list(self.slots)] - self.offset, variable.shape))


def bindings(kernel: Kernel, layout: Layout) -> Iterator[Binding]:
    """Which slots each parameter has of a kernel that `to_gpflow` made for the same layout."""
    return _bindings(kernel, layout.root)


def _bindings(kernel: Any, node: Node) -> Iterator[Binding]:
    if isinstance(node.expression, Leaf):
        yield from _leaf_bindings(kernel, node, family_of(node.expression.family))
        return
    for name, slots in node.slots.items():
        yield Binding(getattr(kernel, name), slots)
    if node.weights is not None:
        yield Binding(kernel.weights, node.weights)
    for part, operand in zip(kernel.kernels, node.operands, strict=True):
        yield from _bindings(part, operand)


def _leaf_bindings(kernel: Kernel, node: Node, family: Family) -> Iterator[Binding]:
    if node.scale is not None:
        yield Binding(scale_holder(kernel).variance, (node.scale,))
    if family.prototype is not None:
        parameters = parameter_dict(kernel)
        for path, names in free_numbers(family.prototype).items():
            yield Binding(parameters[path], tuple(node.slots[name][0] for name in names))
        return
    for name, slots in node.slots.items():
        parameter = getattr(owner_of(kernel, name), name)
        yield Binding(parameter, slots, family.gpflow.offset_of(name))

"""GPflow kernels to expressions with θ, scaled as the layout has it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import gpflow
import numpy as np
from gpflow.kernels import ChangePoints, Kernel, MultioutputKernel
from gpflow.kernels.base import ReducingCombination
from scipy.special import log_softmax, logsumexp

from vbks.arrays import Array, Mask
from vbks.data.units import Units
from vbks.errors import GrammarError
from vbks.grammar.expression import (
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    Product,
    Sum,
    add,
    multiply,
)
from vbks.kernels.family import BUILT_IN, Family
from vbks.kernels.given import GivenValues
from vbks.kernels.gpflow import kernels as ours
from vbks.kernels.gpflow.conversion import bindings, to_gpflow
from vbks.kernels.gpflow.form import owner_of
from vbks.kernels.gpflow.kernels import ConvexSum, FamilyKernel, Scaled
from vbks.kernels.gpflow.opaque import (
    free_values,
    in_units,
    opaque_family,
    prototype_of,
    scale_holder,
)
from vbks.kernels.layout import Layout, Node, lay_out
from vbks.kernels.parameters import Parameter
from vbks.kernels.registry import family_of, registered_families


@dataclass(frozen=True, eq=False)
class KernelReading:
    """What a GPflow kernel says: an expression with its θ, scaled as the layout has it.

    ``fixed`` marks the numbers of ``theta`` [H] whose GPflow parameters are all untrainable.
    Without ``ard``, leaves on all inputs have one lengthscale and one period for all.
    """

    expression: Expression
    num_inputs: int
    ard: bool
    theta: Array
    fixed: Mask

    @property
    def layout(self) -> Layout:
        """The slots that ``theta`` and ``fixed`` are about."""
        return lay_out(self.expression, self.num_inputs, self.ard)

    def to_gpflow(self) -> Kernel:
        """A GPflow kernel at these values, of which those that are fixed are not trainable."""
        kernel = to_gpflow(self.expression, self.num_inputs, theta=self.theta, ard=self.ard)
        for parameter, slots, _ in bindings(kernel, self.layout):
            if self.fixed[list(slots)].all():
                gpflow.set_trainable(parameter, False)
        return kernel

    @property
    def given(self) -> GivenValues:
        """The values as what a fit is given."""
        return GivenValues(
            tuple(map(float, self.theta)), tuple(map(int, np.flatnonzero(self.fixed)))
        )


def from_gpflow(kernel: Kernel, num_inputs: int | None = None) -> KernelReading:
    """Read a GPflow kernel as an expression whose kernel has the same values.

    Without ``num_inputs`` there are as few as the kernel needs. Parameters that the kernel ties
    become numbers of their own, and priors on them are not read. A kernel of another class becomes
    an opaque leaf named after the class, see `vbks.kernels.gpflow.opaque`.
    """
    part, num_inputs = _read(kernel, num_inputs)
    # Leaves that each have one number for all inputs are the only ones without ARD.
    return _reading(part, num_inputs, num_inputs == 1 or _sizes(part) != {1})


def read_standardised(
    kernel: Kernel | KernelReading, units: Units, ard: bool = True
) -> KernelReading:
    """Read a GPflow kernel whose values are in a user's units as one for standardised rows.

    What `from_gpflow` has read is taken as the kernel that it was read from.

    Lengthscales, periods, widths and places are told in standardised inputs, and variances in
    standardised targets. A line through all inputs becomes a sum of lines if the inputs have
    different scales. A kernel that becomes an opaque leaf is evaluated at the user's own inputs.
    With ``ard``, one lengthscale for several inputs becomes one for each.
    """
    if isinstance(kernel, KernelReading):
        kernel = kernel.to_gpflow()
    part, num_inputs = _read(kernel, len(units.x_scale), units)
    if not ard and max(_sizes(part), default=1) > 1:
        raise GrammarError(
            f"the kernel of '{part.expression}' has numbers for each input where all inputs are to "
            "share one. Give its leaves one input each by active_dims."
        )
    return _reading(part * _Number(-2.0 * math.log(units.y_scale), True), num_inputs, ard)


def _read(kernel: Kernel, num_inputs: int | None, units: Units | None = None) -> tuple[_Part, int]:
    """The part that a whole kernel is, and the number of inputs."""
    if not isinstance(kernel, Kernel):
        raise GrammarError(f"a GPflow kernel is needed, got a {type(kernel).__name__}.")
    least = _least_inputs(kernel)
    if num_inputs is None:
        num_inputs = least
    if num_inputs < least:
        raise GrammarError(f"the kernel acts on {least} inputs, got num_inputs={num_inputs}.")
    return _Reader(num_inputs, units).read(kernel, tuple(range(num_inputs))), num_inputs


def _reading(part: _Part, num_inputs: int, ard: bool) -> KernelReading:
    layout = lay_out(part.expression, num_inputs, ard)
    theta, fixed = layout.prior_mean, np.zeros(len(layout), bool)
    for slot, number in _slot_numbers(layout.root, part, _ONE):
        theta[slot], fixed[slot] = number.value, number.is_fixed
    return KernelReading(part.expression, num_inputs, ard, theta, fixed)


@dataclass(frozen=True)
class _Number:
    """A number of θ and whether it is fixed; scales are logarithms, whose product is a sum."""

    value: float
    is_fixed: bool

    def __mul__(self, other: _Number) -> _Number:
        return _Number(self.value + other.value, self.is_fixed and other.is_fixed)


_ONE = _Number(0.0, True)


@dataclass(frozen=True)
class _Part:
    """An expression with the numbers of a GPflow kernel: of its own, of its scale if a leaf's."""

    expression: Expression
    operands: tuple[_Part, ...] = ()
    own: dict[str, list[_Number]] = field(default_factory=dict)
    scale: _Number = _ONE

    def __mul__(self, scale: _Number) -> _Part:
        if isinstance(self.expression, Leaf):
            return replace(self, scale=self.scale * scale)
        if isinstance(self.expression, Product):
            return replace(self, operands=(self.operands[0] * scale, *self.operands[1:]))
        return replace(self, operands=tuple(operand * scale for operand in self.operands))

    @property
    def total(self) -> _Number:
        """The scale of the whole: of a sum the sum, of a product the product."""
        if isinstance(self.expression, Leaf):
            return self.scale
        totals = [operand.total for operand in self.operands]
        if isinstance(self.expression, Product):
            return math.prod(totals, start=_ONE)
        value = float(logsumexp([total.value for total in totals]))
        return _Number(value, all(total.is_fixed for total in totals))


def _joined(
    operator: type[Sum] | type[Product],
    join: Callable[..., Expression],
    parts: Sequence[_Part],
) -> _Part:
    """A sum or product of parts, those of the same operator merged into it as expressions are."""
    if not parts:
        raise GrammarError("a combination of no kernels has no expression.")
    if len(parts) == 1:
        return parts[0]
    merged: list[_Part] = []
    for part in parts:
        merged.extend(part.operands if isinstance(part.expression, operator) else (part,))
    return _Part(join(*(part.expression for part in merged)), tuple(merged))


_sum = partial(_joined, Sum, add)
_product = partial(_joined, Product, multiply)


def _slot_numbers(node: Node, part: _Part, scale: _Number) -> Iterator[tuple[int, _Number]]:
    """The number for every slot of a node, whose part is to be multiplied by the scale."""
    for name, slots in node.slots.items():
        numbers = part.own[name]
        yield from zip(slots, numbers * len(slots) if len(numbers) == 1 else numbers, strict=True)
    if node.scale is not None:
        yield node.scale, part.scale * scale
    totals = [operand.total for operand in part.operands]
    if node.weights is not None:
        last = totals[-1]
        for slot, total in zip(node.weights, totals, strict=False):
            yield slot, _Number(total.value - last.value, total.is_fixed and last.is_fixed)
    for i, (operand, own) in enumerate(zip(node.operands, part.operands, strict=True)):
        others = totals[:i] + totals[i + 1 :] if isinstance(node.expression, Product) else []
        yield from _slot_numbers(operand, own, math.prod(others, start=scale))


def _sizes(part: _Part) -> set[int]:
    """How many lengthscales or periods leaves on all inputs have."""
    return {
        len(part.own[parameter.name])
        for part in _leaves(part)
        if isinstance(part.expression, Leaf) and part.expression.dim is None
        for parameter in family_of(part.expression.family).parameters
        if parameter.per_input and parameter.positive
    }


def _leaves(part: _Part) -> list[_Part]:
    below = [leaf for operand in part.operands for leaf in _leaves(operand)]
    return below or [part]


class _Reader:
    """Reads kernels on some of the inputs: ``columns`` are those that a kernel is given.

    With ``units``, numbers about inputs become those about standardised ones.
    """

    def __init__(self, num_inputs: int, units: Units | None = None) -> None:
        self.num_inputs, self.units = num_inputs, units

    def read(self, kernel: Any, columns: tuple[int, ...]) -> _Part:
        """The part that a kernel is."""
        # Only these classes themselves: a class derived from one may compute anything.
        kind = type(kernel)
        inner = _columns(kernel, columns)
        if kind in (gpflow.kernels.Sum, ConvexSum):
            return _sum(self._operands(kernel, inner))
        if kind is gpflow.kernels.Product:
            return _product(self._operands(kernel, inner))
        if kind in (ours.ChangePoint, ours.ChangeWindow):
            return self._change(kernel, inner)
        if kind is ChangePoints and len(kernel.kernels) == 2:
            return self._change_points(kernel, inner)
        if kind is Scaled:
            return self.read(kernel.kernel, inner) * _numbers(kernel.variance)[0]
        family = _family_name(kernel, len(inner))
        return self._opaque(kernel, inner) if family is None else self._leaf(kernel, inner, family)

    def _operands(self, kernel: Any, columns: tuple[int, ...]) -> list[_Part]:
        parts = [self.read(operand, columns) for operand in kernel.kernels]
        weights = getattr(kernel, "weights", None)
        if weights is None:
            return parts
        shares = log_softmax([*weights.unconstrained_variable.numpy(), 0.0])
        return [
            part * _Number(float(share), not weights.trainable)
            for part, share in zip(parts, shares, strict=True)
        ]

    def _change(self, kernel: Any, columns: tuple[int, ...]) -> _Part:
        before, after = self._operands(kernel, columns)
        operator = ChangeWindow if isinstance(kernel, ours.ChangeWindow) else ChangePoint
        (column,) = _picked(kernel, [kernel.column], columns)
        own = {
            "location": [self._place(_numbers(kernel.location, positive=False)[0], column)],
            "steepness": [self._length(_numbers(kernel.steepness)[0], column, -1)],
        }
        if operator is ChangeWindow:
            own["width"] = [self._length(_numbers(kernel.width)[0], column)]
        expression = operator(before.expression, after.expression, column + 1)
        return _Part(expression, (before, after), own)

    def _change_points(self, kernel: ChangePoints, columns: tuple[int, ...]) -> _Part:
        if len(columns) != 1:
            raise GrammarError(
                f"GPflow's ChangePoints acts on one input, here on {len(columns)}. "
                "Set its active_dims, or use vbks.kernels.gpflow.kernels.ChangePoint."
            )
        before, after = self._operands(kernel, columns)
        column = columns[0]
        own = {
            "location": [self._place(_numbers(kernel.locations, positive=False)[0], column)],
            "steepness": [self._length(_numbers(kernel.steepness)[0], column, -1)],
        }
        expression = ChangePoint(before.expression, after.expression, column + 1)
        return _Part(expression, (before, after), own)

    def _leaf(self, kernel: Any, columns: tuple[int, ...], name: str) -> _Part:
        family = family_of(name)
        variance = _numbers(scale_holder(kernel).variance)
        self._check_size(kernel, columns, "variance", variance)
        if family.variance.input_power:
            variance = self._variances(variance, columns, family.variance.input_power)
        own = {p.name: self._own(kernel, columns, family, p) for p in family.parameters}
        dim = self._dim(kernel, columns)
        is_whole = dim is not None or sorted(columns) == list(range(self.num_inputs))
        if len(variance) == 1 and (is_whole or not family.uses_input):
            order = np.argsort(columns)
            sorted_own = {n: [v[i] for i in order] if len(v) > 1 else v for n, v in own.items()}
            return _Part(Leaf(name, dim), (), sorted_own, variance[0])
        if family.rules.separable is None:
            return self._opaque(kernel, columns)
        join = _product if family.rules.separable == "product" else _sum
        rest = [_ONE] * len(columns) if join is _product else variance * len(columns)
        scales = variance if len(variance) > 1 else [*variance, *rest[1:]]
        return join(
            [
                _Part(Leaf(name, column + 1), (), {n: [v[i % len(v)]] for n, v in own.items()}, s)
                for i, (column, s) in enumerate(zip(columns, scales, strict=True))
            ]
        )

    def _own(
        self, kernel: Any, columns: tuple[int, ...], family: Family, parameter: Parameter
    ) -> list[_Number]:
        numbers = [_Number(0.0, True)]
        given = getattr(owner_of(kernel, parameter.name), parameter.name, None)
        if given is not None:
            offset = family.gpflow.offset_of(parameter.name)
            numbers = _numbers(given, parameter.positive, offset)
            self._check_size(kernel, columns, parameter.name, numbers)
        power = parameter.input_power
        if self.units is None or not parameter.per_input or not power:
            return numbers
        each = numbers * len(columns) if len(numbers) == 1 else numbers
        pairs = zip(each, columns, strict=True)
        if parameter.positive:
            return [self._length(number, column, power) for number, column in pairs]
        return [self._place(number, column) for number, column in pairs]

    def _length(self, number: _Number, column: int, power: int = 1) -> _Number:
        """The logarithm of a power of a length along an input."""
        if self.units is None:
            return number
        return number * _Number(-power * math.log(self.units.x_scale[column]), True)

    def _place(self, number: _Number, column: int) -> _Number:
        """A place on an input."""
        if self.units is None:
            return number
        mean, scale = self.units.x_mean[column], self.units.x_scale[column]
        return replace(number, value=float((number.value - mean) / scale))

    def _variances(
        self, variance: list[_Number], columns: tuple[int, ...], power: int
    ) -> list[_Number]:
        """Variances in a power of the inputs' units: one while that is the same for all of them."""
        if self.units is None:
            return variance
        is_one = len(variance) == 1 and len({self.units.x_scale[column] for column in columns}) == 1
        each = variance * len(columns) if len(variance) == 1 else variance
        own = [self._length(v, column, power) for v, column in zip(each, columns, strict=True)]
        return own[:1] if is_one else own

    def _check_size(
        self, kernel: Kernel, columns: tuple[int, ...], name: str, numbers: list[_Number]
    ) -> None:
        if len(numbers) not in (1, len(columns)):
            raise GrammarError(
                f"the {name} of a {type(kernel).__name__} kernel has {len(numbers)} entries, but "
                f"the kernel acts on {len(columns)} of {self.num_inputs} inputs."
            )

    def _dim(self, kernel: Kernel, columns: tuple[int, ...]) -> int | None:
        """The input of a kernel on one input, None if it takes all there are."""
        is_chosen = self.num_inputs > 1 or not isinstance(kernel.active_dims, slice)
        return columns[0] + 1 if len(columns) == 1 and is_chosen else None

    def _opaque(self, kernel: Kernel, columns: tuple[int, ...]) -> _Part:
        if isinstance(kernel, MultioutputKernel):
            raise GrammarError(
                f"a {type(kernel).__name__} kernel is for several targets; expressions are for one."
            )
        dim = self._dim(kernel, columns)
        prototype, variance = prototype_of(kernel, len(columns))
        if self.units is not None:
            places = list(columns)
            prototype = in_units(prototype, self.units.x_mean[places], self.units.x_scale[places])
        scale = _ONE if variance is None else _numbers(variance)[0]
        if dim is None and columns != tuple(range(self.num_inputs)):
            prototype.active_dims = list(columns)
        family = opaque_family(prototype, kernel)
        own = {name: [_Number(value, False)] for name, value in free_values(prototype).items()}
        return _Part(Leaf(family.name, dim), (), own, scale)


def _columns(kernel: Kernel, columns: tuple[int, ...]) -> tuple[int, ...]:
    """The columns that remain after a kernel has taken its active dimensions."""
    if isinstance(kernel, ReducingCombination):
        return columns
    dims = kernel.active_dims
    return columns[dims] if isinstance(dims, slice) else _picked(kernel, dims.tolist(), columns)


def _picked(kernel: Kernel, dims: Sequence[int], columns: tuple[int, ...]) -> tuple[int, ...]:
    beyond = max(dims, default=0)
    if beyond >= len(columns):
        raise GrammarError(
            f"a {type(kernel).__name__} kernel acts on input {beyond + 1} of {len(columns)} inputs."
        )
    return tuple(columns[dim] for dim in dims)


def _least_inputs(kernel: Any) -> int:
    """The fewest inputs on which a kernel can be evaluated, as its dimensions and sizes tell."""
    operands = [*getattr(kernel, "kernels", ()), getattr(kernel, "base_kernel", None)]
    if isinstance(kernel, Scaled):
        operands.append(kernel.kernel)
    inner = [_least_inputs(operand) for operand in operands if isinstance(operand, Kernel)]
    if isinstance(kernel, ReducingCombination):
        return max(inner, default=1)
    dims = kernel.active_dims
    if not isinstance(dims, slice):
        return int(max(dims, default=0)) + 1
    if isinstance(kernel, ours.ChangePoint | ours.ChangeWindow):
        inner.append(kernel.column + 1)
    own = [kernel.family] if type(kernel) is FamilyKernel else BUILT_IN.values()
    names = {parameter.name for family in own for parameter in family.parameters}
    arrays: list[Any] = [getattr(kernel, n, None) for n in (*names, "variance", "weight_variances")]
    widths = [len(a.numpy()) for a in arrays if getattr(a, "shape", None) and len(a.shape) == 1]
    return max(dims.stop or 0, (dims.start or 0) + max([1, *inner, *widths]))


def _family_name(kernel: Kernel, num_inputs: int) -> str | None:
    """The family of a leaf's kernel on ``num_inputs`` inputs, None if no family describes it."""
    if type(kernel) is FamilyKernel:
        return kernel.family.name
    for name in registered_families():
        if family_of(name).gpflow.is_read_from(kernel, num_inputs):
            return name
    return None


def _numbers(
    parameter: gpflow.Parameter, positive: bool = True, offset: float = 0.0
) -> list[_Number]:
    """The numbers of a GPflow parameter as ours: logarithms of what is positive."""
    values = parameter.numpy().ravel()
    unconstrained = np.log(values) if positive else values
    return [_Number(float(value) + offset, not parameter.trainable) for value in unconstrained]

"""GPflow kernels part by part, each as an expression with its numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import gpflow
import numpy as np
from gpflow.kernels import ChangePoints, Kernel, MultioutputKernel
from scipy.special import log_softmax

from vbks.data.units import Units
from vbks.errors import GrammarError
from vbks.grammar.expression import ChangePoint, ChangeWindow, Leaf
from vbks.kernels.family import Family
from vbks.kernels.gpflow import kernels as ours
from vbks.kernels.gpflow.columns import columns_of, picked
from vbks.kernels.gpflow.form import owner_of
from vbks.kernels.gpflow.kernels import ConvexSum, FamilyKernel, Scaled
from vbks.kernels.gpflow.numbers import ONE, Number, Part, numbers_of, product_of, sum_of
from vbks.kernels.gpflow.opaque import (
    free_values,
    in_units,
    opaque_family,
    prototype_of,
    scale_holder,
)
from vbks.kernels.parameters import Parameter
from vbks.kernels.registry import family_of, registered_families


class Reader:
    """Reads kernels on some of the inputs: ``columns`` are those that a kernel is given.

    With ``units``, numbers about inputs become those about standardised ones.
    """

    def __init__(self, num_inputs: int, units: Units | None = None) -> None:
        self.num_inputs, self.units = num_inputs, units

    def read(self, kernel: Any, columns: tuple[int, ...]) -> Part:
        """The part that a kernel is."""
        # Only these classes themselves: a class derived from one may compute anything.
        kind = type(kernel)
        inner = columns_of(kernel, columns)
        if kind in (gpflow.kernels.Sum, ConvexSum):
            return sum_of(self._operands(kernel, inner))
        if kind is gpflow.kernels.Product:
            return product_of(self._operands(kernel, inner))
        if kind in (ours.ChangePoint, ours.ChangeWindow):
            return self._change(kernel, inner)
        if kind is ChangePoints and len(kernel.kernels) == 2:
            return self._change_points(kernel, inner)
        if kind is Scaled:
            return self.read(kernel.kernel, inner) * numbers_of(kernel.variance)[0]
        family = _family_name(kernel, len(inner))
        return self._opaque(kernel, inner) if family is None else self._leaf(kernel, inner, family)

    def _operands(self, kernel: Any, columns: tuple[int, ...]) -> list[Part]:
        parts = [self.read(operand, columns) for operand in kernel.kernels]
        weights = getattr(kernel, "weights", None)
        if weights is None:
            return parts
        shares = log_softmax([*weights.unconstrained_variable.numpy(), 0.0])
        return [
            part * Number(float(share), not weights.trainable)
            for part, share in zip(parts, shares, strict=True)
        ]

    def _change(self, kernel: Any, columns: tuple[int, ...]) -> Part:
        before, after = self._operands(kernel, columns)
        operator = ChangeWindow if isinstance(kernel, ours.ChangeWindow) else ChangePoint
        (column,) = picked(kernel, [kernel.column], columns)
        own = {
            "location": [self._place(numbers_of(kernel.location, positive=False)[0], column)],
            "steepness": [self._length(numbers_of(kernel.steepness)[0], column, -1)],
        }
        if operator is ChangeWindow:
            own["width"] = [self._length(numbers_of(kernel.width)[0], column)]
        expression = operator(before.expression, after.expression, column + 1)
        return Part(expression, (before, after), own)

    def _change_points(self, kernel: ChangePoints, columns: tuple[int, ...]) -> Part:
        if len(columns) != 1:
            raise GrammarError(
                f"GPflow's ChangePoints acts on one input, here on {len(columns)}. "
                "Set its active_dims, or use vbks.kernels.gpflow.kernels.ChangePoint."
            )
        before, after = self._operands(kernel, columns)
        column = columns[0]
        own = {
            "location": [self._place(numbers_of(kernel.locations, positive=False)[0], column)],
            "steepness": [self._length(numbers_of(kernel.steepness)[0], column, -1)],
        }
        expression = ChangePoint(before.expression, after.expression, column + 1)
        return Part(expression, (before, after), own)

    def _leaf(self, kernel: Any, columns: tuple[int, ...], name: str) -> Part:
        family = family_of(name)
        variance = numbers_of(scale_holder(kernel).variance)
        self._check_size(kernel, columns, "variance", variance)
        if family.variance.input_power:
            variance = self._variances(variance, columns, family.variance.input_power)
        own = {p.name: self._own(kernel, columns, family, p) for p in family.parameters}
        dim = self._dim(kernel, columns)
        is_whole = dim is not None or sorted(columns) == list(range(self.num_inputs))
        if len(variance) == 1 and (is_whole or not family.uses_input):
            order = np.argsort(columns)
            sorted_own = {n: [v[i] for i in order] if len(v) > 1 else v for n, v in own.items()}
            return Part(Leaf(name, dim), (), sorted_own, variance[0])
        if family.rules.separable is None:
            return self._opaque(kernel, columns)
        join = product_of if family.rules.separable == "product" else sum_of
        rest = [ONE] * len(columns) if join is product_of else variance * len(columns)
        scales = variance if len(variance) > 1 else [*variance, *rest[1:]]
        return join(
            [
                Part(Leaf(name, column + 1), (), {n: [v[i % len(v)]] for n, v in own.items()}, s)
                for i, (column, s) in enumerate(zip(columns, scales, strict=True))
            ]
        )

    def _own(
        self, kernel: Any, columns: tuple[int, ...], family: Family, parameter: Parameter
    ) -> list[Number]:
        numbers = [Number(0.0, True)]
        given = getattr(owner_of(kernel, parameter.name), parameter.name, None)
        if given is not None:
            offset = family.gpflow.offset_of(parameter.name)
            numbers = numbers_of(given, parameter.positive, offset)
            self._check_size(kernel, columns, parameter.name, numbers)
        power = parameter.input_power
        if self.units is None or not parameter.per_input or not power:
            return numbers
        each = numbers * len(columns) if len(numbers) == 1 else numbers
        pairs = zip(each, columns, strict=True)
        if parameter.positive:
            return [self._length(number, column, power) for number, column in pairs]
        return [self._place(number, column) for number, column in pairs]

    def _length(self, number: Number, column: int, power: int = 1) -> Number:
        """The logarithm of a power of a length along an input."""
        if self.units is None:
            return number
        return number * Number(-power * math.log(self.units.x_scale[column]), True)

    def _place(self, number: Number, column: int) -> Number:
        """A place on an input."""
        if self.units is None:
            return number
        mean, scale = self.units.x_mean[column], self.units.x_scale[column]
        return replace(number, value=float((number.value - mean) / scale))

    def _variances(
        self, variance: list[Number], columns: tuple[int, ...], power: int
    ) -> list[Number]:
        """Variances in a power of the inputs' units: one while that is the same for all of them."""
        if self.units is None:
            return variance
        is_one = len(variance) == 1 and len({self.units.x_scale[column] for column in columns}) == 1
        each = variance * len(columns) if len(variance) == 1 else variance
        own = [self._length(v, column, power) for v, column in zip(each, columns, strict=True)]
        return own[:1] if is_one else own

    def _check_size(
        self, kernel: Kernel, columns: tuple[int, ...], name: str, numbers: list[Number]
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

    def _opaque(self, kernel: Kernel, columns: tuple[int, ...]) -> Part:
        if isinstance(kernel, MultioutputKernel):
            raise GrammarError(
                f"a {type(kernel).__name__} kernel is for several targets; expressions are for one."
            )
        dim = self._dim(kernel, columns)
        prototype, variance = prototype_of(kernel, len(columns))
        if self.units is not None:
            places = list(columns)
            prototype = in_units(prototype, self.units.x_mean[places], self.units.x_scale[places])
        scale = ONE if variance is None else numbers_of(variance)[0]
        if dim is None and columns != tuple(range(self.num_inputs)):
            prototype.active_dims = list(columns)
        family = opaque_family(prototype, kernel)
        own = {name: [Number(value, False)] for name, value in free_values(prototype).items()}
        return Part(Leaf(family.name, dim), (), own, scale)


def _family_name(kernel: Kernel, num_inputs: int) -> str | None:
    """The family of a leaf's kernel on ``num_inputs`` inputs, None if no family describes it."""
    if type(kernel) is FamilyKernel:
        return kernel.family.name
    for name in registered_families():
        if family_of(name).gpflow.is_read_from(kernel, num_inputs):
            return name
    return None

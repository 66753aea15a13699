"""Which numbers an expression has: one slot of θ for each, with transform, prior and place.

Scales that data cannot tell apart are not there: in a product every factor but one has unit scale,
and a sum (or a change between two kernels) of unit scale has weights that add to one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from vbks.arrays import Array, Mask
from vbks.errors import GrammarError
from vbks.grammar.expression import (
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    Product,
    Sum,
    dims_used,
    leaves,
    operands,
)
from vbks.grammar.parser import parse
from vbks.kernels.parameters import Parameter
from vbks.kernels.registry import family_of, forget_on_change
from vbks.kernels.shared_parameters import (
    CHANGE_PARAMETERS,
    NOISE_VARIANCE,
    WEIGHT,
    WINDOW_PARAMETERS,
)

NOISE_SLOT = 0
"""Every θ begins with the logarithm of the noise variance; white noise in a sum is this too."""


@dataclass(frozen=True)
class Slot:
    """One unconstrained number of θ.

    ``path`` is the kernel's place in the GPflow object of the expression, and ``index`` the entry
    of a parameter with several; ``dim`` is the input that the number is about, counted from 0.
    """

    path: str
    parameter: Parameter
    index: int
    dim: int | None


@dataclass(frozen=True)
class Node:
    """An expression with the slots that are its own, and its operands likewise.

    ``scale`` is the slot of a leaf's variance, None at unit scale; ``weights`` are the slots of the
    log odds of all operands but the last when the scale is one, None when operands have scales of
    their own.
    """

    expression: Expression
    scale: int | None
    slots: dict[str, tuple[int, ...]]
    weights: tuple[int, ...] | None
    operands: tuple[Node, ...]


@dataclass(frozen=True)
class Layout:
    """The slots of an expression's θ and the tree that refers to them."""

    expression: Expression
    num_inputs: int
    ard: bool
    slots: tuple[Slot, ...]
    root: Node

    def __len__(self) -> int:
        return len(self.slots)

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is made anew, of the families that are known there."""
        return lay_out, (self.expression, self.num_inputs, self.ard)

    @property
    def names(self) -> tuple[str, ...]:
        """A readable name for each slot: the place in the GPflow kernel and the parameter."""
        return tuple(
            f"{slot.path}.{slot.parameter.name}" + (f"[{slot.index}]" if several else "")
            for slot, several in zip(self.slots, self._is_one_of_several, strict=True)
        )

    @property
    def _is_one_of_several(self) -> list[bool]:
        counts = Counter((slot.path, slot.parameter.name) for slot in self.slots)
        return [counts[slot.path, slot.parameter.name] > 1 for slot in self.slots]

    @property
    def positive(self) -> Mask:
        """Which slots hold a logarithm: [H]."""
        return np.array([slot.parameter.positive for slot in self.slots])

    @property
    def prior_mean(self) -> Array:
        """The prior mean of θ: [H]."""
        return np.array([slot.parameter.prior.mean for slot in self.slots])

    @property
    def prior_sd(self) -> Array:
        """The prior standard deviation of θ: [H]."""
        return np.array([slot.parameter.prior.sd for slot in self.slots])


def lay_out(expression: Expression | str, num_inputs: int = 1, ard: bool = True) -> Layout:
    """Give every free number of an expression on ``num_inputs`` inputs its slot.

    With ``ard`` a leaf on all inputs has a lengthscale, period and location for each of them,
    otherwise one lengthscale and one period for all; a location is a point, and has all inputs.
    """
    return _lay_out(parse(expression), num_inputs, ard)


@lru_cache(maxsize=20_000)
def _lay_out(expression: Expression, num_inputs: int, ard: bool) -> Layout:
    if num_inputs < 1:
        raise GrammarError(f"there must be at least one input, got {num_inputs}.")
    beyond = max(dims_used(expression), default=1)
    if beyond > num_inputs:
        raise GrammarError(
            f"'{expression}' uses input {beyond}, but the number of inputs is {num_inputs}."
        )
    builder = _Builder(num_inputs, ard)
    builder.take("", NOISE_VARIANCE, 0, None)
    root = builder.node(expression, "", scaled=True, merge_noise=True)
    return Layout(expression, num_inputs, ard, tuple(builder.slots), root)


forget_on_change(_lay_out.cache_clear)


class _Builder:
    def __init__(self, num_inputs: int, ard: bool) -> None:
        self.num_inputs = num_inputs
        self.ard = ard
        self.slots: list[Slot] = []
        self.noise_is_merged = False

    def take(self, path: str, parameter: Parameter, index: int, dim: int | None) -> int:
        self.slots.append(Slot(path, parameter, index, dim))
        return len(self.slots) - 1

    def node(self, expression: Expression, path: str, scaled: bool, merge_noise: bool) -> Node:
        match expression:
            case Leaf():
                return self._leaf(expression, path, scaled, merge_noise)
            case Sum():
                return self._alternatives(expression, path, scaled, merge_noise)
            case ChangePoint() | ChangeWindow():
                return self._alternatives(expression, path, scaled, merge_noise=False)
            case Product():
                return self._product(expression, path, scaled)
        raise GrammarError(f"cannot lay out {expression!r}.")

    def _leaf(self, leaf: Leaf, path: str, scaled: bool, merge_noise: bool) -> Node:
        family = family_of(leaf.family)
        if family.evaluation_path == "noise" and merge_noise and not self.noise_is_merged:
            self.noise_is_merged = True
            return Node(leaf, NOISE_SLOT, {}, None, ())
        scale = self.take(path, family.variance, 0, None) if scaled else None
        slots = {p.name: tuple(self._entries(leaf, path, p)) for p in family.parameters}
        return Node(leaf, scale, slots, None, ())

    def _entries(self, leaf: Leaf, path: str, parameter: Parameter) -> Iterator[int]:
        if not parameter.per_input:
            yield self.take(path, parameter, 0, None)
        elif leaf.dim is not None:
            yield self.take(path, parameter, 0, leaf.dim - 1)
        elif self.ard or not parameter.positive:
            for dim in range(self.num_inputs):
                yield self.take(path, parameter, dim, dim)
        else:
            yield self.take(path, parameter, 0, None)

    def _alternatives(
        self, expression: Expression, path: str, scaled: bool, merge_noise: bool
    ) -> Node:
        """A sum, or a change between two kernels: every operand has a scale or a weight."""
        parts = operands(expression)
        slots: dict[str, tuple[int, ...]] = {}
        if isinstance(expression, ChangePoint | ChangeWindow):
            is_window = isinstance(expression, ChangeWindow)
            own = WINDOW_PARAMETERS if is_window else CHANGE_PARAMETERS
            slots = {p.name: (self.take(path, p, 0, expression.dim - 1),) for p in own}
        weights = None
        if not scaled:
            weights = tuple(self.take(path, WEIGHT, i, None) for i in range(len(parts) - 1))
        nodes = tuple(
            self.node(part, f"{path}.kernels[{i}]", scaled, merge_noise)
            for i, part in enumerate(parts)
        )
        return Node(expression, None, slots, weights, nodes)

    def _product(self, product: Product, path: str, scaled: bool) -> Node:
        carrier = _scale_carrier(product) if scaled else None
        nodes = tuple(
            self.node(factor, f"{path}.kernels[{i}]", i == carrier, merge_noise=False)
            for i, factor in enumerate(product.factors)
        )
        return Node(product, None, {}, None, nodes)


def _scale_carrier(product: Product) -> int:
    """The factor that keeps the scale.

    One with terms, whose scales are then all free; else white noise, whose prior is about noise.
    """
    for i, factor in enumerate(product.factors):
        if not isinstance(factor, Leaf):
            return i
    paths = [family_of(leaf.family).evaluation_path for leaf in leaves(product)]
    return paths.index("noise") if "noise" in paths else 0

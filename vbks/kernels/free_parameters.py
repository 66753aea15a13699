"""How many numbers of a kernel data can determine: the rank of its Jacobian, counted exactly.

The rank of ∂(kernel, noise)/∂θ at a generic θ is a question about linear relations between
functions, so numbers need not be real: values and derivatives are random elements of a finite
field, and the rank is found by elimination without rounding. What related functions have in common
is kept, everything else is drawn independently:

- lines are polynomials: (x−ℓ)(x'−ℓ) and its derivative at random x, x' and ℓ;
- a leaf of a family that is closed under products is a symbol of its own, whose derivative by some
  function of its parameter is the symbol times λ, one λ for every such leaf on the same input: for
  a squared exponential λ = −½(x−x')², by the inverse squared lengthscale. A product of two has
  twice the same derivative, so their lengthscales count once. (As a polynomial λ would raise the
  degree beyond that of any other derivative, so it may stand as a symbol too);
- a constant is one;
- white noise is one where x and x' are the same row and zero elsewhere;
- other families, and the sigmoids of changes, are functions that satisfy no linear relation with
  polynomials, with their own derivatives or with leaves whose parameters differ: a symbol for the
  value and one for each derivative. On the diagonal a stationary leaf is one whatever its
  parameters are.

A relation between polynomials in these symbols also holds between their values at random elements.
One that does not hold would be mistaken for true less than once in 10⁶ expressions: a determinant
of degree d vanishes at no more than a share d/(2³¹ − 1) of all elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
import numpy.typing as npt

from vbks.grammar.expression import ChangePoint, ChangeWindow, Expression, Leaf, Product
from vbks.grammar.parser import parse
from vbks.kernels.family import Family
from vbks.kernels.layout import NOISE_SLOT, Layout, Node, lay_out
from vbks.kernels.registry import family_of, forget_on_change

Elements = npt.NDArray[np.int64]

MODULUS = 2**31 - 1
"""A prime below 2³¹, so that products, and sums of two products, fit 64 bits."""

MARGIN = 8
"""Rows beyond one for each number of θ, both on the diagonal and off it."""

SEED = 144
"""The same expression always meets the same elements."""


def num_free_parameters(
    expression: Expression | str,
    num_inputs: int = 1,
    ard: bool = True,
    fixed: Sequence[int] = (),
) -> int:
    """The number p of parameters that data can determine, noise included.

    It is the rank of the Jacobian of kernel and noise variance, so SE × SE has as many as SE, and
    LIN + LIN as many as LIN + C. Slots that are ``fixed`` do not count. Of a kernel that is known
    only as a GPflow object it is an upper bound: nothing is known of relations between its
    parameters.
    """
    return _count(parse(expression), num_inputs, ard, tuple(fixed))


@lru_cache(maxsize=20_000)
def _count(expression: Expression, num_inputs: int, ard: bool, fixed: tuple[int, ...]) -> int:
    layout = lay_out(expression, num_inputs, ard)
    points = _Points(layout)
    kernel = _evaluate(layout.root, points)
    likelihood_noise = points.where_distinct(0, 1)
    by_slot = np.vstack([likelihood_noise[np.newaxis], kernel.gradient])
    return _rank(np.delete(by_slot, list(fixed), axis=0))


forget_on_change(_count.cache_clear)


@dataclass(frozen=True)
class _Dual:
    """Values [R] and their derivatives [h, R] by the slots met so far; slots are met once."""

    value: Elements
    gradient: Elements

    def __mul__(self, other: _Dual) -> _Dual:
        gradients = (self.gradient * other.value, other.gradient * self.value)
        return _Dual(self.value * other.value % MODULUS, np.concatenate(gradients) % MODULUS)


class _Points:
    """Random pairs of inputs, the first half of them distinct and the others on the diagonal."""

    def __init__(self, layout: Layout) -> None:
        half = len(layout) + MARGIN
        self.rng = np.random.default_rng(SEED)
        self.num_inputs = layout.num_inputs
        self.num = 2 * half
        self.is_distinct = np.arange(self.num) < half
        self.x1, self.x2 = self.draw_both(self.num_inputs)
        self._logarithms: dict[str, Elements] = {}
        self._without_parameters: dict[Expression, Elements] = {}

    def logarithms(self, family: str) -> Elements:
        """λ of each input, the same for all leaves of a family that is closed under products."""
        if family not in self._logarithms:
            self._logarithms[family] = self.where_distinct(self.draw(self.num_inputs), 0)
        return self._logarithms[family]

    def value_of(self, leaf: Expression) -> Elements:
        """The value of a leaf without parameters, the same wherever it stands."""
        return self._without_parameters.setdefault(leaf, self.draw())

    def draw(self, *shape: int) -> Elements:
        """Random elements, the last axis going over the pairs."""
        return self.rng.integers(1, MODULUS, size=(*shape, self.num))

    def draw_both(self, *shape: int) -> tuple[Elements, Elements]:
        """Values of the same functions at x and at x'."""
        at_x1, at_x2 = self.draw(*shape), self.draw(*shape)
        return at_x1, self.where_distinct(at_x2, at_x1)

    def draw_number(self) -> int:
        """A random element that is the same for all pairs: a parameter."""
        return int(self.rng.integers(1, MODULUS))

    def where_distinct(self, distinct: Elements | int, same: Elements | int) -> Elements:
        """One value off the diagonal, another on it."""
        return np.where(self.is_distinct, distinct, same)


def _evaluate(node: Node, points: _Points) -> _Dual:
    match node.expression:
        case Leaf():
            return _leaf(node, points)
        case Product():
            return reduce(_Dual.__mul__, (_evaluate(factor, points) for factor in node.operands))
    coefficients = _coefficients(node, points)
    return _combination(coefficients, [_evaluate(operand, points) for operand in node.operands])


def _combination(coefficients: Sequence[_Dual], kernels: Sequence[_Dual]) -> _Dual:
    """Σᵢ cᵢ kᵢ, where the coefficients share their slots and the kernels do not."""
    pairs = list(zip(coefficients, kernels, strict=True))
    value = np.sum([c.value * k.value % MODULUS for c, k in pairs], axis=0) % MODULUS
    shared = np.sum([c.gradient * k.value % MODULUS for c, k in pairs], axis=0) % MODULUS
    return _Dual(
        value, np.concatenate([shared, *(c.value * k.gradient for c, k in pairs)]) % MODULUS
    )


def _coefficients(node: Node, points: _Points) -> list[_Dual]:
    """The function of x and x' that multiplies each operand of a sum or a change."""
    gates = _gates(node, points)
    if node.weights is None:
        return gates
    free = np.array([points.draw_number() for _ in node.weights], np.int64)
    weights = [*free, (1 - free.sum()) % MODULUS]
    slopes = np.vstack([np.eye(len(free), dtype=np.int64), -np.ones_like(free)])
    return [
        _Dual(
            weight * gate.value % MODULUS,
            np.concatenate([weight * gate.gradient, slope[:, np.newaxis] * gate.value]) % MODULUS,
        )
        for weight, slope, gate in zip(weights, slopes, gates, strict=True)
    ]


def _gates(node: Node, points: _Points) -> list[_Dual]:
    """(1−σ)(1−σ') and σσ' of a change, ones for a sum."""
    if not isinstance(node.expression, ChangePoint | ChangeWindow):
        one = _Dual(np.ones(points.num, np.int64), np.zeros((0, points.num), np.int64))
        return [one] * len(node.operands)
    after1, after2 = points.draw_both()
    slope1, slope2 = points.draw_both(len(node.slots))
    before1, before2 = 1 - after1, 1 - after2
    before = -(slope1 * before2 % MODULUS) - slope2 * before1 % MODULUS
    after = slope1 * after2 % MODULUS + slope2 * after1 % MODULUS
    return [
        _Dual(before1 * before2 % MODULUS, before % MODULUS),
        _Dual(after1 * after2 % MODULUS, after % MODULUS),
    ]


def _leaf(node: Node, points: _Points) -> _Dual:
    assert isinstance(node.expression, Leaf)
    family = family_of(node.expression.family)
    if family.evaluation_path == "noise" and node.scale == NOISE_SLOT:
        return _without_slots(points.where_distinct(0, 0))
    unit = _unit_leaf(node, family, points)
    if node.scale is None:
        return unit
    scale = points.draw_number()
    return _Dual(
        scale * unit.value % MODULUS,
        np.concatenate([unit.value[np.newaxis], scale * unit.gradient % MODULUS]),
    )


def _unit_leaf(node: Node, family: Family, points: _Points) -> _Dual:
    match family.evaluation_path:
        case "constant":
            return _without_slots(points.where_distinct(1, 1))
        case "noise":
            return _without_slots(points.where_distinct(0, 1))
        case "rank one":
            return _line(_inputs(node, points), points)
    if family.rules.closed_under_products:
        return _exponential(node, points.logarithms(family.name), points)
    num_slots = sum(map(len, node.slots.values()))
    value = points.draw() if num_slots else points.value_of(node.expression)
    gradient = points.draw(num_slots)
    if not family.stationary:
        return _Dual(value, gradient)
    return _Dual(points.where_distinct(value, 1), points.where_distinct(gradient, 0))


def _line(inputs: Sequence[int], points: _Points) -> _Dual:
    """Σ (x−ℓ)(x'−ℓ), with a location for each input."""
    location = np.array([[points.draw_number()] for _ in inputs], np.int64)
    line1, line2 = points.x1[inputs] - location, points.x2[inputs] - location
    value = (line1 * line2 % MODULUS).sum(axis=0) % MODULUS
    return _Dual(value, -(line1 + line2) % MODULUS)


def _exponential(node: Node, logarithms: Elements, points: _Points) -> _Dual:
    """Π exp(λa), where a depends on the parameter of the input, each having its own or all one."""
    inputs = _inputs(node, points)
    value = points.where_distinct(points.draw(), 1)
    exponents = logarithms[inputs]
    (slots,) = node.slots.values()
    if len(slots) < len(inputs):
        exponents = exponents.sum(axis=0, keepdims=True) % MODULUS
    return _Dual(value, exponents * value % MODULUS)


def _without_slots(value: Elements) -> _Dual:
    return _Dual(value, np.zeros((0, len(value)), np.int64))


def _inputs(node: Node, points: _Points) -> list[int]:
    assert isinstance(node.expression, Leaf)
    dim = node.expression.dim
    return list(range(points.num_inputs)) if dim is None else [dim - 1]


def _rank(matrix: Elements) -> int:
    """The rank over the field, by elimination of one row after the other."""
    rank, rows = 0, matrix
    while len(rows):
        pivot, rows = rows[0], rows[1:]
        column = int(np.argmax(pivot != 0))
        if pivot[column] == 0:
            continue
        factors = rows[:, column] * pow(int(pivot[column]), -1, MODULUS) % MODULUS
        rows = (rows - factors[:, np.newaxis] * pivot) % MODULUS
        rank += 1
    return rank

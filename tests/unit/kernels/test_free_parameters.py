"""Counts known by hand, and counts that a Jacobian of the true kernel, in 80 digits, agrees with.

The Jacobian is that of a naive kernel in which every leaf has a scale of its own, so the comparison
also says that scales which a layout leaves out were not needed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from functools import reduce

import numpy as np
import pytest
import tensorflow as tf
from support.strategies import BUILT_IN, random_expression

from vbks.grammar.canonical import canonical
from vbks.grammar.expression import (
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    Product,
    Sum,
    num_leaves,
    operands,
)
from vbks.grammar.parser import parse
from vbks.grammar.space import K144
from vbks.kernels import registry
from vbks.kernels.free_parameters import num_free_parameters
from vbks.kernels.layout import lay_out
from vbks.kernels.shared_parameters import LENGTHSCALE, TAILS

DIGITS = 80
RANK_GAP = (Decimal("1e-60"), Decimal("1e-35"))
"""No pivot lies here: rounding leaves less than 1e-78, independent derivatives more than 1e-11."""
PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534"
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("SE", 3),
        ("RQ", 4),
        ("PER", 4),
        ("PER0", 4),
        ("LIN", 3),
        ("C", 2),
        ("WN", 1),
        ("SE + WN", 3),
        ("WN + WN", 1),
        ("SE * SE", 3),
        ("OU", 3),
        ("OU * OU", 3),
        ("M32", 3),
        ("M32 * M32", 4),
        ("M32 + M52 * SE", 6),
        ("OU * SE", 4),
        ("SE + SE", 5),
        ("SE * PER", 5),
        ("C * SE * C", 3),
        ("LIN + C", 4),
        ("LIN + LIN", 4),
        ("LIN + LIN + LIN + C", 4),
        ("LIN * LIN", 4),
        ("(SE + SE) * SE", 5),
        ("(SE + PER) * SE", 7),
        ("(SE + LIN) * (PER + RQ)", 1 + 3 + 1 + 1 + 2 + 2),
        ("LIN * LIN + LIN * LIN + LIN * LIN", 1 + 6),
        ("LIN * LIN + LIN * LIN + LIN * LIN + LIN * LIN", 1 + 6),
        ("(SE + WN) * PER", 5),
        ("(SE + WN) * LIN", 1 + 3 + 1),
        ("WN * LIN", 1 + 2),
        ("WN * LIN + WN * LIN + WN * LIN", 3),
        ("WN * SE", 1),
        ("CP[1](SE, PER)", 1 + 2 + 2 + 3),
        ("CW[1](SE, PER)", 1 + 3 + 2 + 3),
        ("CP[1](SE, PER) * SE", 1 + 2 + 2 + 4),
        ("CP[1](RQ, PER) * (SE + LIN)", 1 + 3 + 2 + 2 + 2 + 1 + 1),
        ("CP[1](WN, WN)", 1 + 2 + 2),
        ("CP[1](SE, SE) * SE", 1 + 2 + 2 + 2),
    ],
)
def test_num_free_parameters__known_by_hand(text: str, count: int) -> None:
    assert num_free_parameters(parse(text)) == count


@pytest.mark.parametrize(
    ("text", "num_inputs", "ard", "count"),
    [
        ("SE", 3, True, 5),
        ("SE", 3, False, 3),
        ("SE * SE[2]", 3, True, 5),
        ("SE * SE[2]", 3, False, 4),
        ("OU * OU[2]", 3, True, 5),
        ("OU", 3, False, 3),
        ("SE[1] * SE[2]", 2, True, 4),
        ("PER", 2, True, 6),
        ("PER", 2, False, 4),
        ("LIN", 3, False, 5),
        ("LIN + LIN", 2, True, 1 + 4),
        ("LIN[1] + LIN[2]", 2, True, 1 + 4),
        ("LIN[1] * LIN[2]", 2, True, 1 + 3),
    ],
)
def test_num_free_parameters__of_several_inputs(
    text: str, num_inputs: int, ard: bool, count: int
) -> None:
    assert num_free_parameters(parse(text), num_inputs, ard) == count


def dummy(X1, X2, **parameters):
    return X1[..., 0] * X2[..., 0]


def wave(X1, X2, **parameters):
    return tf.cos(X1 - X2)[..., 0]


def test_num_free_parameters__takes_every_parameter_of_a_registered_family() -> None:
    registry.register_family("Odd", dummy, (LENGTHSCALE, TAILS))
    registry.register_family("Even", wave, (LENGTHSCALE,), stationary=True)
    assert num_free_parameters(parse("Odd * SE + WN * Odd")) == 1 + 4 + 3
    assert num_free_parameters(parse("Even * SE + WN * Even")) == 1 + 3


def test_num_free_parameters__is_never_more_than_theta_has() -> None:
    rng = random.Random(0)
    for _ in range(200):
        expression = random_expression(rng)
        assert 1 <= num_free_parameters(expression, 4) <= len(lay_out(expression, 4))


@pytest.mark.parametrize(
    ("text", "fixed", "count"),
    [
        ("PER", [".period"], 3),
        ("SE * SE", [".kernels[0].lengthscales"], 3),
        ("SE * SE", [".kernels[0].lengthscales", ".kernels[1].lengthscales"], 2),
        ("LIN + LIN", [".kernels[0].location", ".kernels[1].location"], 3),
        ("SE + WN", [".noise"], 2),
        ("CP[1](SE, PER)", [".location", ".kernels[1].period"], 6),
        ("(SE + PER) * SE", [".kernels[0].kernels[0].variance"], 6),
    ],
)
def test_num_free_parameters__leaves_out_what_is_fixed(
    text: str, fixed: list[str], count: int
) -> None:
    names = lay_out(text).names
    assert num_free_parameters(text, fixed=[names.index(name) for name in fixed]) == count


def test_num_free_parameters__is_zero_where_all_is_fixed() -> None:
    rng = random.Random(2)
    for _ in range(100):
        expression = random_expression(rng)
        slots = range(len(lay_out(expression, 4)))
        assert num_free_parameters(expression, 4, fixed=slots) == 0
        assert num_free_parameters(expression, 4, fixed=slots[1:]) == 1


def test_num_free_parameters__is_the_same_for_the_canonical_form() -> None:
    rng = random.Random(1)
    for expression in (*K144, *(random_expression(rng, max_dim=2) for _ in range(200))):
        form = canonical(expression)
        assert num_free_parameters(expression, 2) == num_free_parameters(form, 2), str(expression)


def test_num_free_parameters__is_all_that_canonical_kernels_of_k144_have() -> None:
    for form in map(canonical, K144):
        assert num_free_parameters(form) == len(lay_out(form)), str(form)


@pytest.mark.parametrize("first", range(0, len(K144), 36))
def test_num_free_parameters__is_the_rank_of_the_true_jacobian_for_k144(first: int) -> None:
    for expression in K144[first : first + 36]:
        count = num_free_parameters(expression)
        assert count == numerical_rank(expression, 1, True), str(expression)


@pytest.mark.parametrize("seed", range(10))
def test_num_free_parameters__is_the_rank_of_the_true_jacobian(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        num_inputs, ard = rng.randint(1, 4), rng.random() < 0.75
        expression = random_expression(rng, max_leaves=7, families=BUILT_IN, max_dim=num_inputs)
        count = num_free_parameters(expression, num_inputs, ard)
        assert count == numerical_rank(expression, num_inputs, ard), (str(expression), num_inputs)


@dataclass
class Dual:
    """Values [R] with derivatives [R] by each number they depend on, as decimal numbers."""

    value: np.ndarray
    tangents: dict[int, np.ndarray] = field(default_factory=dict)

    def __add__(self, other: Dual | int) -> Dual:
        if isinstance(other, int):
            return Dual(self.value + other, self.tangents)
        tangents = dict(self.tangents)
        for slot, tangent in other.tangents.items():
            tangents[slot] = tangents[slot] + tangent if slot in tangents else tangent
        return Dual(self.value + other.value, tangents)

    def __mul__(self, other: Dual) -> Dual:
        return self.scaled(other.value) + other.chain(self.value * 0, self.value)

    def __neg__(self) -> Dual:
        return self.scaled(Decimal(-1))

    def __sub__(self, other: Dual) -> Dual:
        return self + -other

    def scaled(self, factor: np.ndarray | Decimal) -> Dual:
        return self.chain(self.value * factor, factor)

    def chain(self, value: np.ndarray, slope: np.ndarray | Decimal) -> Dual:
        return Dual(value, {slot: tangent * slope for slot, tangent in self.tangents.items()})

    def exp(self) -> Dual:
        value = _apply(Decimal.exp, self.value)
        return self.chain(value, value)

    def log(self) -> Dual:
        return self.chain(_apply(Decimal.ln, self.value), 1 / self.value)

    def root(self) -> Dual:
        """Of squares, with slope zero at zero, where functions of it have none."""
        value = _apply(Decimal.sqrt, self.value)
        return self.chain(value, np.array([1 / (2 * v) if v else Decimal(0) for v in value]))

    def inverse(self) -> Dual:
        return self.chain(1 / self.value, -1 / self.value**2)

    def cosine(self) -> Dual:
        waves = [_cosine_and_sine(angle) for angle in self.value]
        return self.chain(np.array([c for c, _ in waves]), np.array([-s for _, s in waves]))

    def bessel(self) -> Dual:
        """I₀ and its derivative I₁."""
        series = [_bessel(z) for z in self.value]
        return self.chain(np.array([i0 for i0, _ in series]), np.array([i1 for _, i1 in series]))


def _apply(function: object, values: np.ndarray) -> np.ndarray:
    return np.array([function(value) for value in values], dtype=object)  # type: ignore[operator]


def _cosine_and_sine(angle: Decimal) -> tuple[Decimal, Decimal]:
    """By their series, after the angle is brought close to zero."""
    angle = angle - 2 * PI * (angle / (2 * PI)).to_integral_value()
    sums, term, n = [Decimal(0), Decimal(0)], Decimal(1), 0
    while abs(term) > Decimal(10) ** -DIGITS or n < 3:
        sums[n % 2] += -term if n % 4 >= 2 else term
        n += 1
        term = term * angle / n
    return sums[0], sums[1]


def _bessel(z: Decimal) -> tuple[Decimal, Decimal]:
    """I₀ = Σ (z/2)²ᵏ/k!² and its derivative, by their series."""
    value, slope, term, k = Decimal(0), Decimal(0), Decimal(1), 0
    while abs(term) > Decimal(10) ** -DIGITS:
        value += term
        slope += 2 * k * term / z
        k += 1
        term = term * (z / 2) ** 2 / k**2
    return value, slope


class NaiveKernel:
    """The kernel's formulas, leaf by leaf, each with a scale and parameters drawn when met."""

    def __init__(self, X1: np.ndarray, X2: np.ndarray, is_same: np.ndarray, ard: bool) -> None:
        self.X1, self.X2, self.ard = X1, X2, ard
        self.is_same = Dual(np.array([Decimal(int(same)) for same in is_same]))
        self.none = self.is_same.scaled(Decimal(0))
        self.rng = random.Random(0)
        self.num_parameters = 0

    def draw(self, low: float, high: float) -> Dual:
        value = np.full(len(self.X1), Decimal(self.rng.uniform(low, high)))
        self.num_parameters += 1
        return Dual(value, {self.num_parameters - 1: value * 0 + 1})

    def parts(self, expression: Expression) -> tuple[Dual, Dual]:
        """Signal at all rows, and noise, which is zero where the two inputs differ."""
        match expression:
            case Leaf("WN"):
                return self.none, self.is_same * self.draw(0.3, 1.5)
            case Leaf(family, dim):
                scale = self.draw(0.5, 2.0)
                return scale * getattr(self, f"leaf_{family}")(self.inputs(dim)), self.none
            case Sum(terms):
                return reduce(_added, map(self.parts, terms))
            case Product(factors):
                return reduce(_multiplied, map(self.parts, factors))
            case ChangePoint(dim=dim) | ChangeWindow(dim=dim):
                gates = self.gates(dim - 1, isinstance(expression, ChangeWindow))
                both = zip(gates, map(self.parts, operands(expression)), strict=True)
                return reduce(_added, ((gate * s, gate * n) for gate, (s, n) in both))
        raise AssertionError(expression)

    def inputs(self, dim: int | None) -> list[tuple[Dual, Dual]]:
        dims = range(self.X1.shape[1]) if dim is None else [dim - 1]
        return [(Dual(self.X1[:, d]), Dual(self.X2[:, d])) for d in dims]

    def per_input(self, inputs: list[tuple[Dual, Dual]], low: float, high: float) -> list[Dual]:
        if self.ard:
            return [self.draw(low, high) for _ in inputs]
        return [self.draw(low, high)] * len(inputs)

    def gates(self, dim: int, is_window: bool) -> tuple[Dual, Dual]:
        location, steepness = self.draw(-1.0, 1.0), self.draw(1.0, 3.0)
        half = self.draw(0.2, 0.8) if is_window else None

        def after(x: Dual) -> Dual:
            if half is None:
                return _sigmoid(steepness * (x - location))
            entered = _sigmoid(steepness * (x - location + half))
            return entered * _sigmoid(steepness * (location + half - x))

        after1, after2 = after(Dual(self.X1[:, dim])), after(Dual(self.X2[:, dim]))
        return (-after1 + 1) * (-after2 + 1), after1 * after2

    def leaf_C(self, inputs: list[tuple[Dual, Dual]]) -> Dual:
        return self.none + 1

    def leaf_LIN(self, inputs: list[tuple[Dual, Dual]]) -> Dual:
        locations = [self.draw(-1.0, 1.0) for _ in inputs]
        lines = zip(inputs, locations, strict=True)
        return reduce(Dual.__add__, ((x1 - at) * (x2 - at) for (x1, x2), at in lines))

    def leaf_SE(self, inputs: list[tuple[Dual, Dual]]) -> Dual:
        return self.distance(inputs).scaled(Decimal("-0.5")).exp()

    def leaf_OU(self, inputs: list[tuple[Dual, Dual]]) -> Dual:
        ratios = (
            self.length(x1 - x2) * lengthscale.inverse()
            for (x1, x2), lengthscale in zip(inputs, self.per_input(inputs, 0.5, 2.0), strict=True)
        )
        return (-reduce(Dual.__add__, ratios)).exp()

    def leaf_M32(self, inputs: list[tuple[Dual, Dual]]) -> Dual:
        root = self.distance(inputs).scaled(Decimal(3)).root()
        return (root + 1) * (-root).exp()

    def leaf_M52(self, inputs: list[tuple[Dual, Dual]]) -> Dual:
        root = self.distance(inputs).scaled(Decimal(5)).root()
        return (root + (root * root).scaled(1 / Decimal(3)) + 1) * (-root).exp()

    def leaf_RQ(self, inputs: list[tuple[Dual, Dual]]) -> Dual:
        alpha = self.draw(0.5, 2.0)
        ratio = self.distance(inputs) * alpha.scaled(Decimal(2)).inverse()
        return (-(alpha * (ratio + 1).log())).exp()

    def leaf_PER(self, inputs: list[tuple[Dual, Dual]]) -> Dual:
        sharpness, cosines = self.waves(inputs)
        exponents = zip(sharpness, cosines, strict=True)
        return reduce(Dual.__add__, (z * (cosine + -1) for z, cosine in exponents)).exp()

    def leaf_PER0(self, inputs: list[tuple[Dual, Dual]]) -> Dual:
        sharpness, cosines = self.waves(inputs)
        leaves = []
        for z, cosine in zip(sharpness, cosines, strict=True):
            mean = z.bessel()
            leaves.append(((z * cosine).exp() - mean) * (z.exp() - mean).inverse())
        return reduce(Dual.__mul__, leaves)

    def distance(self, inputs: list[tuple[Dual, Dual]]) -> Dual:
        ratios = (
            (x1 - x2) * lengthscale.inverse()
            for (x1, x2), lengthscale in zip(inputs, self.per_input(inputs, 0.5, 2.0), strict=True)
        )
        return reduce(Dual.__add__, (ratio * ratio for ratio in ratios))

    def length(self, step: Dual) -> Dual:
        return Dual(np.abs(step.value))

    def waves(self, inputs: list[tuple[Dual, Dual]]) -> tuple[list[Dual], list[Dual]]:
        lengthscales = [ell.inverse() for ell in self.per_input(inputs, 0.6, 1.5)]
        periods = self.per_input(inputs, 0.8, 3.0)
        cosines = [
            ((x1 - x2) * period.inverse()).scaled(2 * PI).cosine()
            for (x1, x2), period in zip(inputs, periods, strict=True)
        ]
        return [inverse * inverse for inverse in lengthscales], cosines


Parts = tuple[Dual, Dual]


def _added(first: Parts, second: Parts) -> Parts:
    return first[0] + second[0], first[1] + second[1]


def _multiplied(first: Parts, second: Parts) -> Parts:
    (s1, n1), (s2, n2) = first, second
    return s1 * s2, s1 * n2 + n1 * s2 + n1 * n2


def _sigmoid(z: Dual) -> Dual:
    return ((-z).exp() + 1).inverse()


def numerical_rank(expression: Expression, num_inputs: int, ard: bool) -> int:
    """The rank of (kernel, noise) by every parameter of the naive kernel."""
    with localcontext() as context:
        context.prec = DIGITS
        pivots = list(_pivots(_jacobian(expression, num_inputs, ard)))
    low, high = RANK_GAP
    assert not any(low < pivot < high for pivot in pivots), (str(expression), min(pivots))
    return sum(pivot >= high for pivot in pivots)


def _jacobian(expression: Expression, num_inputs: int, ard: bool) -> np.ndarray:
    """One row per parameter, one column per pair of inputs or noisy input."""
    num_pairs = len(lay_out(expression, num_inputs, ard)) + num_leaves(expression) + 3
    num_noisy = num_pairs if "WN" in str(expression) else 1
    rng = np.random.default_rng(num_pairs)
    X1, X2 = rng.uniform(-2, 2, (2, num_pairs + num_noisy, num_inputs))
    X2[num_pairs:] = X1[num_pairs:]
    is_same = np.arange(len(X1)) >= num_pairs
    kernel = NaiveKernel(_decimal(X1), _decimal(X2), is_same, ard)
    signal, noise = kernel.parts(expression)
    noise = noise + kernel.is_same * kernel.draw(0.1, 0.2)
    nothing = kernel.none.value
    return np.array(
        [
            np.where(is_same, noise.tangents.get(k, nothing), signal.tangents.get(k, nothing))
            for k in range(kernel.num_parameters)
        ]
    )


def _decimal(X: np.ndarray) -> np.ndarray:
    return np.array([[Decimal(x) for x in row] for row in X.tolist()], dtype=object)


def _pivots(matrix: np.ndarray) -> Iterator[Decimal]:
    """The pivots of elimination with full pivoting, after rows are scaled to one."""
    largest = abs(matrix).max(axis=1)
    matrix = matrix[largest > 0] / largest[largest > 0][:, np.newaxis]
    while len(matrix):
        row, column = np.unravel_index(np.argmax(abs(matrix)), matrix.shape)
        pivot = matrix[row, column]
        yield abs(pivot)
        if pivot == 0:
            return
        rest = np.delete(matrix, row, axis=0)
        matrix = rest - np.outer(rest[:, column], matrix[row] / pivot)

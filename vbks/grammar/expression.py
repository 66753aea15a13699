"""Kernel expressions: immutable values that are hashed, compared, printed and walked."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from vbks.errors import GrammarError
from vbks.grammar.families import rules_of
from vbks.grammar.quoting import quote

MAX_DEPTH = 64
"""Levels of nesting, a leaf being one. Functions over the tree call themselves once per level, so
this keeps every one of them far from Python's limit of 1,000 calls; searches stay below ten."""

MAX_LEAVES = 100_000
"""Leaves of one expression. Operands may be shared, so a few lines of code can ask for 2⁶⁴ leaves,
which no function over the tree would ever finish to visit."""

MAX_DIM = 1_000_000
"""The highest input a leaf may name: more columns than data ever has, so more is a mistake."""


class LimitError(GrammarError):
    """An expression would be nested deeper than MAX_DEPTH or have more leaves than MAX_LEAVES."""


class Expression:
    """A kernel as a value; one of Leaf, Sum, Product, ChangePoint and ChangeWindow.

    The text of an expression says everything about it, so two are equal when their texts are.
    """

    def _write(self) -> str:
        raise NotImplementedError

    @cached_property
    def _text(self) -> str:
        return self._write()

    @cached_property
    def _depth(self) -> int:
        return 1 + max((operand._depth for operand in operands(self)), default=0)

    @cached_property
    def _num_leaves(self) -> int:
        return sum(operand._num_leaves for operand in operands(self)) or 1

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"parse({self._text!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        return self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __add__(self, other: Expression) -> Sum:
        return Sum((self, other)) if isinstance(other, Expression) else NotImplemented

    def __mul__(self, other: Expression) -> Product:
        return Product((self, other)) if isinstance(other, Expression) else NotImplemented


@dataclass(frozen=True, eq=False, repr=False)
class Leaf(Expression):
    """A base kernel on one input, counted from 1, or on all of them."""

    family: str
    dim: int | None = None

    def __post_init__(self) -> None:
        rules_of(self.family)
        if self.dim is not None:
            object.__setattr__(self, "dim", _checked_dim(self.dim))

    def _write(self) -> str:
        return self.family if self.dim is None else f"{self.family}[{self.dim}]"


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Expression):
    """A sum of expressions in the order written; sums among its terms are merged into it."""

    terms: tuple[Expression, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", _flattened(Sum, self.terms))
        _check_size(self)

    def _write(self) -> str:
        return " + ".join(map(str, self.terms))


@dataclass(frozen=True, eq=False, repr=False)
class Product(Expression):
    """A product of expressions in the order written, printed with brackets around sums."""

    factors: tuple[Expression, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", _flattened(Product, self.factors))
        _check_size(self)

    def _write(self) -> str:
        return " * ".join(f"({f})" if isinstance(f, Sum) else str(f) for f in self.factors)


@dataclass(frozen=True, eq=False, repr=False)
class ChangePoint(Expression):
    """One expression that gives way to another along an input, by a sigmoid."""

    before: Expression
    after: Expression
    dim: int = 1

    def __post_init__(self) -> None:
        _check_operands((self.before, self.after))
        object.__setattr__(self, "dim", _checked_dim(self.dim))
        _check_size(self)

    def _write(self) -> str:
        return f"CP[{self.dim}]({self.before}, {self.after})"


@dataclass(frozen=True, eq=False, repr=False)
class ChangeWindow(Expression):
    """One expression that gives way to another inside a window of an input, by two sigmoids."""

    outside: Expression
    inside: Expression
    dim: int = 1

    def __post_init__(self) -> None:
        _check_operands((self.outside, self.inside))
        object.__setattr__(self, "dim", _checked_dim(self.dim))
        _check_size(self)

    def _write(self) -> str:
        return f"CW[{self.dim}]({self.outside}, {self.inside})"


def add(*terms: Expression) -> Expression:
    """The sum of the terms, or the term itself when there is one."""
    return _only(terms) if len(terms) == 1 else Sum(terms)


def multiply(*factors: Expression) -> Expression:
    """The product of the factors, or the factor itself when there is one."""
    return _only(factors) if len(factors) == 1 else Product(factors)


def operands(expression: Expression) -> tuple[Expression, ...]:
    """What an expression is directly made of, in order; a leaf has none."""
    match expression:
        case Sum(terms):
            return terms
        case Product(factors):
            return factors
        case ChangePoint(before, after) | ChangeWindow(before, after):
            return (before, after)
    return ()


def rebuild(expression: Expression, operands: Sequence[Expression]) -> Expression:
    """The same operator on other operands; a leaf stays as it is."""
    match expression:
        case Sum():
            return add(*operands)
        case Product():
            return multiply(*operands)
        case ChangePoint(dim=dim) | ChangeWindow(dim=dim):
            if len(operands) != 2:
                raise GrammarError(f"a change is between two operands, got {len(operands)}.")
            return type(expression)(operands[0], operands[1], dim)
    if operands:
        raise GrammarError(f"the leaf '{expression}' has no operands, got {len(operands)}.")
    return expression


def subexpressions(expression: Expression) -> tuple[Expression, ...]:
    """Every node of the tree from left to right, each before its operands, itself first."""
    below = (node for operand in operands(expression) for node in subexpressions(operand))
    return (expression, *below)


def leaves(expression: Expression) -> tuple[Leaf, ...]:
    """The leaves from left to right."""
    return tuple(node for node in subexpressions(expression) if isinstance(node, Leaf))


def num_leaves(expression: Expression) -> int:
    """How many leaves an expression has: its size."""
    return expression._num_leaves


def depth(expression: Expression) -> int:
    """How many levels of operators an expression has, leaves included."""
    return expression._depth


def dims_used(expression: Expression) -> frozenset[int]:
    """The inputs that leaves and changes name; a leaf on all inputs names none."""
    dims = (getattr(node, "dim", None) for node in subexpressions(expression))
    return frozenset(dim for dim in dims if dim is not None)


def _flattened(
    operator_type: type[Sum] | type[Product], items: Iterable[Expression]
) -> tuple[Expression, ...]:
    given = tuple(items)
    _check_operands(given)
    if len(given) < 2:
        name = operator_type.__name__.lower()
        raise GrammarError(f"a {name} needs at least two operands, got {len(given)}.")
    merged: list[Expression] = []
    for item in given:
        merged.extend(operands(item) if isinstance(item, operator_type) else (item,))
    return tuple(merged)


def _only(items: tuple[Expression, ...]) -> Expression:
    _check_operands(items)
    return items[0]


def _check_operands(items: Iterable[object]) -> None:
    for item in items:
        if not isinstance(item, Expression):
            raise GrammarError(f"an operand must be an Expression, got {quote(item)}.")


def _checked_dim(dim: int) -> int:
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise GrammarError(f"the number of an input must be an int, got {quote(dim)}.")
    number = operator.index(dim)
    if not 1 <= number <= MAX_DIM:
        raise GrammarError(f"inputs are counted from 1 to {MAX_DIM}, got {quote(number)}.")
    return number


def _check_size(expression: Expression) -> None:
    if expression._depth > MAX_DEPTH:
        raise LimitError(
            f"an expression has at most {MAX_DEPTH} levels, this one {expression._depth}."
        )
    if expression._num_leaves > MAX_LEAVES:
        raise LimitError(
            f"an expression has at most {MAX_LEAVES} leaves, this one {expression._num_leaves}."
        )

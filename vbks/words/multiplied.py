"""From a kernel's expression to its additive parts: sums and changes are multiplied out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from vbks.grammar import (
    MAX_TERMS,
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    LimitError,
    Product,
    Sum,
    operands,
    parse,
)
from vbks.words.part import NOTHING, Factor, Gate, Part, Values

Known = Sequence[Values | Sequence[Values] | None]
"""What is known of each leaf and change from left to right, a change before its sides; of a leaf on
several inputs, for each of them."""

_Atoms = tuple[Factor | Gate, ...]


@dataclass(frozen=True)
class _Reader:
    """The number of inputs, and what is known of the nodes that were not visited yet."""

    num_inputs: int
    known: Iterator[Values | Sequence[Values] | None]

    def terms(self, expression: Expression) -> list[_Atoms]:
        """The products that an expression is a sum of."""
        match expression:
            case Leaf(family, dim):
                return [(self._factor(family, dim),)]
            case Sum():
                return [term for part in operands(expression) for term in self.terms(part)]
            case Product():
                choices = product(*[self.terms(factor) for factor in operands(expression)])
                return [tuple(atom for atoms in choice for atom in atoms) for choice in choices]
            case ChangePoint(before, after, dim):
                values = self._values(1)[0]
                first = self._gated(Gate("before", dim, values), before)
                return first + self._gated(Gate("after", dim, values), after)
            case ChangeWindow(outside, inside, dim):
                values = self._values(1)[0]
                first = self._gated(Gate("outside", dim, values), outside)
                return first + self._gated(Gate("inside", dim, values), inside)
        raise TypeError(f"expected an Expression, got {expression!r}.")

    def _gated(self, gate: Gate, expression: Expression) -> list[_Atoms]:
        return [(gate, *atoms) for atoms in self.terms(expression)]

    def _factor(self, family: str, dim: int | None) -> Factor:
        inputs = tuple(range(1, self.num_inputs + 1)) if dim is None else (dim,)
        return Factor(family, inputs, self._values(len(inputs)))

    def _values(self, count: int) -> tuple[Values, ...]:
        given = next(self.known, None)
        if given is None:
            return (NOTHING,) * count
        return (given,) * count if isinstance(given, Values) else tuple(given)


def parts_of(
    expression: Expression | str, num_inputs: int = 1, known: Known = ()
) -> tuple[Part, ...]:
    """The additive parts of a kernel, in the order written, with what is known of its leaves.

    Every term of a sum inside a product or a change is a part of its own, and so is each side of a
    change, with a gate that says where it applies.
    """
    expression = parse(expression)
    if _num_terms(expression) > MAX_TERMS:
        raise LimitError(
            f"the expression has more than {MAX_TERMS} parts. Multiply fewer sums with each other."
        )
    terms = _Reader(num_inputs, iter(known)).terms(expression)
    return tuple(map(_part, terms))


def _part(atoms: _Atoms) -> Part:
    factors = tuple(atom for atom in atoms if isinstance(atom, Factor))
    return Part(factors, tuple(atom for atom in atoms if isinstance(atom, Gate)))


def _num_terms(expression: Expression) -> int:
    counts = [_num_terms(operand) for operand in operands(expression)]
    if not isinstance(expression, Product):
        return sum(counts) or 1
    total = 1
    for count in counts:
        total *= count
    return total

"""From a kernel's expression to its additive parts: sums and changes are multiplied out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vbks.grammar import (
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    operands,
    parse,
    products_of,
    subexpressions,
)
from vbks.words.part import NOTHING, Factor, Gate, Part, Side, Values

Known = Sequence[Values | Sequence[Values] | None]
"""What is known of each leaf and change from left to right, a change before its sides; of a leaf on
several inputs, for each of them."""


def parts_of(
    expression: Expression | str, num_inputs: int = 1, known: Known = ()
) -> tuple[Part, ...]:
    """The additive parts of a kernel, in the order written, with what is known of its leaves.

    Every term of a sum inside a product or a change is a part of its own, and so is each side of a
    change, with a gate that says where it applies.
    """
    expression = parse(expression)
    products = products_of(expression)
    choices = _choices(expression, num_inputs, iter(known))
    return tuple(
        _part([atom for branch in branches for atom in choices[branch.node][branch.operand]])
        for branches in products
    )


def factor_of(leaf: Leaf, num_inputs: int, given: Values | Sequence[Values] | None) -> Factor:
    """A leaf as a factor, with what is known of it."""
    inputs = tuple(range(1, num_inputs + 1)) if leaf.dim is None else (leaf.dim,)
    if given is None or isinstance(given, Values):
        return Factor(leaf.family, inputs, (given or NOTHING,) * len(inputs))
    return Factor(leaf.family, inputs, tuple(given))


def sides_of(change: ChangePoint | ChangeWindow) -> tuple[Side, Side]:
    """The sides of a change, in the order of its operands."""
    return ("before", "after") if isinstance(change, ChangePoint) else ("outside", "inside")


_Atoms = tuple[Factor | Gate, ...]


def _choices(
    expression: Expression, num_inputs: int, known: Iterator[Values | Sequence[Values] | None]
) -> list[tuple[_Atoms, ...]]:
    """What each operand of each node brings to a product: a factor, a gate, or nothing."""
    found: list[tuple[_Atoms, ...]] = []
    for node in subexpressions(expression):
        match node:
            case Leaf():
                found.append(((factor_of(node, num_inputs, next(known, None)),),))
            case ChangePoint(dim=dim) | ChangeWindow(dim=dim):
                given = next(known, None)
                values = given if isinstance(given, Values) else (given or (NOTHING,))[0]
                found.append(tuple((Gate(side, dim, values),) for side in sides_of(node)))
            case _:
                found.append(((),) * len(operands(node)))
    return found


def _part(atoms: Sequence[Factor | Gate]) -> Part:
    factors = tuple(atom for atom in atoms if isinstance(atom, Factor))
    return Part(factors, tuple(atom for atom in atoms if isinstance(atom, Gate)))

"""Steps of a search from one expression to its neighbours in the grammar.

A move says what one node may be replaced with; `children` makes every move at every node.
Below, S is any sub-expression, B any leaf to choose from and C the constant kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from vbks.grammar.canonical import canonical, is_stationary
from vbks.grammar.expression import (
    ChangePoint,
    ChangeWindow,
    Expression,
    Leaf,
    LimitError,
    Product,
    Sum,
    add,
    multiply,
    operands,
    rebuild,
    subexpressions,
)
from vbks.grammar.families import BASE_FAMILIES
from vbks.grammar.parser import parse
from vbks.grammar.vocabulary import Dims, list_dims, vocabulary


class Choices(NamedTuple):
    """What a move may write: new leaves, and inputs along which a change may happen."""

    leaves: tuple[Leaf, ...]
    inputs: tuple[int, ...]


Move = Callable[[Expression, Choices], Iterable[Expression]]
"""A function from a node to its replacements, smaller ones first."""

_CONSTANT, _NOISE = Leaf("C"), Leaf("WN")


def add_leaf(node: Expression, choices: Choices) -> Iterator[Expression]:
    """S → S + B."""
    return (node + leaf for leaf in choices.leaves)


def multiply_leaf(node: Expression, choices: Choices) -> Iterator[Expression]:
    """S → S × B."""
    return (node * leaf for leaf in choices.leaves)


def replace_leaf(node: Expression, choices: Choices) -> Iterator[Expression]:
    """B → B′, another family on the same input or any family on another one."""
    return (leaf for leaf in choices.leaves if isinstance(node, Leaf) and leaf != node)


def multiply_leaf_or_constant(node: Expression, choices: Choices) -> Iterator[Expression]:
    """S → S × (B + C), which keeps S and adds its product with B."""
    return (node * (leaf + _CONSTANT) for leaf in choices.leaves)


def change_point(node: Expression, choices: Choices) -> Iterator[Expression]:
    """S → CP(S, S), along every input."""
    return (ChangePoint(node, node, dim) for dim in choices.inputs)


def change_to_constant(node: Expression, choices: Choices) -> Iterator[Expression]:
    """S → CP(S, C) and CP(C, S), along every input: S ends, or begins."""
    for before, after in ((node, _CONSTANT), (_CONSTANT, node)):
        for dim in choices.inputs:
            yield ChangePoint(before, after, dim)


def change_window(node: Expression, choices: Choices) -> Iterator[Expression]:
    """S → CW(S, C), CW(C, S) and CW(S, S), along every input."""
    for outside, inside in ((node, _CONSTANT), (_CONSTANT, node), (node, node)):
        for dim in choices.inputs:
            yield ChangeWindow(outside, inside, dim)


def shrink(node: Expression, choices: Choices) -> Iterator[Expression]:
    """S → each part of S."""
    return iter(subexpressions(node)[1:])


def collapse(node: Expression, choices: Choices) -> Iterator[Expression]:
    """S → B, for an S that is no leaf itself."""
    return (leaf for leaf in choices.leaves if not isinstance(node, Leaf))


CKS_MOVES: tuple[Move, ...] = (add_leaf, multiply_leaf, replace_leaf)
"""The moves of compositional kernel search (Duvenaud et al., 2013)."""

ABCD_MOVES: tuple[Move, ...] = (
    *CKS_MOVES,
    multiply_leaf_or_constant,
    change_point,
    change_window,
    shrink,
    collapse,
)
"""The moves of automatic Bayesian covariance discovery (Lloyd et al., 2014)."""


def children(
    expression: Expression | str,
    families: Sequence[str] = BASE_FAMILIES,
    dims: Dims = 1,
    moves: Sequence[Move] = CKS_MOVES,
) -> tuple[Expression, ...]:
    """All expressions one move away, canonical, each once and never the expression itself.

    Those beyond the limits on depth and leaves are left out.
    """
    expression = parse(expression)
    inputs = dict.fromkeys(1 if dim is None else dim for dim in list_dims(dims))
    choices = Choices(vocabulary(families, dims), tuple(inputs))
    moved = (child for move in moves for child in _rewritten(expression, move, choices))
    found = dict.fromkeys(map(canonical, moved))
    found.pop(canonical(expression), None)
    return tuple(found)


def noisy_children(
    expression: Expression | str,
    families: Sequence[str] = BASE_FAMILIES,
    dims: Dims = 1,
    moves: Sequence[Move] = CKS_MOVES,
) -> tuple[Expression, ...]:
    """The children of S and of S + WN, whose noise moves along: CW(S + WN, C) has none inside.

    Noise that is the same everywhere is left out, as every candidate has some.
    """
    expression = parse(expression)
    moved = (
        without_noise(child)
        for own in (expression, expression + _NOISE)
        for child in children(own, families, dims, moves)
    )
    found = dict.fromkeys(canonical(child) for child in moved if child is not None)
    found.pop(canonical(expression), None)
    return tuple(found)


def changed_children(
    expression: Expression | str, inputs: Sequence[int], moves: Sequence[Move]
) -> tuple[Expression, ...]:
    """What moves make of the whole of S and of S + WN with changes along some inputs, canonical."""
    expression = parse(expression)
    choices = Choices((), tuple(inputs))
    moved = (
        child
        for whole in (expression, expression + _NOISE)
        for move in moves
        for child in _replaced(whole, move, choices)
    )
    return tuple(dict.fromkeys(map(canonical, moved)))


def without_noise(expression: Expression) -> Expression | None:
    """The expression without white noise that is the same everywhere; None if nothing is left.

    That is WN in the outermost sum, and in a sum that multiplies what is stationary.
    """
    match expression:
        case Sum(terms):
            left = [term for term in map(without_noise, terms) if term is not None]
            return add(*left) if left else None
        case Product(factors):
            moving = [not is_stationary(factor) for factor in factors]
            kept = [
                factor if sum(moving) > own else without_noise(factor)
                for factor, own in zip(factors, moving, strict=True)
            ]
            left = [factor for factor in kept if factor is not None]
            return multiply(*left) if len(left) == len(factors) else None
    return None if expression == _NOISE else expression


def _rewritten(expression: Expression, move: Move, choices: Choices) -> Iterator[Expression]:
    yield from _replaced(expression, move, choices)
    parts = operands(expression)
    for place, part in enumerate(parts):
        for changed in _rewritten(part, move, choices):
            try:
                yield rebuild(expression, (*parts[:place], changed, *parts[place + 1 :]))
            except LimitError:
                continue


def _replaced(node: Expression, move: Move, choices: Choices) -> Iterator[Expression]:
    """Replacements up to the first that is too large; those after it are no smaller."""
    try:
        yield from move(node, choices)
    except LimitError:
        return

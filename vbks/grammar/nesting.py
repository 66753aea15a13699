"""Which expressions are special cases of another, and can be at best as good a fit."""

from __future__ import annotations

from collections.abc import Iterator

from vbks.grammar.canonical import arrange
from vbks.grammar.expression import ChangePoint, ChangeWindow, Expression, Leaf, operands, rebuild
from vbks.grammar.families import rules_of
from vbks.grammar.parser import parse


def special_cases(expression: Expression | str) -> tuple[Expression, ...]:
    """Arranged expressions with one leaf less, or with a special case of a family in its place.

    A term may have no variance, a factor may be constant over the data, and RQ becomes SE as its α
    grows, so each of them can be had from the expression itself, at least nearly.
    """
    whole = parse(expression)
    found = dict.fromkeys(arrange(case) for case in _cases(whole))
    found.pop(arrange(whole), None)
    return tuple(found)


def _cases(node: Expression) -> Iterator[Expression]:
    if isinstance(node, Leaf):
        for family in rules_of(node.family).special_cases:
            yield Leaf(family, node.dim if rules_of(family).uses_input else None)
        return
    parts = operands(node)
    for place, part in enumerate(parts):
        others = (*parts[:place], *parts[place + 1 :])
        if not isinstance(node, ChangePoint | ChangeWindow) and isinstance(part, Leaf):
            yield others[0] if len(others) == 1 else rebuild(node, others)
        for case in _cases(part):
            yield rebuild(node, (*parts[:place], case, *parts[place + 1 :]))

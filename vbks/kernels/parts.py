"""Leaves and changes of a tree with their surroundings, by which parts of two trees are matched."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from vbks.grammar.canonical import arrange
from vbks.grammar.expression import ChangePoint, ChangeWindow, Leaf, Product, leaves
from vbks.kernels.layout import Node
from vbks.kernels.registry import family_of, registered_families

IMPOSSIBLE = -1e6
"""The likeness of parts of different kinds."""

OTHER_SHAPE = -100.0
"""That of leaves whose lengthscales mean the same: better than nothing, where there is no like."""


@dataclass(frozen=True, eq=False)
class Part:
    """A leaf or a change of a tree, and what tells it from others of its kind.

    ``companions`` are the leaves it is multiplied with; ``above`` are the expressions it is in,
    itself included; ``sides`` names the side it is on of each change above it, by the place of the
    change in the list of parts.
    """

    node: Node
    kind: tuple[str, int | None]
    companions: Counter[str]
    above: Counter[str]
    sides: dict[int, str]

    def likeness(self, other: Part) -> float:
        """How much the surroundings of two parts have in common."""
        if self.kind != other.kind:
            (family, dim), (other_family, other_dim) = self.kind, other.kind
            are_alike = has_lengthscale(family) and has_lengthscale(other_family)
            return OTHER_SHAPE if are_alike and dim == other_dim else IMPOSSIBLE
        mine = self.companions + self.above + Counter(self.sides.values())
        theirs = other.companions + other.above + Counter(other.sides.values())
        return 4 * (mine & theirs).total() - mine.total() - theirs.total()


def has_lengthscale(kind: str) -> bool:
    """Whether a kind of part is a family of functions that vary along a length of the input."""
    return kind in registered_families() and family_of(kind).has("lengthscale")


def parts_of(root: Node) -> list[Part]:
    """The leaves and changes of a tree from left to right, each change before its sides."""
    parts: list[Part] = []

    def visit(
        node: Node, companions: Counter[str], above: Counter[str], sides: dict[int, str]
    ) -> None:
        above = above + Counter([str(arrange(node.expression))])
        below = [(companions, above, sides)] * len(node.operands)
        match node.expression:
            case Leaf(family, dim):
                kind = (family, dim if family_of(family).uses_input else None)
                parts.append(Part(node, kind, companions, above, sides))
            case Product(factors):
                texts = [Counter(map(str, leaves(factor))) for factor in factors]
                below = [(sum(texts, companions) - own, above, sides) for own in texts]
            case ChangePoint(dim=dim) | ChangeWindow(dim=dim):
                place, name = len(parts), type(node.expression).__name__
                parts.append(Part(node, (name, dim), companions, above, sides))
                labels = (f"before {name}[{dim}]", f"after {name}[{dim}]")
                below = [(companions, above, {**sides, place: label}) for label in labels]
        for operand, surroundings in zip(node.operands, below, strict=True):
            visit(operand, *surroundings)

    visit(root, Counter(), Counter(), {})
    return parts

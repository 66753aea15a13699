"""What a search asks to be fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vbks.data.warps import Identity, Warp
from vbks.grammar.canonical import canonical
from vbks.grammar.expression import Expression
from vbks.inference.result import LocalFit

Structure = tuple[Expression, Warp]
"""A canonical expression and a warp: what is tried once."""


@dataclass(frozen=True)
class Proposal:
    """A candidate to be fitted, and the fitted candidate that it was made from."""

    expression: Expression
    warp: Warp = field(default_factory=Identity)
    parent: LocalFit | None = None

    def __str__(self) -> str:
        return f"{self.expression}{of_warp(self.warp)}"

    @property
    def structure(self) -> Structure:
        """What makes two proposals the same."""
        return canonical(self.expression), self.warp


def of_warp(warp: Warp) -> str:
    """What is added to the name of a candidate whose targets are warped."""
    return "" if warp.name == "identity" else f" of {warp.name} targets"


def structure_of(fit: LocalFit) -> Structure:
    """What makes two fits fits of the same candidate."""
    return canonical(fit.expression), fit.warp


def pairs_of(expressions: Sequence[Expression], warps: Sequence[Warp]) -> tuple[Proposal, ...]:
    """Every expression under every warp, warp by warp."""
    return tuple(Proposal(expression, warp) for warp in warps for expression in expressions)

"""What a search is about: rows, and what the user said about candidates and fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vbks.data.training import TrainingData
from vbks.data.warps import Warp
from vbks.grammar.expression import Expression
from vbks.grammar.vocabulary import vocabulary
from vbks.inference.settings import FitSettings


@dataclass(frozen=True)
class SearchProblem:
    """Rows, and what the user said about candidates and fits; None leaves it to the method.

    ``rows`` are those without a warp, ``data`` the same under each warp that is tried, and
    ``space`` is a fixed list of candidates, where there is one.
    """

    rows: TrainingData
    data: Mapping[Warp, TrainingData]
    settings: FitSettings = field(default_factory=FitSettings)
    space: tuple[Expression, ...] | None = None
    families: tuple[str, ...] | None = None

    @property
    def warps(self) -> tuple[Warp, ...]:
        """Warps that are tried, in their order."""
        return tuple(self.data)

    def families_or(self, usual: tuple[str, ...]) -> tuple[str, ...]:
        """The families asked for, or the method's usual ones, if they are known."""
        families = self.families or usual
        vocabulary(families, self.rows.num_inputs)
        return families

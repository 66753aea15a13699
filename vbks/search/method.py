"""What a way of choosing kernels consists of, and what it is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from vbks.data.training import TrainingData
from vbks.data.warps import Warp
from vbks.errors import GrammarError
from vbks.grammar.expression import Expression
from vbks.grammar.vocabulary import vocabulary
from vbks.inference.result import Bound, Correction, Posterior
from vbks.inference.settings import Inference
from vbks.inference.workshop import Stage
from vbks.search.budget import Budget
from vbks.search.plan import Plan
from vbks.search.protocol import Strategy
from vbks.search.runner import Search
from vbks.weights.settings import BeliefSettings


@dataclass(frozen=True)
class Task:
    """Rows, and what the user said about candidates and fits; None leaves it to the method."""

    rows: TrainingData
    warps: tuple[Warp, ...]
    families: tuple[str, ...] | None = None
    space: tuple[Expression, ...] | None = None
    """A fixed list of candidates, where there is one."""
    inference: Inference = "auto"
    posterior: Posterior | Literal["auto"] = "auto"
    num_inducing: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def words(self, usual: tuple[str, ...]) -> tuple[str, ...]:
        """The families asked for, or the method's usual ones, if they are known."""
        families = self.families or usual
        vocabulary(families, self.rows.num_inputs)
        return families


@dataclass(frozen=True)
class Method(ABC):
    """A way of choosing kernels; ``criterion`` is what it judges candidates by."""

    criterion: Correction = "laplace"

    name: ClassVar[str]
    """What it is called in `vbks.fit`."""

    @abstractmethod
    def strategy(self, task: Task) -> Strategy:
        """The search."""

    @property
    def search(self) -> type[Search]:
        """What runs the strategy."""
        return Search

    @abstractmethod
    def plan(self, task: Task, num_expected: int) -> Plan:
        """How candidates are fitted, in the search and at the end of it."""

    def settings(self, task: Task) -> dict[str, Any]:
        """Settings of fits that are the method's own."""
        return {}

    def budget(self, task: Task) -> Budget:
        """How long it goes on if nobody says: until it ends by itself."""
        return Budget()

    def belief(self) -> BeliefSettings:
        """The belief of a search that chooses one kernel: all of it is in that one."""
        return BeliefSettings("bayes", correction=self.criterion, members=1, weights="belief")


def one_stage(task: Task, bound: Bound, *, uppers: int = 0, held_out: bool = False) -> Plan:
    """All candidates fitted alike, by this bound unless the user asks for another."""
    chosen: Bound = bound if task.inference == "auto" else task.inference
    posterior: Posterior = "point" if task.posterior == "auto" else task.posterior
    stage = Stage(chosen, posterior, task.num_inducing, uppers, held_out)
    return Plan(stage, stage)


def refuse_space(method: Method, task: Task) -> None:
    """Refuse a fixed space where a method makes its own candidates."""
    if task.space is not None:
        raise GrammarError(
            f"method '{method.name}' makes its own candidates, but a space is given. Leave out "
            "space=, or give families= to search in."
        )

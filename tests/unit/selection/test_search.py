"""Tests of searches, with a workshop that makes fits up."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from vbks.data import Identity, Log, Warp
from vbks.grammar import parse
from vbks.inference import LocalFit, Mode
from vbks.inference.proposal import Proposal
from vbks.selection import Budget, FixedSpace, Search, finish_best

SPACE = tuple(parse(text) for text in ("SE", "LIN", "PER", "RQ"))
WARPS: tuple[Warp, ...] = (Identity(), Log())


@dataclass
class Pretence:
    """A workshop in which a fit is worth what its text is long."""

    calls: list[int] = field(default_factory=list)
    gain: float = 0.0

    def fit(self, proposals: Sequence[Proposal]) -> list[LocalFit]:
        self.calls.append(len(proposals))
        return [self._fit(p.expression, p.warp) for p in proposals]

    def go_on(self, fits: Sequence[LocalFit]) -> list[LocalFit]:
        self.calls.append(len(fits))
        return [replace(self._fit(f.expression, f.warp), seconds=2.0) for f in fits]

    def _fit(self, expression: Any, warp: Warp) -> LocalFit:
        elbo = float(len(str(expression))) + self.gain
        mode = Mode(np.zeros(3), np.zeros((3, 3)), 1.0, elbo, 0.0, 0.0, elbo)
        return LocalFit(
            expression, 1, 9, "exact", "full", 3, elbo=elbo, modes=(mode,), seconds=1.0, warp=warp
        )


def search(budget: Budget, workshop: Pretence) -> Search:
    return Search(FixedSpace(SPACE, WARPS), workshop, budget)  # type: ignore[arg-type]


def test_search__goes_on_until_the_strategy_ends() -> None:
    workshop = Pretence()
    found = search(Budget(), workshop)
    state = found.run()
    assert len(state.fits) == 8
    assert workshop.calls == [4, 4]
    assert "8 candidates were tried" in found.notice(state)
    assert "all members of the space were tried" in found.notice(state)


def test_search__ends_with_its_budget_and_says_what_was_left_out() -> None:
    found = search(Budget(candidates=6), Pretence())
    state = found.run()
    assert len(state.fits) == 6
    assert "2 more were proposed. Give a larger budget" in found.notice(state)


def test_finish_best__others_are_dropped_with_their_distance() -> None:
    state = search(Budget(), Pretence()).run()
    finisher = Pretence(gain=1.0)
    fits, failure = finish_best(state.fits, finisher, 0.5, 3)  # type: ignore[arg-type]
    assert not failure
    statuses = [fit.status for fit in fits]
    assert statuses.count("fitted") == 3
    assert finisher.calls == [3]
    kept = next(fit for fit in fits if fit.status == "fitted")
    assert kept.seconds == 3.0
    assert kept.elbo == 4.0
    dropped = next(fit for fit in fits if str(fit.expression) == "SE")
    assert dropped.reason == "1.0 nats behind the best after the search"


@pytest.mark.parametrize("status", ["failed", "dropped"])
def test_finish_best__without_contenders_changes_nothing(status: str) -> None:
    state = search(Budget(), Pretence()).run()
    fits = [replace(fit, status=status) for fit in state.fits]
    assert finish_best(fits, Pretence(), 6.0, 3) == (fits, "")  # type: ignore[arg-type]


def test_finish_best__keeps_the_search_if_all_last_fits_fail() -> None:
    class Hopeless(Pretence):
        def go_on(self, fits: Sequence[LocalFit]) -> list[LocalFit]:
            return [replace(fit, status="failed", reason="no memory") for fit in fits]

    state = search(Budget(), Pretence()).run()
    fits, failure = finish_best(state.fits, Hopeless(), 0.5, 3)  # type: ignore[arg-type]
    assert tuple(fits) == state.fits
    assert failure == "The last fits failed, so those of the search are used: no memory"


def test_search__notes_every_new_best_with_its_score() -> None:
    found = search(Budget(), Pretence())
    found.run()
    (step,) = found.path
    assert (step.candidates, step.expression, step.score) == (8, "LIN", 3.0)

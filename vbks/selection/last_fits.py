"""The last fits of the best that a search has found, as good as they can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vbks.execution import Workshop
from vbks.inference.local_fit import LocalFit
from vbks.selection.budget import Purse
from vbks.selection.prices import all_alike
from vbks.selection.strategy import contenders, left_behind

NO_TIME = "there was no time left to fit it to the end"
"""Why a contender is not part of the belief."""


@dataclass(frozen=True)
class LastFits:
    """Fits to the end of those at most ``margin`` nats behind the best, at most so many of them.

    ``price`` is what one costs, roughly, in seconds.
    """

    workshop: Workshop
    margin: float
    most: int | None
    price: Callable[[LocalFit], float] = all_alike

    def costs(self, fits: Sequence[LocalFit]) -> list[float]:
        """What the last fits of these will cost, the best first."""
        return [self.price(fits[k]) for k in self._ranked(fits)]

    def finish(self, fits: Sequence[LocalFit], purse: Purse) -> tuple[list[LocalFit], str]:
        """Contenders fitted to the end, the others as dropped, and a sentence if that went wrong.

        The best are the first, as long as there is time. If no last fit is made or all fail, those
        of the search stay as they are.
        """
        going = self._ranked(fits)
        if not going:
            return list(fits), ""
        done = self._done(fits, going, purse)
        if not done:
            return list(fits), "There was no time for last fits, so those of the search are used."
        if not any(fit.status == "fitted" for fit in done.values()):
            reason = next(fit.reason for fit in done.values())
            return list(fits), f"The last fits failed, so those of the search are used: {reason}"
        best = fits[going[0]].log_evidence()
        late = set(going) - set(done)
        return [
            done[k] if k in done
            else replace(fit, status="dropped", reason=NO_TIME) if k in late
            else left_behind(fit, best, "search")
            for k, fit in enumerate(fits)
        ], _shortened(len(done), len(going))  # fmt: skip

    def _ranked(self, fits: Sequence[LocalFit]) -> list[int]:
        """Places of the contenders, the best first."""
        going = contenders(fits, self.margin, self.most)
        return sorted(going, key=lambda k: -fits[k].log_evidence())

    def _done(
        self, fits: Sequence[LocalFit], going: Sequence[int], purse: Purse
    ) -> dict[int, LocalFit]:
        """Last fits by their places, as many as there is time for."""
        done: dict[int, LocalFit] = {}
        costs = [self.price(fits[k]) for k in going]
        while len(done) < len(going):
            first = len(done)
            num = purse.affordable(costs[first:])
            if not num:
                break
            places = sorted(going[first : first + num])
            again = self.workshop.go_on([fits[k] for k in places])
            purse.spend(costs[first : first + num])
            for k, fit in zip(places, again, strict=True):
                done[k] = replace(fit, seconds=fits[k].seconds + fit.seconds, race=fits[k].race)
        return done


def _shortened(num_done: int, num_going: int) -> str:
    """A sentence if not all contenders were fitted to the end."""
    if num_done == num_going:
        return ""
    return f"There was time to fit {num_done} of the best {num_going} candidates to the end."

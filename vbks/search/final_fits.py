"""The last fits of the best that a search has found, as good as they can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import logsumexp

from vbks.arrays import Array
from vbks.inference.result import LocalFit
from vbks.inference.workshop import Workshop
from vbks.search.budget import BudgetTracker
from vbks.search.cost import all_alike
from vbks.search.protocol import left_behind
from vbks.weights.prior import KernelPrior, log_prior

NO_TIME = "there was no time left to fit it to the end"
"""Why a candidate that could matter is not part of the belief."""

SHARE = 0.01
"""Candidates that could hold more of the belief than this are fitted to the end."""

REST = 0.05
"""Of candidates below `SHARE`, the best are fitted to the end until the rest is expected to hold no
more of the belief together than this: where nothing is clear, each may hold little, and all of them
much."""

FIRST = 8
"""Candidates whose last fits are made first: what they gain shows what others could gain. If there
are no more, all of them are fitted to the end."""

EXPECTED_SLACK = 2.0
"""Nats that others are expected to gain on the best, for the time that is kept for last fits."""

HELD = 0.95
"""Share of the belief at least whose candidates have the best q(θ), where that is a fit of its own;
those that hold more than `SHARE` have it in any case."""

KNOWN = 4
"""Last fits from which on their gains say more than what was thought before."""

LEAST_SPREAD = 1.0
"""Nats by which a gain may differ from the mean of others, however alike these are."""


LEAST_TOLD = 0.001
"""Shares of the belief below this are not worth a sentence."""


@dataclass(frozen=True)
class LastFits:
    """Fits to the end of all that could hold more than `SHARE` of the belief, or `REST` together.

    ``slack`` is how many nats a candidate may gain on the best by its last fit as long as nothing
    is known; infinite for the last fits of all. ``price`` is what one costs, roughly, in seconds.
    With ``posteriors``, those that hold most of the belief have their q(θ) from there.
    """

    workshop: Workshop
    slack: float
    price: Callable[[LocalFit], float] = all_alike
    prior: KernelPrior = "uniform"
    posteriors: Workshop | None = None
    posterior_price: Callable[[LocalFit], float] = all_alike

    def costs(self, fits: Sequence[LocalFit]) -> list[float]:
        """What the last fits of these will cost, the best first."""
        state = _State.of(fits, min(self.slack, EXPECTED_SLACK), self.prior)
        going = [fits[k] for k in state.going()]
        later = self._later(going) + [0.0] * len(going)
        return [self.price(fit) + more for fit, more in zip(going, later, strict=False)]

    def finish(
        self, fits: Sequence[LocalFit], tracker: BudgetTracker, is_patient: bool = False
    ) -> tuple[list[LocalFit], str]:
        """Finalists fitted to the end, the others as dropped, and a sentence about these.

        The best are the first, as long as there is time; the first few are made in any case if
        there is patience. If no last fit is made or all fail, those of the search stay as they are.
        """
        state = _State.of(fits, self.slack, self.prior)
        if not state.going():
            return list(fits), ""
        while going := state.going():
            num = self._num_now(fits, going, state, tracker, is_patient)
            if not num:
                break
            self._fit(fits, sorted(going[:num]), state, tracker)
        self._fit_posteriors(state, tracker, is_patient)
        done = state.done
        if not done:
            return list(fits), "There was no time for last fits, so those of the search are used."
        if not any(fit.status == "fitted" for fit in done.values()):
            reason = next(fit.reason for fit in done.values())
            return list(fits), f"The last fits failed, so those of the search are used: {reason}"
        return state.ended(), state.notice()

    def _num_now(
        self,
        fits: Sequence[LocalFit],
        going: Sequence[int],
        state: _State,
        tracker: BudgetTracker,
        is_patient: bool,
    ) -> int:
        """How many of those that could matter are fitted now."""
        wanted = going[:FIRST] if len(state.done) < FIRST and np.isfinite(self.slack) else going
        if is_patient and not state.done:
            return len(wanted)
        reserve = self._later([fits[k] for k in [*state.done, *going]])
        return tracker.affordable([self.price(fits[k]) for k in wanted], reserve)

    def _later(self, fits: Sequence[LocalFit]) -> list[float]:
        """What q(θ) of the first few of these will cost."""
        if self.posteriors is None:
            return []
        return [self.posterior_price(fit) for fit in fits[:FIRST]]

    def _fit_posteriors(self, state: _State, tracker: BudgetTracker, is_patient: bool) -> None:
        """Give those that hold most of the belief their q(θ), the best first, if there is time."""
        places = [] if self.posteriors is None else state.holders()
        first = is_patient
        while places:
            costs = [self.posterior_price(state.done[k]) for k in places]
            num = len(costs[:FIRST]) if first else tracker.affordable(costs)
            if not num:
                return
            first = False
            now, places = sorted(places[:num]), places[num:]
            assert self.posteriors is not None
            again = self.posteriors.go_on([state.done[k] for k in now])
            tracker.spend([self.posterior_price(state.done[k]) for k in now])
            for k, fit in zip(now, again, strict=True):
                state.done[k] = _with_posterior(state.done[k], fit)

    def _fit(
        self, fits: Sequence[LocalFit], places: Sequence[int], state: _State, tracker: BudgetTracker
    ) -> None:
        again = self.workshop.go_on([fits[k] for k in places])
        tracker.spend([self.price(fits[k]) for k in places])
        for k, fit in zip(places, again, strict=True):
            state.done[k] = replace(fit, seconds=fits[k].seconds + fit.seconds, race=fits[k].race)


@dataclass(frozen=True, eq=False)
class _State:
    """Fits of the search with their log evidence and prior together, and last fits by place."""

    fits: Sequence[LocalFit]
    slack: float
    values: Array
    log_prior: Array
    done: dict[int, LocalFit] = field(default_factory=dict)

    @classmethod
    def of(cls, fits: Sequence[LocalFit], slack: float, prior: KernelPrior) -> _State:
        is_fitted = np.array([fit.status == "fitted" for fit in fits], bool)
        own = log_prior(fits, prior, is_fitted) if len(fits) else np.zeros(0)
        found = [fit.log_evidence() if fit.status == "fitted" else -np.inf for fit in fits]
        values = np.where(np.isnan(found), -np.inf, found) + own
        return cls(fits, slack, values, own)

    def going(self) -> list[int]:
        """Places of those that could hold more than a share, alone or together, the best first."""
        left = self._left()
        if not np.isfinite(self.slack) or np.isfinite(self.values).sum() <= FIRST:
            return left
        rests = np.cumsum(self._expected_shares(left)[::-1])[::-1]
        is_going = (self._most(left) > SHARE) | (rests > REST)
        return [k for k, goes in zip(left, is_going, strict=True) if goes]

    def ended(self) -> list[LocalFit]:
        """Last fits in their places, and the others as dropped with what they could have held."""
        best = max(fit.log_evidence() for fit in self.fits if fit.status == "fitted")
        late = set(self.going())
        left = self._left()
        most = dict(zip(left, map(float, self._most(left)), strict=True))
        result = []
        for k, fit in enumerate(self.fits):
            if k in self.done:
                result.append(self.done[k])
            elif k in most:
                dropped = (
                    replace(fit, status="dropped", reason=NO_TIME)
                    if k in late
                    else left_behind(fit, best, "search")
                )
                result.append(replace(dropped, most_probable=most[k]))
            else:
                result.append(left_behind(fit, best, "search"))
        return result

    def notice(self) -> str:
        """What those that were not fitted to the end could hold at most, if that is anything."""
        left = self._left()
        if not left:
            return ""
        together = float(self._expected_shares(left).sum())
        alone = float(self._most(left).max())
        late = len(self.going())
        start = ""
        if late:
            num = len(self.done) + late
            start = (
                f"There was time to fit {len(self.done)} of the best {num} candidates to the end. "
            )
        if alone < LEAST_TOLD and not late:
            return ""
        return (
            f"{start}The {len(left)} candidates of the search that were not fitted to the end "
            f"could hold about {_percent(together)} of the belief together, none of them more than "
            f"{_percent(alone)}."
        )

    def holders(self) -> list[int]:
        """Places of last fits that hold most of the belief, or of all if none is to be left out."""
        values = self._known()
        places = sorted(values, key=lambda k: -values[k])
        shares = np.exp([values[k] - self._total() for k in places])
        before = np.cumsum(shares) - shares
        return [
            k
            for k, share, held in zip(places, shares, before, strict=True)
            if share > SHARE or held < HELD or not np.isfinite(self.slack)
        ]

    def _left(self) -> list[int]:
        """Places of fits of the search without a last fit, the best first."""
        known = [k for k in np.flatnonzero(np.isfinite(self.values)) if k not in self.done]
        return sorted(map(int, known), key=lambda k: -self.values[k])

    def _known(self) -> dict[int, float]:
        """log p(k) + Lₖ of the last fits, by their places."""
        return {
            k: fit.log_evidence() + float(self.log_prior[k])
            for k, fit in self.done.items()
            if fit.status == "fitted"
        }

    def _total(self) -> float:
        """log Σ p(k) exp(Lₖ) of the last fits, or what the best of the search has at least."""
        found = list(self._known().values())
        return float(logsumexp(found)) if found else float(self.values.max())

    def _gain(self, is_expected: bool = False) -> float:
        """Nats that a last fit could gain at most, or log E exp(that) as gains vary."""
        gains = [value - self.values[k] for k, value in self._known().items()]
        if not gains:
            return 0.0 if is_expected else self.slack
        spread = self.slack
        if len(gains) >= KNOWN:
            spread = min(self.slack, max(LEAST_SPREAD, 2.0 * float(np.std(gains, ddof=1))))
        if is_expected:
            spread = min(spread, 0.125 * spread**2)
        return float(np.mean(gains)) + spread

    def _most(self, left: Sequence[int]) -> Array:
        """The share of the belief that each of those left could hold at most."""
        highest = self.values[list(left)] + self._gain()
        return np.asarray(np.exp(highest - np.logaddexp(highest, self._total())))

    def _expected_shares(self, left: Sequence[int]) -> Array:
        """The share of the belief that each of those left is expected to hold."""
        expected = self.values[list(left)] + self._gain(is_expected=True)
        done = [self._total()] if self.done else []
        return np.asarray(np.exp(expected - logsumexp([*expected, *done])))


def _with_posterior(fit: LocalFit, again: LocalFit) -> LocalFit:
    """A last fit with the q(θ) of another and its own evidence."""
    if again.status != "fitted":
        return fit
    return replace(
        again,
        evidence=fit.evidence,
        evidence_error=fit.evidence_error,
        seconds=fit.seconds + again.seconds,
        race=fit.race,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.001 else "0.1 %"

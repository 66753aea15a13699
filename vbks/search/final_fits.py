"""The final fits of the best that a search has found, as good as they can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import logsumexp

from vbks.arrays import Array
from vbks.inference.evaluator import Evaluator
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitStage
from vbks.policies import SearchPolicy
from vbks.search.budget import BudgetTracker
from vbks.search.cost import all_alike
from vbks.search.protocol import left_behind
from vbks.weights.prior import KernelPrior, log_prior

NO_TIME = "there was no time left to fit it to the end"
"""Why a candidate that could matter is not part of the belief."""

LEAST_TOLD = 0.001
"""Shares of the belief below this are not worth a sentence."""


@dataclass(frozen=True)
class FinalFits:
    """Fits to the end of all that could hold some of the belief, alone or together.

    ``slack`` is how many nats a candidate may gain on the best by its final fit as long as nothing
    is known; infinite for the final fits of all. ``cost`` is what one costs, roughly, in seconds.
    With ``posteriors``, those that hold most of the belief have their q(θ) from that stage.
    """

    evaluator: Evaluator
    stage: FitStage
    slack: float
    cost: Callable[[LocalFit], float] = all_alike
    prior: KernelPrior = "uniform"
    posteriors: FitStage | None = None
    posterior_cost: Callable[[LocalFit], float] = all_alike
    policy: SearchPolicy = field(default_factory=SearchPolicy)

    def costs(self, fits: Sequence[LocalFit]) -> list[float]:
        """What the final fits of these will cost, the best first."""
        slack = min(self.slack, self.policy.expected_slack)
        state = _State.of(fits, slack, self.prior, self.policy)
        going = [fits[k] for k in state.going()]
        later = self._later(going) + [0.0] * len(going)
        return [self.cost(fit) + more for fit, more in zip(going, later, strict=False)]

    def finish(
        self, fits: Sequence[LocalFit], tracker: BudgetTracker, is_patient: bool = False
    ) -> tuple[list[LocalFit], str]:
        """Finalists fitted to the end, the others as dropped, and a sentence about these.

        The best are the first, as long as there is time; the first few are made in any case if
        there is patience. If no final fit is made or all fail, those of the search stay.
        """
        state = _State.of(fits, self.slack, self.prior, self.policy)
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
            return list(fits), "There was no time for final fits, so those of the search are used."
        if not any(fit.status == "fitted" for fit in done.values()):
            reason = next(fit.reason for fit in done.values())
            return list(fits), f"The final fits failed, so those of the search are used: {reason}"
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
        first = self.policy.first_final_fits
        wanted = going[:first] if len(state.done) < first and np.isfinite(self.slack) else going
        if is_patient and not state.done:
            return len(wanted)
        reserve = self._later([fits[k] for k in [*state.done, *going]])
        return tracker.affordable([self.cost(fits[k]) for k in wanted], reserve)

    def _later(self, fits: Sequence[LocalFit]) -> list[float]:
        """What q(θ) of the first few of these will cost."""
        if self.posteriors is None:
            return []
        return [self.posterior_cost(fit) for fit in fits[: self.policy.first_final_fits]]

    def _fit_posteriors(self, state: _State, tracker: BudgetTracker, is_patient: bool) -> None:
        """Give those that hold most of the belief their q(θ), the best first, if there is time."""
        places = [] if self.posteriors is None else state.holders()
        is_sure = is_patient
        while places and self.posteriors is not None:
            costs = [self.posterior_cost(state.done[k]) for k in places]
            first = costs[: self.policy.first_final_fits]
            num = len(first) if is_sure else tracker.affordable(costs)
            if not num:
                return
            is_sure = False
            now, places = sorted(places[:num]), places[num:]
            again = self.evaluator.go_on(
                [state.done[k] for k in now], self.posteriors, "Finding how sure parameters are of"
            )
            tracker.spend([self.posterior_cost(state.done[k]) for k in now])
            for k, fit in zip(now, again, strict=True):
                state.done[k] = _with_posterior(state.done[k], fit)

    def _fit(
        self, fits: Sequence[LocalFit], places: Sequence[int], state: _State, tracker: BudgetTracker
    ) -> None:
        again = self.evaluator.go_on([fits[k] for k in places], self.stage)
        tracker.spend([self.cost(fits[k]) for k in places])
        for k, fit in zip(places, again, strict=True):
            state.done[k] = replace(
                fit, seconds=fits[k].seconds + fit.seconds, pruning=fits[k].pruning
            )


@dataclass(frozen=True, eq=False)
class _State:
    """Fits of the search with their log evidence and prior together, and final fits by place."""

    fits: Sequence[LocalFit]
    slack: float
    values: Array
    log_prior: Array
    policy: SearchPolicy
    done: dict[int, LocalFit] = field(default_factory=dict)

    @classmethod
    def of(
        cls, fits: Sequence[LocalFit], slack: float, prior: KernelPrior, policy: SearchPolicy
    ) -> _State:
        is_fitted = np.array([fit.status == "fitted" for fit in fits], bool)
        own = log_prior(fits, prior, is_fitted) if len(fits) else np.zeros(0)
        found = [fit.log_evidence() if fit.status == "fitted" else -np.inf for fit in fits]
        values = np.where(np.isnan(found), -np.inf, found) + own
        return cls(fits, slack, values, own, policy)

    def going(self) -> list[int]:
        """Places of those that could hold more than a share, alone or together, the best first."""
        left, policy = self._left(), self.policy
        if not np.isfinite(self.slack) or np.isfinite(self.values).sum() <= policy.first_final_fits:
            return left
        rests = np.cumsum(self._expected_shares(left)[::-1])[::-1]
        is_going = (self._most(left) > policy.final_share) | (rests > policy.final_rest)
        return [k for k, goes in zip(left, is_going, strict=True) if goes]

    def ended(self) -> list[LocalFit]:
        """Final fits in their places, and the others as dropped with what they could have held."""
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
            f"are expected to hold {_percent(together)} of the belief together; none of them could "
            f"hold more than {_percent(alone)}."
        )

    def holders(self) -> list[int]:
        """Indices of final fits that hold most of the belief, or of all if none may be left out."""
        values, policy = self._known(), self.policy
        places = sorted(values, key=lambda k: -values[k])
        shares = np.exp([values[k] - self._total() for k in places])
        before = np.cumsum(shares) - shares
        return [
            k
            for k, share, held in zip(places, shares, before, strict=True)
            if share > policy.final_share
            or held < policy.posterior_share
            or not np.isfinite(self.slack)
        ]

    def _left(self) -> list[int]:
        """Places of fits of the search without a final fit, the best first."""
        known = [k for k in np.flatnonzero(np.isfinite(self.values)) if k not in self.done]
        return sorted(map(int, known), key=lambda k: -self.values[k])

    def _known(self) -> dict[int, float]:
        """log p(k) + Lₖ of the final fits, by their places."""
        return {
            k: fit.log_evidence() + float(self.log_prior[k])
            for k, fit in self.done.items()
            if fit.status == "fitted"
        }

    def _total(self) -> float:
        """log Σ p(k) exp(Lₖ) of the final fits, or what the best of the search has at least."""
        found = list(self._known().values())
        return float(logsumexp(found)) if found else float(self.values.max())

    def _gain(self, is_expected: bool = False) -> float:
        """Nats that a final fit could gain at most, or log E exp(that) as gains vary."""
        gains = [value - self.values[k] for k, value in self._known().items()]
        if not gains:
            return 0.0 if is_expected else self.slack
        spread = self.slack
        if len(gains) >= self.policy.known_gains:
            seen = 2.0 * float(np.std(gains, ddof=1))
            spread = min(self.slack, max(self.policy.least_gain_spread, seen))
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
    """A final fit with the q(θ) of another and its own evidence."""
    if again.status != "fitted":
        return fit
    return replace(
        again,
        evidence=fit.evidence,
        evidence_error=fit.evidence_error,
        theta_samples=fit.theta_samples,
        seconds=fit.seconds + again.seconds,
        pruning=fit.pruning,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.001 else "0.1 %"

"""Selection as in the VBKS paper: local ELBOs on minibatches, and the belief during training."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from vbks.arrays import Array
from vbks.data.training import TrainingData
from vbks.errors import StopTraining
from vbks.execution.work import Executor, Work, carry_out
from vbks.grammar.expression import Expression
from vbks.inference.choices import make_context
from vbks.inference.chunks import cost_of, cut
from vbks.inference.context import FitContext
from vbks.inference.paper.settings import Optimiser, PaperSettings, batch_size_of
from vbks.inference.paper.state import CandidateState
from vbks.inference.paper.training import (
    earlier_states,
    failed_state,
    first_states,
    inducing_inputs,
    local_fits,
    starts,
    train,
    with_lines_through_zero,
)
from vbks.inference.result import LocalFit, Posterior
from vbks.inference.seeds import Seed
from vbks.inference.settings import FitSettings
from vbks.kernels.given import GivenValues
from vbks.progress import Progress
from vbks.weights.belief import KernelBelief
from vbks.weights.forming import form_belief
from vbks.weights.settings import BeliefSettings


@dataclass(frozen=True)
class TrainingRecord:
    """What was done to fit candidates as in the VBKS paper.

    ``stopped`` says why steps ended before all of them were taken, and is empty if they were.
    """

    steps: int
    batch_size: int
    num_inducing: int
    num_samples: int
    sample_inducing: bool
    optimiser: Optimiser
    learning_rate: float
    posterior: Posterior
    value_batches: int
    num_rows: int
    stopped: str = ""


@dataclass(frozen=True, eq=False)
class BeliefRecord:
    """The belief in the midst of training.

    ``elbos`` [K] are the local ELBOs of the candidates after ``step`` steps, ``probabilities`` [K]
    the belief with q(g) optimised again, and ``kernel_belief`` has that q(g), unless the record was
    read from a file. ``share`` is that of the rows that minibatches have shown so far.
    """

    step: int
    seconds: float
    share: float
    expressions: tuple[str, ...]
    elbos: Array
    probabilities: Array
    kernel_belief: KernelBelief | None = None

    @property
    def best(self) -> str:
        """The candidate with the highest probability."""
        return self.expressions[int(np.argmax(self.probabilities))]


Callback = Callable[[BeliefRecord], object]
"""What is called every `PaperSettings.every` steps; training ends if it returns True or raises
`StopTraining`."""


@dataclass(frozen=True, eq=False)
class Training:
    """How candidates were trained: the settings, what was done, and the belief on the way."""

    settings: PaperSettings
    record: TrainingRecord
    history: tuple[BeliefRecord, ...] = ()


@dataclass(frozen=True)
class Trainer:
    """Trains candidates together, and forms the belief on the way.

    ``seconds`` is how long steps may be begun, by a ``clock``; ``has_history`` asks for records of
    the belief also where nobody is called.
    """

    settings: PaperSettings
    belief: BeliefSettings
    executor: Executor
    report: Progress
    callback: Callback | None = None
    has_history: bool = False
    seconds: float = float("inf")
    clock: Callable[[], float] = time.perf_counter

    def run(
        self, states: Sequence[CandidateState], context: FitContext, rows_before: int = 0
    ) -> tuple[tuple[LocalFit, ...], Training]:
        """Fits of all candidates, in the order in which they first appear."""
        settings, num_rows = self.settings, context.num_rows + rows_before
        states = list(states)
        places = cut(states, context)
        history: list[BeliefRecord] = []
        steps, stopped, began = 0, "", self.clock()
        num = len({state.expression for state in states})
        self.report.goal(self.seconds, num, time.perf_counter() - self.clock())
        self.report.start(num, f"Training {num} kernels on minibatches")
        self.report.stage("training", len(states) * -(-settings.steps // self._segment))
        while steps < settings.steps and not stopped:
            num = min(self._segment, settings.steps - steps)
            before = self.clock()
            states = self._train(states, places, context, num)
            steps += num
            if self._has_records:
                share = min(1.0, steps * context.batch_size / context.num_rows)
                seconds = self.clock() - began
                history.append(self._record(states, context, num_rows, steps, seconds, share))
                self.report.leads(history[-1].best)
                stopped = self._called(history[-1])
            if self.clock() + (self.clock() - before) > self.seconds and steps < settings.steps:
                stopped = stopped or "the budget in seconds was used up"
        fits = tuple(local_fits(best_starts(states), context, num_rows))
        for fit in fits:
            self.report.finished(str(fit.expression), fit.elbo, ok=fit.status == "fitted")
        record = _record_of(settings, context, num_rows, steps, stopped)
        return fits, Training(settings, record, tuple(history))

    @property
    def _has_records(self) -> bool:
        return self.callback is not None or self.has_history

    @property
    def _segment(self) -> int:
        """Steps after which there is something to do beside steps."""
        is_watched = self._has_records or self.seconds < float("inf")
        return min(self.settings.every, self.settings.steps) if is_watched else self.settings.steps

    def _train(
        self,
        states: Sequence[CandidateState],
        places: Sequence[Sequence[int]],
        context: FitContext,
        num_steps: int,
    ) -> list[CandidateState]:
        """Train all that have not failed for ``num_steps`` steps."""
        going = [[k for k in chunk if not states[k].reason] for chunk in places]
        going = [chunk for chunk in going if chunk]
        work = Work(
            "training",
            partial(train, settings=self.settings, num_steps=num_steps),
            context,
            tuple(tuple(states[k] for k in chunk) for chunk in going),
            failed_state,
            is_long=True,
            cost_of=cost_of,
        )
        done = carry_out(self.executor, work, going, lambda own: self.report.advance(len(own)))
        return [done.get(k, state) for k, state in enumerate(states)]

    def _record(
        self,
        states: Sequence[CandidateState],
        context: FitContext,
        num_rows: int,
        steps: int,
        seconds: float,
        share: float,
    ) -> BeliefRecord:
        best = best_starts(states)
        elbos = np.array([-np.inf if own.reason else own.elbo for own in best])
        elbos[np.isnan(elbos)] = -np.inf
        names = tuple(str(own.expression) for own in best)
        if not np.isfinite(elbos).any():
            return BeliefRecord(steps, seconds, share, names, elbos, np.zeros(len(best)))
        belief = form_belief(_sketches(best, elbos, context, num_rows), self.belief)
        return BeliefRecord(steps, seconds, share, names, elbos, belief.probabilities, belief)

    def _called(self, record: BeliefRecord) -> str:
        """Why training ends now, or nothing."""
        if self.callback is None:
            return ""
        try:
            wants_end = self.callback(record) is True
        except StopTraining as stop:
            return str(stop) or "the callback has stopped it"
        return "the callback has stopped it" if wants_end else ""


def begin(
    expressions: Sequence[Expression],
    data: TrainingData,
    settings: PaperSettings,
    fits: FitSettings,
) -> tuple[list[CandidateState], FitContext]:
    """Candidates before their first step, and what they share."""
    expressions = list(dict.fromkeys(expressions))
    restarts = fits.restarts or 1
    own = replace(
        fits,
        inference="stochastic",
        batch_size=batch_size_of(data.num_rows, fits.batch_size),
        prior=settings.theta_prior,
        restarts=restarts,
        ard=False,
        given=with_lines_through_zero(expressions, fits.given, data.num_inputs),
    )
    context, _ = make_context(data, len(expressions), own)
    Z = inducing_inputs(data, context.num_inducing, context.rng(Seed.INDUCING))
    context = replace(context, inducing=Z, num_inducing=len(Z))
    thetas = starts(expressions, context, restarts, frozenset(fits.given))
    return first_states(thetas, context), context


def go_on(
    fits: Sequence[LocalFit],
    data: TrainingData,
    record: TrainingRecord,
    settings: PaperSettings,
    seed: int,
) -> tuple[list[CandidateState], FitContext]:
    """Candidates that go on from earlier fits, with new rows alone."""
    first = fits[0]
    own = FitSettings(
        inference="stochastic",
        posterior=first.posterior,
        batch_size=min(record.batch_size, data.num_rows),
        prior=settings.theta_prior,
        ard=first.ard,
        inducing=first.inducing,
        given={f.expression: GivenValues(tuple(map(float, f.theta)), f.fixed) for f in fits},
        seed=seed,
    )
    context, _ = make_context(data, len(fits), own)
    return earlier_states(fits, context), context


def best_starts(states: Sequence[CandidateState]) -> list[CandidateState]:
    """Each candidate once, from the start with the highest local ELBO."""
    best: dict[Expression, CandidateState] = {}
    for state in states:
        known = best.get(state.expression)
        if known is None or _height(state) > _height(known):
            best[state.expression] = state
    return list(best.values())


def _height(state: CandidateState) -> float:
    return -np.inf if state.reason or np.isnan(state.elbo) else state.elbo


def _sketches(
    states: Sequence[CandidateState], elbos: Array, context: FitContext, num_rows: int
) -> list[LocalFit]:
    """As much of fits as a belief needs."""
    return [
        LocalFit(
            state.expression,
            context.num_inputs,
            num_rows,
            "stochastic",
            "point",
            num_free=0,
            status="fitted" if np.isfinite(elbo) else "failed",
            elbo=float(elbo),
            inducing=context.Z,
        )
        for state, elbo in zip(states, elbos, strict=True)
    ]


def _record_of(
    settings: PaperSettings, context: FitContext, num_rows: int, steps: int, stopped: str
) -> TrainingRecord:
    return TrainingRecord(
        steps=steps,
        batch_size=context.batch_size,
        num_inducing=len(context.Z),
        num_samples=settings.num_samples,
        sample_inducing=settings.sample_inducing,
        optimiser=settings.optimiser,
        learning_rate=settings.rate,
        posterior=context.posterior,
        value_batches=settings.value_batches_of(context.num_rows, context.batch_size),
        num_rows=num_rows,
        stopped=stopped,
    )

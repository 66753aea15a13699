"""Candidates trained as `preset="paper"` trains them, with what they predict on the way."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from vbks.data.training import TrainingData
from vbks.data.warps import Identity
from vbks.execution.work import InOrder, Work, carry_out
from vbks.grammar.expression import Expression
from vbks.inference.chunks import cut
from vbks.inference.context import FitContext
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.paper.state import CandidateState
from vbks.inference.paper.training import failed_state, local_fits, train
from vbks.inference.settings import FitSettings
from vbks.progress import Quiet
from vbks.search.paper import Trainer, begin
from vbks.selection.selection import Selection
from vbks.weights.settings import paper_settings


@dataclass(frozen=True)
class Sizes:
    """Inducing points and rows of a minibatch."""

    num_inducing: int
    batch_size: int


@dataclass(frozen=True)
class Stop:
    """What there is after so many steps; predictions are not part of the seconds."""

    steps: int
    seconds: float
    selection: Selection


def begun(
    rows: TrainingData,
    expressions: Sequence[Expression],
    settings: PaperSettings,
    sizes: Sizes,
    seed: int,
) -> tuple[list[CandidateState], FitContext]:
    """Candidates before their first step, with point estimates of θ."""
    fits = FitSettings(
        posterior="point",
        num_inducing=sizes.num_inducing,
        batch_size=sizes.batch_size,
        seed=seed,
    )
    return begin(expressions, rows, settings, fits)


def watched(
    rows: TrainingData,
    expressions: Sequence[Expression],
    settings: PaperSettings,
    sizes: Sizes,
    seed: int,
) -> Selection:
    """Trained candidates, with the belief on the way as their history."""
    states, comparison = begun(rows, expressions, settings, sizes, seed)
    belief = paper_settings(settings, rows.num_rows, sizes.batch_size, seed=seed)
    trainer = Trainer(settings, belief, InOrder(), Quiet(), has_history=True)
    fits, training = trainer.run(states, comparison)
    return Selection(fits, {Identity(): rows}, belief.resolved(fits), training=training)


def stops(
    rows: TrainingData,
    expressions: Sequence[Expression],
    settings: PaperSettings,
    sizes: Sizes,
    seed: int,
    counts: Sequence[int],
) -> Iterator[Stop]:
    """The selection after each of so many steps; seconds are those of training and belief."""
    before, began = 0.0, time.perf_counter()
    states, comparison = begun(rows, expressions, settings, sizes, seed)
    belief = paper_settings(settings, rows.num_rows, sizes.batch_size, seed=seed)
    for earlier, count in zip((0, *counts), counts, strict=False):
        states = _trained(states, comparison, settings, count - earlier)
        fits = tuple(local_fits(states, comparison, comparison.num_rows))
        selection = Selection(fits, {Identity(): rows}, belief.resolved(fits))
        _ = selection.weights  # q(g) is part of the time
        before += time.perf_counter() - began
        yield Stop(count, before, selection)
        began = time.perf_counter()


def _trained(
    states: Sequence[CandidateState],
    comparison: FitContext,
    settings: PaperSettings,
    num_steps: int,
) -> list[CandidateState]:
    """So many steps of all that have not failed."""
    going = [[k for k in chunk if not states[k].reason] for chunk in cut(states, comparison)]
    going = [chunk for chunk in going if chunk]
    work = Work(
        "training",
        partial(train, settings=settings, num_steps=num_steps),
        comparison,
        tuple(tuple(states[k] for k in chunk) for chunk in going),
        failed_state,
    )
    done = carry_out(InOrder(), work, going, len)
    return [done.get(k, state) for k, state in enumerate(states)]

"""Selections as in the VBKS paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vbks.config import FitConfig
from vbks.data.training import TrainingData
from vbks.data.warps import Warp
from vbks.execution.run_context import RunContext
from vbks.inference.paper.settings import PaperSettings
from vbks.progress import Progress
from vbks.search.paper import Trainer, begin
from vbks.search.runner import failed_warps
from vbks.selection.paper_updates import notices
from vbks.selection.selection import Selection
from vbks.selection.settings import settings_of
from vbks.weights.settings import paper_settings


def select_as_paper(
    data: Mapping[Warp, TrainingData],
    config: FitConfig,
    settings: PaperSettings,
    run: RunContext,
    report: Progress,
) -> Selection:
    """All candidates trained on minibatches, and the belief over their local ELBOs."""
    (rows,) = data.values()
    if config.trace:
        settings = replace(settings, every=max(1, settings.steps // config.trace))
    own = replace(config.fits, memory_limit=run.memory)
    states, context = begin(config.expressions or (), rows, settings, own)
    belief = paper_settings(
        settings, rows.num_rows, context.batch_size, config.belief.prior, own.seed
    )
    trainer = Trainer(
        settings,
        belief,
        run.executor,
        report,
        config.callback,
        has_history=bool(config.trace),
        seconds=float("inf") if config.budget is None else config.budget.seconds,
        clock=run.clock,
    )
    fits, training = trainer.run(states, context)
    return Selection(
        fits,
        data,
        belief.resolved(fits),
        feature_names=rows.feature_names,
        notices=(*rows.notices, *notices(training.record), *failed_warps(fits)),
        time_inputs=rows.time_inputs,
        training=training,
        settings=settings_of(config),
        target_name=rows.target_name,
    )

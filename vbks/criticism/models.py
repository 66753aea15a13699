"""The models of an average that are checked: its kernels, each at a mode of q(θ)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vbks.criticism.drawn_functions import residuals_at_draw
from vbks.criticism.sequence import RowSequence
from vbks.criticism.whitening import Residuals, whiten
from vbks.data.sources import ArraySource
from vbks.data.training import TrainingData
from vbks.inference.result import LocalFit
from vbks.predict.posteriors.averaging import Average

MOST_MODELS = 4
"""Up to this many kernels and modes are checked, those with the largest weights."""

LEAST_REPLICATES = 199
"""Every model has at least this many replicates; others follow its weight."""


@dataclass(frozen=True, eq=False)
class Model:
    """A fit at one of its modes, and its share of the models that are checked."""

    fit: LocalFit
    mode: int
    weight: float


def models_of(average: Average) -> tuple[Model, ...]:
    """The models with the largest weights, which add up to one."""
    found = [
        Model(fit, number, weight * mode.weight)
        for fit, weight in average.members
        for number, mode in enumerate(fit.modes[:1] if fit.bound == "stochastic" else fit.modes)
    ]
    found.sort(key=lambda model: -model.weight)
    total = sum(model.weight for model in found[:MOST_MODELS])
    return tuple(Model(m.fit, m.mode, m.weight / total) for m in found[:MOST_MODELS])


def residuals_of(
    average: Average, rows: RowSequence, num_replicates: int, seed: int
) -> Iterator[tuple[Residuals, float]]:
    """Residuals under each model, with its weight; under other likelihoods, those of one draw."""
    rng = np.random.default_rng(seed)
    if not average.likelihood.is_gaussian:
        data = rows_of(next(iter(average.data.values())), rows)
        yield residuals_at_draw(average, data, rows, num_replicates, rng), 1.0
        return
    for model in models_of(average):
        num = max(LEAST_REPLICATES, round(num_replicates * model.weight))
        data = rows_of(average.data[model.fit.warp], rows)
        yield whiten(model.fit, model.mode, data, rows, num, rng), model.weight


def rows_of(data: TrainingData, rows: RowSequence) -> TrainingData:
    """The rows of a sequence, in its order, under the warp of the data."""
    if isinstance(data.source, ArraySource):
        return data.part(rows.numbers)
    sampled = data.sampled(rows.num_all, np.random.default_rng(0))
    return sampled.part(rows.numbers)

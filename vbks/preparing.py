"""Rows as fits need them: around a mean function, under warps, with values of GPflow kernels."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from gpflow.functions import Function

from vbks.config import FitConfig
from vbks.data.ranges import range_notice
from vbks.data.sources import ArraySource
from vbks.data.training import TrainingData, prepare
from vbks.data.units import Units
from vbks.data.warp_choice import choose_warps
from vbks.data.warps import Warp
from vbks.errors import DataError, GrammarError
from vbks.grammar.canonical import arrange
from vbks.grammar.expression import Expression
from vbks.inference.choices import check_targets
from vbks.inference.likelihoods.levels import ROWS as LEVEL_ROWS
from vbks.inference.likelihoods.levels import level_of, scale_of
from vbks.kernels.given import GivenValues
from vbks.kernels.gpflow.reading import read_standardised
from vbks.predict.models.mean_functions import make_mean_function, mean_values

MEAN_ROWS = 100_000
"""A mean function is fitted to this many rows at random, if there are more."""


def read_rows(X: Any, y: Any, config: FitConfig) -> tuple[TrainingData, Function | None]:
    """Rows to learn from without a warp, and the mean function that was taken off them."""
    likelihood, seed = config.fits.likelihood, config.fits.seed
    rows = prepare(
        X if y is None else (X, y),
        standardise_targets=likelihood.is_gaussian,
        noise_variance=config.noise_variance,
    )
    if config.mean_function is not None:
        return _around(config.mean_function, rows, seed)
    if likelihood.is_gaussian:
        return rows, None
    check_targets(likelihood, rows)
    _, targets = rows.sample(LEVEL_ROWS, np.random.default_rng(seed))
    scale = scale_of(likelihood, targets)
    return rows.with_level(level_of(likelihood, targets, scale), scale), None


def _around(given: object, rows: TrainingData, seed: int) -> tuple[TrainingData, Function]:
    """What a mean function leaves of the targets, and the function after it was fitted."""
    source = rows.sampled(MEAN_ROWS, np.random.default_rng(seed)).source
    if not isinstance(rows.source, ArraySource) or not isinstance(source, ArraySource):
        raise DataError("mean_function needs rows that are given as arrays, not as a dataset.")
    mean = make_mean_function(given, source.X, source.y, source.noise)
    values = [mean_values(mean, X) for X, _ in rows.source.blocks(MEAN_ROWS)]
    return rows.shifted(np.concatenate(values)), mean


def under_warps(rows: TrainingData, config: FitConfig) -> dict[Warp, TrainingData]:
    """The rows under each warp that is tried."""
    names, _ = config.tried_warps
    warps = choose_warps("auto" if names is None else names, rows, config.target_range)
    return {warp: rows if warp.name == "identity" else rows.warped(warp) for warp in warps}


def notices_of(rows: TrainingData, config: FitConfig) -> tuple[str, ...]:
    """Why not all warps are tried, and what would keep forecasts in the range of the targets.

    Who has chosen a warp, a likelihood or what the targets vary around has thought of the range.
    Rows that are read from elsewhere are not read once more for it.
    """
    _, notices = config.tried_warps
    has_chosen = (
        not config.fits.likelihood.is_gaussian
        or not isinstance(rows.source, ArraySource)
        or config.preset is not None
        or any(own is not None for own in (config.warps, config.target_range))
        or any(own is not None for own in (config.mean_function, config.noise_variance))
    )
    about_range = "" if has_chosen else range_notice(rows)
    return (*notices, about_range) if about_range else notices


def with_expressions(config: FitConfig, units: Units) -> FitConfig:
    """The same with GPflow kernels read as expressions, and their values in standardised units."""
    if config.space is None:
        return config
    expressions: list[Expression] = []
    given: dict[Expression, GivenValues] = {}
    for member in config.space:
        if isinstance(member, Expression):
            expressions.append(member)
            continue
        reading = read_standardised(member, units, config.fits.ard)
        expressions.append(reading.expression)
        given[reading.expression] = reading.given
    structures = Counter(map(arrange, expressions))
    for expression in given:
        if structures[arrange(expression)] > 1:
            raise GrammarError(
                f"'{expression}' is more than once in the space, with values of a GPflow kernel, "
                "so that its fits could not be told apart. Fit them in calls of their own."
            )
    return replace(config, space=tuple(expressions), fits=replace(config.fits, given=given))

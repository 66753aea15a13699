"""Selections for several targets: one for each, and a shared belief if asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from vbks.config import FitConfig
from vbks.data.columns import read_columns, read_noise_columns
from vbks.errors import SettingsError, VbksError
from vbks.grammar.parser import parse
from vbks.progress import Part, Progress
from vbks.search.budget import Budget
from vbks.selecting import select_kernels
from vbks.selection.selection import Selection
from vbks.selection.selections import NOT_STACKED, Selections


def select_for_each_target(X: Any, Y: Any, config: FitConfig) -> Selections:
    """Selections for the columns of targets [N, P]."""
    columns = read_columns(Y)
    if config.targets == "separate":
        return Selections(_select_each(X, columns, config, "", 1))
    if not config.method.forms_belief:
        raise SettingsError(
            "a belief that targets share goes with method='vbks'. Leave out one of both."
        )
    if config.warps not in (None, ("identity",)):
        raise SettingsError("a belief that targets share goes with no warp. Leave out warps.")
    if config.belief.weights == "stacking":
        raise SettingsError(NOT_STACKED)
    config = replace(config, warps=("identity",))
    num_passes = 1
    if config.space is None:
        num_passes = 2
        found = _select_each(X, columns, config, "-grown", num_passes)
        space = dict.fromkeys(
            str(own.expression)
            for selection in found.values()
            for own in selection.fits
            if own.status == "fitted"
        )
        config = replace(config, space=tuple(map(parse, space)), budget=_from_now(config.budget))
    # A candidate that would be pruned for one target may be the best for all of them.
    config = replace(config, fits=replace(config.fits, prune=False))
    return Selections(_select_each(X, columns, config, "", num_passes), shared=True)


def _select_each(
    X: Any, columns: Mapping[str, Any], config: FitConfig, stage: str, num_passes: int
) -> dict[str, Selection]:
    """A selection for each column, with its share of the seconds and a part of the checkpoint."""
    noises = read_noise_columns(config.noise_variance, len(columns))
    means = _means(config.mean_function, len(columns))
    budget = config.budget
    if budget is not None:
        budget = replace(budget, seconds=budget.seconds / (num_passes * len(columns)))
    found = {}
    for place, (name, y) in enumerate(columns.items()):
        checkpoint = config.checkpoint
        if checkpoint is not None:
            checkpoint = _part(checkpoint, f"target-{place + 1}{stage}")
        own = replace(
            config,
            budget=budget,
            progress=_part_of(config.progress, name, place + 1, len(columns)),
            noise_variance=noises[place],
            mean_function=means[place],
            checkpoint=checkpoint,
        )
        try:
            found[name] = select_kernels(X, y, own)
        except VbksError as error:
            raise type(error)(f"target '{name}': {error}") from error
        budget = _from_now(budget)
    return found


def _part_of(progress: bool | Progress, name: str, number: int, total: int) -> bool | Progress:
    """The progress of one target."""
    if isinstance(progress, bool):
        return progress
    progress.part(f"target {name}", number, total)
    return Part(progress)


def _from_now(budget: Budget | None) -> Budget | None:
    """A budget that begins anew, as only the first of several calls starts TensorFlow."""
    return None if budget is None else replace(budget, began=math.nan)


def _means(given: object, num_targets: int) -> list[object]:
    """The mean function of each target: one for all of them, or a list with one for each."""
    if not isinstance(given, list | tuple):
        return [given] * num_targets
    if len(given) != num_targets:
        raise SettingsError(
            f"there are {len(given)} mean functions for {num_targets} targets. Give one, or a list "
            "of one for each."
        )
    return list(given)


def _part(checkpoint: str | PathLike[str], name: str) -> Path:
    folder = Path(checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name

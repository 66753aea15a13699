"""Fits of several targets: one call of `vbks.fit` for each, and a shared belief if asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, cast

from vbks.data.columns import num_columns, read_columns, read_noise_columns
from vbks.errors import DataError, VbksError, check_one_of
from vbks.search.budget import budget_of
from vbks.search.methods import method_of
from vbks.selection.selection import Selection
from vbks.selection.selections import NOT_STACKED, Selections

Parameters = ParamSpec("Parameters")

OneTarget = Callable[..., Selection]
"""`vbks.fit` of one target."""


def for_each_target(fit: Callable[Parameters, Selection]) -> Callable[Parameters, Selection]:
    """The same call for targets [N, P], which gives `Selections` of them where P is above 1."""

    @wraps(fit)
    def fit_all(*args: Parameters.args, **settings: Parameters.kwargs) -> Selection:
        given: dict[str, Any] = dict(zip(("X", "y"), args, strict=False)) | settings
        targets = given.get("targets", "separate")
        check_one_of("targets", targets, ("separate", "shared"))
        if given.get("y") is None or num_columns(given["y"]) < 2:
            return fit(*args, **settings)
        X, Y = given.pop("X"), given.pop("y")
        # Several targets are what the caller asked for, and what the docstring says they get.
        return cast(Selection, _fit_several(fit, X, Y, given))

    return fit_all


def _fit_several(fit: OneTarget, X: Any, Y: Any, settings: dict[str, Any]) -> Selections:
    columns = read_columns(Y)
    shared = settings.get("targets", "separate") == "shared"
    if not shared:
        return Selections(_fit_each(fit, X, columns, settings, "", 1))
    if method_of(settings.get("method", "vbks")).name != "vbks":
        raise DataError(
            "a belief that targets share goes with method='vbks'. Leave out one of both."
        )
    if settings.get("warps", "auto") not in ("auto", "identity", ["identity"], ("identity",)):
        raise DataError("a belief that targets share goes with no warp. Leave out warps.")
    if "stacking" in (settings.get("weights"), settings.get("belief")):
        raise DataError(NOT_STACKED)
    settings = {**settings, "warps": ("identity",)}
    is_grown = isinstance(settings.get("space", "grow"), str)
    passes = 2 if is_grown else 1
    if is_grown:
        found = _fit_each(fit, X, columns, settings, "-grown", passes)
        space = dict.fromkeys(
            str(own.expression)
            for selection in found.values()
            for own in selection.fits
            if own.status == "fitted"
        )
        settings = {**settings, "space": tuple(space)}
    # Whoever leaves the race for one target may be the best for all of them.
    together = _fit_each(fit, X, columns, {**settings, "race": False}, "", passes)
    return Selections(together, shared=True)


def _fit_each(
    fit: OneTarget,
    X: Any,
    columns: Mapping[str, Any],
    settings: Mapping[str, Any],
    stage: str,
    num_passes: int,
) -> dict[str, Selection]:
    """A fit of each column, with its share of the seconds and a part of the checkpoint."""
    noises = read_noise_columns(settings.get("noise_variance"), len(columns))
    means = _means(settings.get("mean_function"), len(columns))
    budget = budget_of(settings.get("budget"))
    if budget is not None:
        budget = replace(budget, seconds=budget.seconds / (num_passes * len(columns)))
    found = {}
    for place, (name, y) in enumerate(columns.items()):
        own = {**settings, "budget": budget}
        own |= {"noise_variance": noises[place], "mean_function": means[place]}
        if own.get("checkpoint") is not None:
            own["checkpoint"] = _part(own["checkpoint"], f"target-{place + 1}{stage}")
        try:
            found[name] = fit(X, y, **own)
        except VbksError as error:
            raise type(error)(f"target '{name}': {error}") from error
    return found


def _means(given: Any, num_targets: int) -> list[Any]:
    """The mean function of each target: one for all of them, or a list with one for each."""
    if not isinstance(given, list | tuple):
        return [given] * num_targets
    if len(given) != num_targets:
        raise DataError(
            f"there are {len(given)} mean functions for {num_targets} targets. Give one, or a list "
            "of one for each."
        )
    return list(given)


def _part(checkpoint: Any, name: str) -> Path:
    folder = Path(checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name

"""Methods beside each other on one table: how good what they found was, and after how long."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from vbks.api import fit
from vbks.arrays import Array, Rows
from vbks.backtesting.held_out import naive_errors
from vbks.backtesting.rows import take_rows
from vbks.data.given import inputs_and_targets
from vbks.data.training import prepare
from vbks.errors import SettingsError, VbksError
from vbks.progress import Part, Progress, reporting
from vbks.search.budget import Budget
from vbks.search.methods import METHODS
from vbks.selection.leaderboard import errors_of
from vbks.selection.new_inputs import read_new_inputs
from vbks.selection.selection import Selection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEST_SHARE = 0.1
"""Share of the rows that are held out."""

AVERAGED = "averaged"
"""What the answer of a method is called that does not choose a single kernel."""

COLUMNS = ("method", "seconds", "candidates", "kernel", "warp", "bic", "rmse", "nlpd")


@dataclass(frozen=True)
class MethodComparison:
    """What each method had found after how long.

    ``table`` has a row for every kernel that was the best of a method for a while, and a last one
    for its answer; BIC is of the rows that were learned from, the errors of those held out.
    ``failures`` are methods that gave no answer, with the reasons. ``baselines`` are errors of
    naive forecasts, where rows are a series that was to be forecast.
    """

    table: pd.DataFrame
    failures: dict[str, str]
    baselines: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COLUMNS)))

    @property
    def answers(self) -> pd.DataFrame:
        """The last row of each method, and the baselines."""
        last = self.table.groupby("method", sort=False).tail(1)
        whole = [last, self.baselines] if len(self.baselines) else [last]
        return pd.concat(whole, ignore_index=True)

    def plot(self) -> Figure:
        """BIC of the best kernel and error on held-out rows against time."""
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=(9, 4), layout="constrained")
        panels = canvas.subplots(1, 2, sharex=True)
        labels = {"bic": "BIC of the best kernel (lower is better)", "rmse": "test RMSE"}
        for panel, (column, label) in zip(panels, labels.items(), strict=True):
            for method, rows in self.table.groupby("method", sort=False):
                panel.step(rows["seconds"], rows[column], "o-", where="post", label=method, ms=3)
            panel.set_xlabel("seconds")
            panel.set_title(label, fontsize="medium")
            panel.grid(alpha=0.3)
        for style, (_, row) in zip((":", "--"), self.baselines.iterrows(), strict=False):
            panels[1].axhline(row["rmse"], color="grey", linestyle=style, label=row["method"])
        panels[0].legend(fontsize="small")
        if num := len(self.baselines):
            lines, labels = panels[1].get_legend_handles_labels()
            panels[1].legend(lines[-num:], labels[-num:], fontsize="small")
        panels[1].set_yscale("log")
        return canvas


def compare(
    X: Any,
    y: Any = None,
    methods: Sequence[str] = tuple(METHODS),
    *,
    budget: float | Budget = 60.0,
    test_share: float = TEST_SHARE,
    seed: int = 0,
    tell: Callable[[str], None] = lambda text: None,
    progress: bool | Progress = True,
    **settings: Any,
) -> MethodComparison:
    """Let methods search for kernels, each with the same budget, and score what they find.

    With one input the rows at its end are held out, so that methods have to forecast; with several,
    rows at random. X and y are as `vbks.fit` takes them. Where rows are evenly spaced in time,
    naive forecasts of the same rows are beside them. Settings are those of `vbks.fit`.
    """
    unknown = [name for name in methods if name not in METHODS]
    if unknown or not methods:
        wrong = f"'{unknown[0]}' is no method" if unknown else "there is no method to compare"
        raise SettingsError(f"{wrong}. Known: {', '.join(METHODS)}.")
    X, y, _ = inputs_and_targets(X, y)
    places = _places(X, y, test_share, seed)
    targets = np.ravel(np.asarray(y, float))
    train, test = ((take_rows(X, rows), targets[rows]) for rows in places)
    names = tuple(dict.fromkeys(methods))
    found, failures = [], {}
    with reporting(progress) as report:
        report.start(0, "Making TensorFlow's graphs")
        # The first to use them would wait for graphs that all methods share.
        fit(*train, space=("SE",), warps=("identity",), restarts=1, progress=False)
        for number, name in enumerate(names, start=1):
            tell(name)
            report.part(name, number, len(names))
            own = {"budget": budget, "seed": seed, "progress": Part(report), **settings}
            try:
                began = time.perf_counter()
                selection = fit(*train, method=name, **own)
                found.append(_scored(name, selection, test, time.perf_counter() - began))
            except VbksError as error:
                failures[name] = str(error)
    if not found:
        raise VbksError(f"no method gave an answer. {next(iter(failures.values()))}")
    table = pd.concat(found, ignore_index=True)
    return MethodComparison(table, failures, _baselines(X, y, *places))


Table = tuple[Any, Array]


def _places(X: Any, y: Any, share: float, seed: int) -> tuple[Rows, Rows]:
    """Places of the rows to learn from and of those to predict."""
    if not 0 < share < 1:
        raise SettingsError(f"the share of rows held out is {share}, expected between 0 and 1.")
    rows = prepare((X, y))
    num_test = max(1, round(share * rows.num_rows))
    inputs, _ = rows.arrays()
    if rows.num_inputs == 1:
        order = np.argsort(inputs[:, 0], kind="stable")
    else:
        order = np.random.default_rng(seed).permutation(rows.num_rows)
    return np.sort(order[:-num_test]), np.sort(order[-num_test:])


def _baselines(X: Any, y: Any, train: Rows, test: Rows) -> pd.DataFrame:
    """A row for each naive forecast of the rows that are held out."""
    errors = naive_errors(X, y, train, test)
    rows = [(name, 0.0, 0, "", "", np.nan, *found) for name, found in errors.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _scored(name: str, selection: Selection, test: Table, seconds: float) -> pd.DataFrame:
    """Rows for the kernels on the way, and for the answer."""
    rows: list[tuple[Any, ...]] = []
    for step in selection.search_steps:
        fit_then = selection.fit_of(step.expression, step.warp)
        then = replace(selection, fits=(replace(fit_then, status="fitted"),), trace=None)
        found = (step.seconds, step.candidates, step.expression, step.warp)
        rows.append((name, *found, _bic(then), *errors_on(then, test)))
    is_single = selection.probabilities.max() > 1 - 1e-9
    kernel, warp = AVERAGED, ""
    if is_single:
        kernel, warp = str(selection.best.expression), selection.best.warp.name
    answer = (seconds, len(selection.fits), kernel, warp)
    rows.append((name, *answer, _bic(selection), *errors_on(selection, test)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _bic(selection: Selection) -> float:
    """That of the kernel with the highest probability."""
    return float(selection.belief["bic"].iloc[0])


def errors_on(selection: Selection, test: Table) -> tuple[float, float]:
    """Root mean squared error, and mean negative log density."""
    X, y = test
    targets = np.asarray(y, float).reshape(-1)
    return errors_of(selection.mixture, read_new_inputs(selection, X), targets)

"""How the belief moves as more of the data is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from vbks.inference.evaluator import Evaluator
from vbks.inference.proposal import Proposal
from vbks.inference.result import LocalFit, Posterior
from vbks.inference.settings import FitStage
from vbks.selection.record import AnySelection

LEAST_ROWS = 10
"""The smallest part has at least this many rows."""


def trace_belief(
    selection: AnySelection, evaluator: Evaluator, final: FitStage, num_parts: int
) -> AnySelection:
    """The selection with a table of the belief after 1/n, 2/n, ... of the rows, at random.

    At each part all candidates that could be fitted take part, also those that were left behind in
    the end: what was believed then is shown. Each begins from where it was at the part before, and
    those far behind are pruned as in a search. All parts share the units and inducing inputs of the
    whole, whose belief is the last.
    """
    kept = [k for k, fit in enumerate(selection.fits) if fit.status != "failed"]
    fits = [selection.fits[k] for k in kept]
    num_rows = selection.num_rows
    order = np.random.default_rng(selection.belief_settings.seed).permutation(num_rows)
    inducing = next((fit.inducing for fit in fits if fit.status == "fitted"), None)
    settings = replace(evaluator.settings, inducing=inducing, prune=True)
    stage = FitStage(final.bound, _quick(final), final.num_inducing)
    table = {}
    before: list[LocalFit] = []
    for part in range(1, num_parts):
        proportion = part / num_parts
        seen = np.sort(order[: max(LEAST_ROWS, round(proportion * num_rows))])
        data = {warp: rows.part(seen) for warp, rows in selection.data.items()}
        here = Evaluator(data, settings, (), evaluator.report, evaluator.executor)
        before = here.fit(_proposals(fits, before), stage)
        now = replace(selection, fits=tuple(before), data=data, trace=None, given_weights=None)
        table[proportion] = now.probabilities
    table[1.0] = selection.probabilities[kept]
    names = pd.MultiIndex.from_tuples(
        [(str(fit.expression), fit.warp.name) for fit in fits], names=["expression", "warp"]
    )
    trace = pd.DataFrame(table, index=names).T.rename_axis("proportion")
    return replace(selection, trace=trace)


def _quick(stage: FitStage) -> Posterior:
    """The posterior of fits to parts: that of a search where bounds with q(θ) cost more."""
    is_bounded = stage.posterior in ("full", "diagonal") and stage.bound != "stochastic"
    return "laplace" if is_bounded else stage.posterior


def _proposals(fits: Sequence[LocalFit], before: Sequence[LocalFit]) -> list[Proposal]:
    """All candidates, from where they were before if they have been anywhere."""
    if not before:
        return [Proposal(fit.expression, fit.warp) for fit in fits]
    return [
        Proposal(fit.expression, fit.warp, fit if fit.status == "fitted" else None)
        for fit in before
    ]

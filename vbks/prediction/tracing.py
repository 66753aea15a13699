"""How the belief moves as more of the data is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from vbks.execution import Workshop
from vbks.inference import LocalFit
from vbks.inference.proposal import Proposal
from vbks.prediction.selection import Selection

LEAST_ROWS = 10
"""Rows of the smallest part at least."""


def trace_belief(selection: Selection, workshop: Workshop, num_parts: int) -> Selection:
    """The selection with a table of the belief after 1/n, 2/n, ... of the rows, at random.

    Each part continues the fits of the part before, as rows come in; the last is the whole. Only
    candidates that were fitted to the end take part, and all parts share the units and inducing
    inputs of the whole.
    """
    kept = [k for k, fit in enumerate(selection.fits) if fit.status == "fitted"]
    fits = [selection.fits[k] for k in kept]
    num_rows = selection.num_rows
    order = np.random.default_rng(selection.settings.seed).permutation(num_rows)
    settings = {**workshop.settings, "inducing": fits[0].inducing}
    table = {}
    before: list[LocalFit] = []
    for part in range(1, num_parts):
        proportion = part / num_parts
        seen = np.sort(order[: max(LEAST_ROWS, round(proportion * num_rows))])
        data = {warp: rows.part(seen) for warp, rows in selection.data.items()}
        here = Workshop(data, workshop.stage, False, settings, workshop.report, workshop.executor)
        before = _fit_part(here, fits, before)
        now = replace(selection, fits=tuple(before), data=data, trace=None)
        table[proportion] = now.probabilities
    table[1.0] = selection.probabilities[kept]
    names = pd.MultiIndex.from_tuples(
        [(str(fit.expression), fit.warp.name) for fit in fits], names=["expression", "warp"]
    )
    trace = pd.DataFrame(table, index=names).T.rename_axis("proportion")
    return replace(selection, trace=trace)


def _fit_part(
    workshop: Workshop, fits: Sequence[LocalFit], before: Sequence[LocalFit]
) -> list[LocalFit]:
    """Fits to a part of the rows: new ones at first, then on from those to the part before."""
    if not before:
        return workshop.fit([Proposal(fit.expression, fit.warp) for fit in fits])
    return workshop.go_on(before)

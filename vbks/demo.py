"""The demonstration: what the 144 kernels make of the airline series before anything is fitted."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from vbks.arrays import Array
from vbks.data import Units
from vbks.datasets import airline
from vbks.grammar import K144, canonical, uniform_prior
from vbks.inference import ExactEvidence
from vbks.kernels import Bank, candidate_rng, draw_starts, num_free_parameters, summarise_inputs

STARTS = 8
"""Starting values for each kernel; the table shows the best of them."""


def print_kernels(show: int, seed: int) -> None:
    """Print the kernels that explain the series best from their starting values alone."""
    series = airline()
    units = Units.of(series.X, series.y)
    X, y = units.standardise_inputs(series.X), units.standardise_targets(series.y)
    bank = Bank(K144)
    evidence = ExactEvidence(X, y)(bank, _starts(bank, X, y, seed)).numpy()
    best = np.nanmax(np.where(np.isfinite(evidence), evidence, -np.inf), axis=1)
    prior = np.exp(uniform_prior(K144))

    title = f"{len(K144)} kernels on {len(y)} months, best of {STARTS} starts, nothing fitted yet"
    table = Table("kernel", "same structure as", "parameters", "prior", "log evidence", title=title)
    for k in np.argsort(-best)[:show]:
        simplest = canonical(K144[k])
        table.add_row(
            str(K144[k]),
            "" if simplest == K144[k] else str(simplest),
            str(num_free_parameters(K144[k])),
            f"{prior[k]:.4f}",
            f"{best[k]:.1f}",
        )
    Console().print(table)


def _starts(bank: Bank, X: Array, y: Array, seed: int) -> Array:
    """Starting values of every kernel: [K, S, H]."""
    summaries = summarise_inputs(X, y)
    theta = np.zeros((len(bank), STARTS, bank.num_slots))
    for k, layout in enumerate(bank.layouts):
        rng = candidate_rng(seed, layout.expression)
        theta[k, :, : len(layout)] = draw_starts(layout, summaries, STARTS, rng)
    return theta

"""Tables of what is believed of candidates and structures, and of how alike they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from vbks.arrays import Array
from vbks.inference.proposal import of_warp, structure_of
from vbks.inference.result import LocalFit
from vbks.predict.mixture import KernelMixture
from vbks.search.protocol import Step
from vbks.selection.axes import axes_of
from vbks.selection.readings import reading_of
from vbks.selection.record import SelectionRecord
from vbks.weights.forming import form_belief, stack
from vbks.weights.settings import BeliefSettings, belief_fields

KINDS = ("bayes", "vbks", "stacking")
"""Ways of weighing candidates that the table has beside each other."""


def belief_table(record: SelectionRecord) -> pd.DataFrame:
    """A row for each candidate, best first; `Selection.belief` says what the columns are."""
    fits, settings = record.fits, record.belief_settings
    columns: dict[str, Any] = {
        "expression": [str(fit.expression) for fit in fits],
        "reading": _readings(record),
        "warp": [fit.warp.name for fit in fits],
        "probability": record.probabilities,
        "weight": record.weights_at_hand,
        "log_evidence": [fit.log_evidence(settings.correction) for fit in fits],
        "standard_error": [fit.log_evidence_error for fit in fits],
        "evidence": [_evidence(fit, settings) for fit in fits],
        "most_probable": _most_probable(record),
        **{kind: _weights_by(record, kind) for kind in KINDS},
        "elbo": [fit.elbo if fit.is_bounded else math.nan for fit in fits],
        "upper": [fit.upper + fit.log_jacobian for fit in fits],
        "bic": [fit.bic for fit in fits],
        "inference": [fit.bound for fit in fits],
        "status": [fit.status for fit in fits],
        "converged": [fit.converged for fit in fits],
        "seconds": [fit.seconds for fit in fits],
        "reason": [fit.reason for fit in fits],
    }
    table = pd.DataFrame(columns)
    rank = {"fitted": 0, "dropped": 1, "failed": 2}
    order = table.assign(rank=table["status"].map(rank)).sort_values(
        ["rank", "probability", "most_probable", "log_evidence"],
        ascending=[True, False, False, False],
        kind="stable",
    )
    return table.loc[order.index].reset_index(drop=True)


def structure_table(record: SelectionRecord) -> pd.DataFrame:
    """A row for each structure, best first: copies of one and its warps are added up."""
    triples = zip(record.fits, record.probabilities, record.weights, strict=True)
    rows = [(str(structure_of(fit)[0]), fit.warp.name, p, w) for fit, p, w in triples]
    table = pd.DataFrame(rows, columns=["structure", "warps", "probability", "weight"])
    table = table[[fit.status == "fitted" for fit in record.fits]]
    found = table.groupby("structure", sort=False).agg(
        {"probability": "sum", "weight": "sum", "warps": _joined}
    )
    return found.sort_values("probability", ascending=False, kind="stable").reset_index()


def correlation_table(record: SelectionRecord) -> pd.DataFrame:
    """Correlations of candidates in q(g) of the VBKS belief, whichever belief is held."""
    settings = record.belief_settings
    layer = settings if settings.kind == "vbks" else replace(settings, kind="vbks")
    belief = form_belief(record.fits, layer)
    kept = [k for k, p in enumerate(belief.probabilities) if p > 0]
    names = [_name(record.fits[k]) for k in kept]
    return pd.DataFrame(belief.correlations[np.ix_(kept, kept)], names, names)


def similarity_table(mixture: KernelMixture, inputs: Array) -> pd.DataFrame:
    """Correlations of the predictions of the members of a mixture at inputs [N, D]."""
    means, _ = mixture.member_predictions(inputs)
    names = [_name(fit) for fit, _ in mixture.members]
    return pd.DataFrame(np.atleast_2d(np.corrcoef(means)), names, names)


def search_table(steps: Sequence[Step]) -> pd.DataFrame:
    """A row for each candidate that became the best of a search, in the order of time."""
    names = [own.name for own in fields(Step)]
    return pd.DataFrame([astuple(step) for step in steps], columns=names)


def _readings(record: SelectionRecord) -> list[str]:
    """What each of the candidates is made of, in a few words."""
    axes, units = axes_of(record), record.rows.units
    return [reading_of(fit, axes, units) for fit in record.fits]


def _weights_by(record: SelectionRecord, kind: str) -> Array:
    """What one of the ways of weighing says of each candidate: [K]."""
    settings = record.belief_settings
    if kind == settings.kind:
        return record.probabilities
    if kind != "stacking":
        plain = replace(
            settings,
            **belief_fields(kind),
            form="gaussian",
            prior_mean=None,
            prior_covariance=None,
        )
        return form_belief(record.fits, plain).probabilities
    if not record.has_cheap_left_out:
        return np.full(len(record.fits), np.nan)
    return stack(record.fits, settings, record.left_out_densities).probabilities


def _most_probable(record: SelectionRecord) -> list[float]:
    """The probability, or what a candidate could have held that was not fitted to the end."""
    pairs = zip(record.fits, record.probabilities, strict=True)
    return [p if fit.status == "fitted" else fit.most_probable for fit, p in pairs]


def _evidence(fit: LocalFit, settings: BeliefSettings) -> str:
    """How the log evidence of the table was got."""
    return fit.evidence_source if settings.correction == "laplace" else settings.correction


def _joined(names: pd.Series[str]) -> str:
    """Names in their order, each once."""
    return ", ".join(dict.fromkeys(names))


def _name(fit: LocalFit) -> str:
    return f"{fit.expression}{of_warp(fit.warp)}"

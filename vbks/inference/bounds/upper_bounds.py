"""Upper bounds of fits: how much higher their likelihood could be than the collapsed bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vbks.errors import DataError
from vbks.inference.bounds.kernel_products import MEMORY
from vbks.inference.bounds.preconditioners import Preconditioner
from vbks.inference.bounds.sandwich import sandwich_of
from vbks.inference.context import FitContext
from vbks.inference.result import LocalFit

SHARE = 0.01
"""Conjugate gradients stop when they could gain no more than this share of what the bound of the
determinant may be off: they cannot make an interval short that the determinant makes long."""


def worth_bounding(fits: Sequence[LocalFit], context: FitContext, num: int) -> list[int]:
    """Indices of the ``num`` best fits by BIC, if they can be bounded from above."""
    if not context.likelihood.is_gaussian:
        raise DataError(f"upper bounds need Gaussian noise, not {context.likelihood.name}.")
    if context.data.has_known_noise:
        raise DataError("upper bounds need noise that is not known of each row. Leave one out.")
    fitted = [k for k, fit in enumerate(fits) if fit.status == "fitted"]
    return sorted(fitted, key=lambda k: -fits[k].log_evidence("bic"))[:num]


def with_uppers(
    fits: Sequence[LocalFit],
    context: FitContext,
    preconditioner: Preconditioner | None = "nystrom",
) -> list[LocalFit]:
    """The same fits, with an upper bound at their θ where there is one."""
    return [
        _bounded(fit, context, preconditioner) if fit.status == "fitted" else fit for fit in fits
    ]


def _bounded(fit: LocalFit, context: FitContext, preconditioner: Preconditioner | None) -> LocalFit:
    """The fit with its upper bound; that of an exact fit is the likelihood itself."""
    if fit.bound == "exact":
        return replace(fit, upper=fit.modes[0].log_likelihood)
    X, y = context.data.arrays()
    assert fit.inducing is not None
    bounds = sandwich_of(
        fit.expression,
        fit.theta,
        X,
        y,
        fit.inducing,
        ard=fit.ard,
        preconditioner=preconditioner,
        share=SHARE,
        memory=min(context.memory, MEMORY),
    )
    upper = max(bounds.upper, fit.modes[0].log_likelihood)
    return replace(fit, upper=upper if np.isfinite(upper) else np.nan)

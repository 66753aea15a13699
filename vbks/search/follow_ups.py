"""What a search finds out about fits beside their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from vbks.inference.bounds.preconditioners import Preconditioner
from vbks.inference.bounds.upper_bounds import with_uppers, worth_bounding
from vbks.inference.context import FitContext
from vbks.inference.evaluator import FollowUp
from vbks.inference.result import LocalFit
from vbks.predict.leave_one_out import leave_one_out


def upper_bounds(num: int, preconditioner: Preconditioner | None = "nystrom") -> FollowUp:
    """Likelihoods are bounded from above: those of the ``num`` best of a list by BIC."""
    bounded = partial(with_uppers, preconditioner=preconditioner)
    return FollowUp("upper bounds", bounded, partial(worth_bounding, num=num), is_slow=True)


def held_out() -> FollowUp:
    """The log density of all rows, each given the others, is computed for each fit."""
    return FollowUp("held-out rows", with_held_out, every)


def every(fits: Sequence[LocalFit], context: FitContext) -> list[int]:
    """The indices of all fits."""
    return list(range(len(fits)))


def with_held_out(fits: Sequence[LocalFit], context: FitContext) -> list[LocalFit]:
    """Fits with the log density of all rows, each given the others."""
    densities = leave_one_out(fits, context.data).sum(axis=0)
    return [replace(fit, held_out=float(d)) for fit, d in zip(fits, densities, strict=True)]

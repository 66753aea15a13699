"""From fits to beliefs: which evidences count, under which prior, and in which of three ways."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from vbks.arrays import Array
from vbks.errors import DataError, check_one_of
from vbks.grammar import Expression, grammar_prior, uniform_prior
from vbks.inference.local_fit import Correction, LocalFit
from vbks.selection.belief import KernelBelief, bayes_belief, check_positive
from vbks.selection.gaussian_belief import PRIOR_VARIANCE, vbks_belief
from vbks.selection.stacking import stacking_belief

BeliefKind = Literal["vbks", "bayes", "stacking"]
"""The layer of the VBKS paper, the categorical posterior, or weights by leave-one-out scores."""

KernelPrior = Literal["uniform", "grammar"]
"""All structures alike, or smaller ones likelier."""

DEFAULT_BELIEF: BeliefKind = "vbks"
"""Chosen by measurement: see `docs/design.md`, section on beliefs."""

PAPER_VARIANCE = 0.5
"""Prior variance of q(g) with which the authors of VBKS average predictions."""

PAPER_MEMBERS = 10
"""Kernels over which they average."""

FAR_BEHIND = 30.0
"""Nats of log evidence, over the temperature, behind the best from which on a candidate takes no
part in averages: Bayes' weight is 1e-13 there, and a layer with a larger one knows no better."""

_PRIORS: dict[KernelPrior, Callable[[Sequence[Expression | str]], tuple[float, ...]]] = {
    "uniform": uniform_prior,
    "grammar": grammar_prior,
}


@dataclass(frozen=True)
class BeliefSettings:
    """How a belief is formed from fits; ``members`` is how many of the best take part."""

    kind: BeliefKind = DEFAULT_BELIEF
    temperature: float = 1.0
    prior: KernelPrior = "uniform"
    prior_variance: float = PRIOR_VARIANCE
    correction: Correction = "laplace"
    members: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, known in (
            ("belief", self.kind, get_args(BeliefKind)),
            ("prior", self.prior, get_args(KernelPrior)),
            ("correction", self.correction, get_args(Correction)),
        ):
            check_one_of(name, value, known)
        check_positive(temperature=self.temperature, prior_variance=self.prior_variance)
        if self.members is not None and self.members < 1:
            raise DataError(f"members is {self.members}, expected 1 or more.")


def paper_settings(num_rows: int, batch_size: int) -> BeliefSettings:
    """The settings of the authors of VBKS: bounds are divided by half the number of minibatches."""
    temperature = max(1.0, 0.5 * num_rows / batch_size)
    return BeliefSettings(
        "vbks", temperature, "uniform", PAPER_VARIANCE, "none", members=PAPER_MEMBERS
    )


def log_evidences(fits: Sequence[LocalFit], settings: BeliefSettings) -> Array:
    """What each candidate has to show: [K], −∞ for those that do not take part.

    They are comparable between warps. One belief never mixes kinds of bounds, nor numbers of
    inducing points.
    """
    fitted = [fit for fit in fits if fit.status == "fitted"]
    kinds = {(fit.bound, _num_inducing(fit), fit.num_rows) for fit in fitted}
    if len(kinds) > 1:
        raise DataError(
            f"fits with different bounds cannot be compared: {sorted(kinds, key=str)}. "
            "Fit them with the same inference, inducing points and rows."
        )
    values = np.array(
        [fit.log_evidence(settings.correction) if fit in fitted else -math.inf for fit in fits]
    )
    values[np.isnan(values)] = -math.inf
    if settings.members is not None and len(fitted) > settings.members:
        least = np.sort(values)[-settings.members]
        values[values < least] = -math.inf
    return values


def log_prior(fits: Sequence[LocalFit], prior: KernelPrior) -> Array:
    """log p(k) + log p(w) of the pairs: copies of one structure share its weight: [K]."""
    expressions = list(dict.fromkeys(fit.expression for fit in fits))
    of_expression = dict(zip(expressions, _PRIORS[prior](expressions), strict=True))
    num_warps = len({fit.warp for fit in fits})
    return np.array([of_expression[fit.expression] - math.log(num_warps) for fit in fits])


def form_belief(
    fits: Sequence[LocalFit],
    settings: BeliefSettings,
    leave_one_out: Callable[[], Array] | None = None,
) -> KernelBelief:
    """The belief over candidates, in their order; stacking asks for log densities [N, K]."""
    values, prior = log_evidences(fits, settings), log_prior(fits, settings.prior)
    match settings.kind:
        case "bayes":
            return bayes_belief(values, prior, temperature=settings.temperature)
        case "vbks":
            return vbks_belief(
                values,
                prior,
                prior_variance=settings.prior_variance,
                temperature=settings.temperature,
                seed=settings.seed,
            )
    if leave_one_out is None:
        raise DataError("stacking needs leave-one-out densities, which these fits do not have.")
    densities = np.where(np.isfinite(values), leave_one_out(), -math.inf)
    return stacking_belief(densities, prior, temperature=settings.temperature)


def averaged_weights(
    fits: Sequence[LocalFit], settings: BeliefSettings, probabilities: Array
) -> Array:
    """Weights of candidates in averaged predictions: the belief, without those far behind: [K].

    Stacking weighs by predictions and not by evidences, and a belief whose prior variance is below
    the usual one, as the authors', is asked to be flat: both keep all of their candidates.
    """
    if settings.kind == "stacking" or settings.prior_variance < PRIOR_VARIANCE:
        return probabilities
    values = log_evidences(fits, settings)
    taking_part = values >= values.max() - FAR_BEHIND * settings.temperature
    kept = np.where(taking_part, probabilities, 0.0)
    return np.asarray(kept / kept.sum()) if kept.any() else probabilities


def _num_inducing(fit: LocalFit) -> int | None:
    return None if fit.inducing is None else len(fit.inducing)

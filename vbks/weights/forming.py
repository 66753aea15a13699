"""From fits to beliefs and weights: which evidences count, under which prior, and how."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from vbks.arrays import Array
from vbks.errors import DataError
from vbks.inference.result import LocalFit
from vbks.weights.belief import KernelBelief, bayes_belief
from vbks.weights.gaussian import PRIOR_VARIANCE, vbks_belief
from vbks.weights.policy import AveragingPolicy
from vbks.weights.prior import log_prior
from vbks.weights.settings import BeliefSettings, layer_covariance, layer_mean
from vbks.weights.stacking import stacking_belief

LEAST_LOG_SCORE, TINY = -1e4, 1e-300
"""No log score of a row counts as lower than the first, and the second keeps logarithms finite."""


def log_evidences(fits: Sequence[LocalFit], settings: BeliefSettings) -> Array:
    """The log evidence of each candidate: [K], −∞ for those that do not take part.

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
        [
            fit.log_evidence(settings.correction) if fit.status == "fitted" else -math.inf
            for fit in fits
        ]
    )
    values[np.isnan(values)] = -math.inf
    if settings.max_candidates is not None and len(fitted) > settings.max_candidates:
        best = np.argsort(-values, kind="stable")[: settings.max_candidates]
        left_out = np.ones(len(values), bool)
        left_out[best] = False
        values[left_out] = -math.inf
    return values


def form_belief(
    fits: Sequence[LocalFit], settings: BeliefSettings, values: Array | None = None
) -> KernelBelief:
    """The belief over candidates, in their order, by their log evidences or other values [K]."""
    values = log_evidences(fits, settings) if values is None else values
    prior = log_prior(fits, settings.prior, np.isfinite(values))
    if settings.kind == "bayes":
        return bayes_belief(values, prior, temperature=settings.temperature)
    mean, covariance = settings.prior_mean, settings.prior_covariance
    return vbks_belief(
        values,
        prior,
        prior_variance=settings.prior_variance,
        prior_mean=None if mean is None else layer_mean(fits, mean, prior),
        prior_covariance=None
        if covariance is None
        else layer_covariance(fits, covariance, settings.prior_variance),
        temperature=settings.temperature,
        form=settings.form,
        seed=settings.seed,
        policy=settings.layer,
    )


def stack(fits: Sequence[LocalFit], settings: BeliefSettings, densities: Array) -> KernelBelief:
    """Weights of candidates that predict left-out rows best, from log densities [N, K]."""
    values = log_evidences(fits, settings)
    prior = log_prior(fits, settings.prior, np.isfinite(values))
    known = np.where(np.isfinite(values), densities, -math.inf)
    return stacking_belief(known, prior, temperature=settings.temperature)


def averaged_weights(
    fits: Sequence[LocalFit],
    settings: BeliefSettings,
    probabilities: Array,
    leave_one_out: Callable[[], Array] | None = None,
) -> Array:
    """Weights of candidates in averaged predictions, [K].

    They are the probabilities without those far behind, or those of stacking where these are asked
    for or predict left-out rows clearly better; ``leave_one_out`` gives log densities [N, K].
    """
    if settings.averaging_variance is not None or settings.max_averaged is not None:
        settings = settings.for_averages
        probabilities = form_belief(fits, settings).probabilities
    believed = without_far_behind(fits, settings, probabilities)
    if settings.weights == "belief":
        return believed
    if leave_one_out is None:
        if settings.weights == "auto":
            return believed
        raise DataError(
            "stacking needs the log densities of rows given all others, which are known for "
            "Gaussian noise and while rows are there. Choose weights='belief'."
        )
    fitted, policy = [fit for fit in fits if fit.status == "fitted"], settings.averaging
    if len(fitted) == 1 or (
        settings.weights == "auto" and fitted[0].num_rows < policy.min_stacking_rows
    ):
        return believed
    densities = leave_one_out()
    stacked = stack(fits, settings, densities).probabilities
    if settings.weights == "auto" and not predicts_better(densities, stacked, believed, policy):
        return believed
    return stacked


def without_far_behind(
    fits: Sequence[LocalFit],
    settings: BeliefSettings,
    probabilities: Array,
    values: Array | None = None,
) -> Array:
    """Probabilities without candidates whose evidence is far behind, made to add up to one: [K].

    A belief whose prior variance is below the usual one, as the authors', is asked to be flat and
    keeps all of them. ``values`` [K] take the place of evidences.
    """
    if settings.kind == "vbks" and settings.prior_variance < PRIOR_VARIANCE:
        return probabilities
    values = log_evidences(fits, settings) if values is None else values
    taking_part = values >= values.max() - settings.averaging.max_gap * settings.temperature
    kept = np.where(taking_part, probabilities, 0.0)
    return np.asarray(kept / kept.sum()) if kept.any() else probabilities


def predicts_better(
    densities: Array, stacked: Array, believed: Array, policy: AveragingPolicy | None = None
) -> bool:
    """Whether left-out rows are clearly likelier under stacked weights than under believed ones.

    Log densities are [N, K]. The gain in nats, less one for each weight but the first that was
    fitted to these rows, must be more than `AveragingPolicy.stacking_errors` standard errors.
    """
    policy = policy or AveragingPolicy()
    gains = _log_scores(densities, stacked) - _log_scores(densities, believed)
    num_fitted = int(np.sum(stacked > policy.fitted_weight)) - 1
    error = float(gains.std(ddof=1)) * math.sqrt(len(gains)) if len(gains) > 1 else math.inf
    return bool(gains.sum() - num_fitted > policy.stacking_errors * error)


def _log_scores(densities: Array, weights: Array) -> Array:
    """log Σₖ wₖ pₙₖ of every row: [N]."""
    kept = weights > 0.0
    own = densities[:, kept]
    highest = np.maximum(own.max(axis=1, keepdims=True), LEAST_LOG_SCORE)
    return np.asarray(np.log(np.exp(own - highest) @ weights[kept] + TINY) + highest[:, 0])


def _num_inducing(fit: LocalFit) -> int | None:
    return None if fit.inducing is None else len(fit.inducing)

"""Beliefs over kernels: the probabilities of candidates, and what they were formed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, softmax

from vbks.arrays import Array, Mask
from vbks.errors import DataError, SettingsError, is_real


@dataclass(frozen=True, eq=False)
class KernelBelief:
    """Probabilities of candidates, [K], and what they were formed from.

    ``log_prior`` is log p(k) among the candidates that take part, and −∞ for all others, whose
    probability is zero. ``bound`` is what was maximised, with evidences divided by the temperature:
    a bound of log Σₖ p(k) exp(Lₖ/T), or for stacking the mean log score of a row. Only "vbks" has
    q(g) = N(mean, factor factorᵀ) and a prior N(prior_mean, prior_covariance) of g, with zeros for
    candidates that take no part.
    """

    kind: Literal["vbks", "bayes", "stacking"]
    probabilities: Array
    log_prior: Array
    temperature: float
    bound: float
    mean: Array | None = None
    factor: Array | None = None
    prior_mean: Array | None = None
    prior_covariance: Array | None = None

    @property
    def correlations(self) -> Array:
        """Correlations of g under q(g), [K, K]: a diagnostic, as they depend on evidences alone."""
        if self.factor is None:
            raise DataError(f"a belief of kind '{self.kind}' has no q(g), and so no correlations.")
        sd = np.linalg.norm(self.factor, axis=1)
        units = self.factor / np.where(sd > 0, sd, 1.0)[:, np.newaxis]
        return np.asarray(units @ units.T)


def bayes_belief(
    log_evidences: npt.ArrayLike, log_prior: npt.ArrayLike, *, temperature: float = 1.0
) -> KernelBelief:
    """The posterior p(k) exp(Lₖ/T) / Σⱼ p(j) exp(Lⱼ/T), the free categorical q(k) of best bound."""
    check_positive(temperature=temperature)
    evidences = as_vector("log_evidences", log_evidences)
    taking_part, prior = participants(evidences, log_prior)
    log_joint = np.where(taking_part, evidences / temperature, -np.inf) + prior
    bound = float(logsumexp(log_joint))
    return KernelBelief("bayes", softmax(log_joint), prior, temperature, bound)


def participants(evidences: Array, log_prior: npt.ArrayLike) -> tuple[Mask, Array]:
    """Who takes part, [K], and log p(k) among them, −∞ for those whose evidence is −∞ or NaN."""
    prior = as_vector("log_prior", log_prior)
    if len(prior) != len(evidences):
        raise DataError(
            f"log_prior has {len(prior)} entries, expected one for each of the "
            f"{len(evidences)} candidates."
        )
    _check_none("evidence", evidences, np.isposinf(evidences))
    _check_none("log_prior", prior, np.isposinf(prior) | np.isnan(prior))
    taking_part = np.isfinite(evidences) & np.isfinite(prior)
    if not taking_part.any():
        raise DataError(
            f"no candidate can take part in a belief: the evidence or prior of each of the "
            f"{len(evidences)} is −inf or NaN. Look at the reasons why their fits failed."
        )
    kept = np.where(taking_part, prior, -np.inf)
    return taking_part, np.asarray(kept - logsumexp(kept))


def as_vector(name: str, values: npt.ArrayLike) -> Array:
    """Numbers of the candidates: [K]."""
    vector = np.asarray(values, dtype=float)
    if vector.ndim != 1 or not len(vector):
        raise DataError(f"{name} has shape {vector.shape}, expected one number per candidate: [K].")
    return vector


def check_positive(**numbers: float) -> None:
    """Refuse settings that are not finite and above zero."""
    for name, number in numbers.items():
        if not is_real(number) or not 0 < number < np.inf:
            raise SettingsError(f"{name} is {number!r}, expected a number above 0.")


def _check_none(name: str, values: Array, wrong: Mask) -> None:
    if wrong.any():
        first = int(np.argmax(wrong))
        raise DataError(f"the {name} of candidate {first + 1} is {values[first]}, which cannot be.")

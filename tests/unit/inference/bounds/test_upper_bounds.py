"""Tests of upper bounds of fits."""

from dataclasses import replace

import numpy as np
import pytest

from vbks.errors import DataError
from vbks.inference.bounds.upper_bounds import with_uppers, worth_bounding
from vbks.inference.choices import make_context
from vbks.inference.evaluator import fit_candidates
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.objectives.evidence import ExactEvidence
from vbks.inference.settings import FitSettings
from vbks.kernels.bank.bank import Bank


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 10, 60))
    return X, np.sin(X) + 0.2 * rng.normal(size=60)


def test_uppers__of_the_best_are_bounds_at_their_theta() -> None:
    settings = {"inference": "collapsed", "posterior": "point", "num_inducing": 12, "restarts": 2}
    comparison, _ = make_context(rows(), 3, FitSettings(**settings))
    fits = fit_candidates(["SE", "LIN", "PER"], rows(), prune=False, **settings)
    chosen = worth_bounding(fits, comparison, 2)
    assert len(chosen) == 2
    lowest = min(fits, key=lambda fit: fit.log_evidence("bic"))
    assert fits.index(lowest) not in chosen
    exact = ExactEvidence(*comparison.data.arrays(), 0.0)
    for fit in with_uppers([fits[k] for k in chosen], comparison):
        value = float(exact(Bank([fit.expression]), fit.theta[np.newaxis, np.newaxis])[0, 0])
        assert fit.elbo - 1e-5 <= value <= fit.upper + 1e-6


def test_with_uppers__that_of_an_exact_fit_is_its_likelihood() -> None:
    settings = {"inference": "exact", "posterior": "point", "restarts": 2}
    comparison, _ = make_context(rows(), 1, FitSettings(**settings))
    fits = fit_candidates(["SE"], rows(), prune=False, **settings)
    (fit,) = with_uppers(fits, comparison)
    assert fit.upper == fit.modes[0].log_likelihood


def test_uppers__need_gaussian_noise() -> None:
    comparison, _ = make_context(rows(), 1, FitSettings(inference="exact"))
    with pytest.raises(DataError, match="upper bounds need Gaussian noise"):
        worth_bounding([], replace(comparison, likelihood=make_likelihood("student_t")), 1)

"""Residuals under likelihoods that are not Gaussian: those given a function from the posterior.

Where (θ, f) is drawn from its posterior given y, the triple has the distribution that it had before
any row was seen. So the share of targets below yᵢ that are drawn at fᵢ is uniform under the model,
and independent for all rows. A tie, which counts have, is broken at random.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from vbks.arrays import Array
from vbks.criticism.sequence import RowSequence
from vbks.criticism.whitening import Residuals
from vbks.data.training import TrainingData
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.predict.posteriors.averaging import JITTER, Average
from vbks.predict.posteriors.observations import draw_targets
from vbks.predict.posteriors.posteriors import Posteriors

NUM_DRAWS = 2000
"""Targets drawn at each row: residuals reach 3.3 standard deviations."""


def residuals_at_draw(
    average: Average,
    data: TrainingData,
    rows: RowSequence,
    num_replicates: int,
    rng: np.random.Generator,
) -> Residuals:
    """Residuals of rows, which ``data`` has in their order, given one draw of kernel, θ and f."""
    part = _drawn_component(average, rng)
    X, y = data.arrays()
    means, covariances = part.joint(X)
    f = means[0] + _root(covariances[0]) @ rng.standard_normal(len(y))
    z = quantile_residuals(average.likelihood, part, f, y, rng)
    replicates = np.vstack([z, rng.standard_normal((num_replicates, len(y)))])
    # What is predicted one row ahead is f, so that targets on this scale are f + z.
    return Residuals(rows, np.eye(len(y)), replicates, f + replicates, part.units, False)


def quantile_residuals(
    likelihood: Likelihood, part: Posteriors, f: Array, y: Array, rng: np.random.Generator
) -> Array:
    """Φ⁻¹ of the share of targets drawn at f [n] that are below y [n], ties broken at random."""
    functions = np.tile(part.units.restore_targets(f), (NUM_DRAWS, 1))
    parameters = np.repeat(part.kernels.parameters[:1], NUM_DRAWS)
    drawn = draw_targets(likelihood, parameters, functions, rng)
    below = np.count_nonzero(drawn < y, axis=0)
    equal = np.count_nonzero(drawn == y, axis=0)
    return np.asarray(ndtri((below + rng.random(len(y)) * (equal + 1.0)) / (NUM_DRAWS + 1.0)))


def _drawn_component(average: Average, rng: np.random.Generator) -> Posteriors:
    chosen = int(rng.choice(len(average.weights), p=average.weights))
    for part in average.posteriors:
        if chosen < len(part):
            return part.take(np.array([chosen]))
        chosen -= len(part)
    raise AssertionError("weights are those of the components")


def _root(covariance: Array) -> Array:
    values, vectors = np.linalg.eigh(covariance + JITTER * np.eye(len(covariance)))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

from __future__ import annotations

from typing import Any

import gpflow
import numpy as np
import pytest
import tensorflow as tf

from vbks.errors import GraphError
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.predict.graphs.likelihoods import LikelihoodGraph
from vbks.predict.posteriors.observations import observed_log_densities, observed_moments

NAMES = ("bernoulli", "beta", "exponential", "gamma", "poisson", "student_t")
PARAMETERS = np.array([0.5, 2.0, 2.0])
MEANS = np.array([[0.1, -0.4], [0.3, 0.2], [0.0, 0.5]])
VARIANCES = np.array([[0.2, 0.0], [0.1, 0.3], [0.4, 0.2]])


def fixed_noise() -> gpflow.likelihoods.Likelihood:
    likelihood = gpflow.likelihoods.Gaussian(0.3)
    gpflow.set_trainable(likelihood, False)
    return likelihood


@pytest.mark.parametrize("given", [*NAMES, fixed_noise()], ids=[*NAMES, "fixed noise"])
def test_moments_and_densities__are_those_outside_of_a_graph(given: Any) -> None:
    likelihood = make_likelihood(given)
    y = np.array([1.0, 0.0]) if given == "bernoulli" else np.array([0.7, 0.2])
    graph = LikelihoodGraph(likelihood)
    moments = tf.function(graph.moments)(PARAMETERS, MEANS, VARIANCES)
    expected = observed_moments(likelihood, PARAMETERS, MEANS, VARIANCES)
    np.testing.assert_allclose(moments, expected, rtol=1e-12, atol=1e-15)
    densities = tf.function(graph.log_densities)(PARAMETERS, MEANS, VARIANCES, y)
    expected = observed_log_densities(likelihood, PARAMETERS, MEANS, VARIANCES, y)
    np.testing.assert_allclose(densities, expected, rtol=1e-12, atol=1e-15)


class Eager(gpflow.likelihoods.Poisson):
    """It asks for the numbers in its tensors, which those of a graph do not have."""

    def _predict_mean_and_var(self, X: Any, Fmu: Any, Fvar: Any) -> Any:
        return tf.constant(np.exp(Fmu.numpy())), Fvar


def test_likelihood_without_a_graph__is_refused() -> None:
    graph = LikelihoodGraph(make_likelihood(Eager()))
    with pytest.raises(GraphError, match=r"Eager cannot be .*: no graph can be made of it \("):
        tf.function(graph.moments)(PARAMETERS, MEANS, VARIANCES)

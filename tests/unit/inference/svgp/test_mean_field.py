import gpflow
import numpy as np
import pytest
import tensorflow as tf

from vbks.grammar.parser import parse
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import make_context
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.objectives.natural_parameters import NaturalParameters
from vbks.inference.settings import FitSettings
from vbks.inference.svgp.mean_field import MeanField
from vbks.inference.svgp.stage import StochasticStage
from vbks.kernels.gpflow.conversion import to_gpflow

M = 6


@pytest.mark.parametrize("likelihood", ["gaussian", "student_t"])
def test_value__equals_svgp_that_is_not_whitened(likelihood):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(40, 1))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=40)
    comparison, _ = make_context(
        (X, y),
        1,
        FitSettings(inference="stochastic", num_inducing=M, likelihood=make_likelihood(likelihood)),
    )
    stage = StochasticStage.of([make_candidate(parse("SE + LIN"), comparison)], comparison)
    theta = 0.3 * rng.normal(size=(1, stage.bank.num_slots))
    samples = theta[:, None] + 0.2 * rng.normal(size=(1, 3, theta.shape[1]))
    root = rng.normal(size=(1, M, M))
    precision = np.eye(M) + root @ root.swapaxes(1, 2)
    q = NaturalParameters(tf.constant(precision), tf.constant(rng.normal(size=(1, M))))
    field = MeanField(stage, theta, samples)
    rows = comparison.data.arrays()
    value, _ = field.value([rows], q)
    _, mean_value = field.step_and_value([rows], q)
    np.testing.assert_allclose(mean_value, value.mean(axis=1), rtol=1e-10)
    L = stage.at(theta[:, None]).L.numpy()[0, 0]
    mean, covariance, _ = (part.numpy()[0] for part in q.moments())
    for s in range(3):
        model = gpflow.models.SVGP(
            to_gpflow(parse("SE + LIN"), theta=samples[0, s]),
            comparison.likelihood.to_gpflow(float(np.exp(samples[0, s, 0]))),
            comparison.Z,
            q_mu=(L @ mean)[:, None],
            q_sqrt=(L @ np.linalg.cholesky(covariance))[None],
            whiten=False,
        )
        expected = model.elbo((rows[0], rows[1][:, None]))
        np.testing.assert_allclose(value[0, s], expected, rtol=1e-7)

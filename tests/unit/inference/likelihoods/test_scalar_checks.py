"""Tests of which likelihoods of GPflow can be used."""

from __future__ import annotations

import gpflow
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from gpflow.likelihoods import (
    HeteroskedasticTFPConditional,
    MonteCarloLikelihood,
    MultiClass,
    MultiLatentTFPConditional,
    Ordinal,
    Softmax,
    StudentT,
    SwitchedLikelihood,
)

from vbks.errors import DataError
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.likelihoods.scalar_checks import learnable_parameter

COUNTS = np.array([0.0, 1.0, 3.0, 2.0, 7.0])


def moments(*shape: int) -> list[tf.Tensor]:
    """Means, variances and noise."""
    rng = np.random.default_rng(0)
    parts = (rng.normal(size=shape), *rng.uniform(0.1, 2.0, (2, *shape)))
    return [tf.constant(part) for part in parts]


class Sampled(MonteCarloLikelihood):
    def __init__(self) -> None:
        super().__init__(input_dim=None, latent_dim=1, observation_dim=1)

    def _log_prob(self, X: tf.Tensor, F: tf.Tensor, Y: tf.Tensor) -> tf.Tensor:
        return -tf.reduce_sum(tf.square(Y - F), -1)


SLOPED = gpflow.functions.Linear([[0.1]], 1.0)

REFUSED = {
    "MultiClass": (lambda: MultiClass(3), "a function for each class"),
    "Softmax": (lambda: Softmax(3), "a function for each class"),
    "SwitchedLikelihood": (lambda: SwitchedLikelihood([StudentT()]), "several columns of targets"),
    "HeteroskedasticTFPConditional": (HeteroskedasticTFPConditional, "several functions"),
    "MultiLatentTFPConditional": (
        lambda: MultiLatentTFPConditional(2, tfp.distributions.Poisson),
        "choose one with a single function and a single column",
    ),
    "Sampled": (Sampled, "estimates its expectations from samples"),
    "StudentT": (lambda: StudentT(SLOPED), "is a function of the inputs; give it a number"),
    "Gaussian": (lambda: gpflow.likelihoods.Gaussian(SLOPED), "is a function of the inputs"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_make_likelihood__refuses_what_is_not_scalar(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(DataError, match=f"^{name} .*{message}"):
        make_likelihood(make())


def test_make_likelihood__takes_several_latent_functions_if_there_is_one() -> None:
    one = MultiLatentTFPConditional(1, lambda F: tfp.distributions.Poisson(log_rate=F))
    at, y = moments(3, 5), tf.constant(COUNTS)
    got = make_likelihood(one).expectations(y, *at)
    for part, expected in zip(got, make_likelihood("poisson").expectations(y, *at), strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-8)


EDGES = np.array([-0.5, 0.8])


def test_ordinal__is_refused_where_tensorflow_cannot_evaluate_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tf.math, "erf", lambda x: x * np.nan)
    with pytest.raises(DataError, match="Ordinal gives no number for its first and last class"):
        make_likelihood(Ordinal(EDGES))


def test_learnable_parameter__is_the_first_that_is_positive_and_trainable() -> None:
    held = StudentT(0.7)
    gpflow.set_trainable(held.scale, False)
    assert learnable_parameter(StudentT(0.7)) == "scale"
    assert learnable_parameter(held) is None
    assert learnable_parameter(gpflow.likelihoods.Poisson()) is None

from __future__ import annotations

from typing import Any

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow import likelihoods

from vbks.errors import FileError
from vbks.inference.likelihoods.likelihood import Gaussian
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.storage.likelihood_encoding import decode_likelihood, encode_likelihood
from vbks.storage.records import Record

NAMES = ("bernoulli", "beta", "exponential", "gamma", "gaussian", "poisson", "student_t")


class Poisson(likelihoods.Poisson):
    """Of the same name, but another class."""


class Cauchy(likelihoods.StudentT):
    """Of a name that vbks does not know."""


@pytest.mark.parametrize("name", NAMES)
def test_likelihood__comes_back_by_its_name(name: str) -> None:
    likelihood = make_likelihood(name)
    plain = encode_likelihood(likelihood)
    again = decode_likelihood(Record(plain, "here"))
    assert plain["name"] == name
    assert type(again) is type(likelihood)
    F, Y = np.linspace(-1, 1, 5)[:, np.newaxis], np.full((5, 1), 1.0)
    np.testing.assert_array_equal(
        again.to_gpflow(0.5).log_prob(F, F, Y), likelihood.to_gpflow(0.5).log_prob(F, F, Y)
    )


def test_gaussian__keeps_the_variance_that_it_came_with() -> None:
    likelihood = make_likelihood(likelihoods.Gaussian(0.25))
    assert decode_likelihood(Record(encode_likelihood(likelihood), "here")) == Gaussian(0.25)


def frozen_gaussian() -> likelihoods.Gaussian:
    likelihood = likelihoods.Gaussian(0.25)
    gpflow.set_trainable(likelihood, False)
    return likelihood


@pytest.mark.parametrize(
    ("likelihood", "name"),
    [
        (likelihoods.Poisson(binsize=2.0), "poisson"),
        (likelihoods.Bernoulli(invlink=tf.sigmoid), "bernoulli"),
        (likelihoods.StudentT(scale=2.0), "student_t"),
        (likelihoods.StudentT(df=4.0), "student_t"),
        (
            likelihoods.Exponential(quadrature=gpflow.quadrature.NDiagGHQuadrature(1, 7)),
            "exponential",
        ),
        (Poisson(), "poisson"),
        (frozen_gaussian(), "gaussian"),
    ],
)
def test_likelihood__is_refused_if_its_name_does_not_say_all(likelihood: Any, name: str) -> None:
    with pytest.raises(FileError, match=f"it is not the one that likelihood='{name}' stands for"):
        encode_likelihood(make_likelihood(likelihood))


def test_likelihood__is_refused_without_a_name() -> None:
    with pytest.raises(FileError, match="the likelihood Cauchy cannot be saved: vbks has no name"):
        encode_likelihood(make_likelihood(Cauchy()))

"""Tests of likelihoods by name: those of vbks, and a user's own."""

from __future__ import annotations

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.likelihoods import Gamma, Poisson, StudentT

from vbks.errors import DataError, FileError, SettingsError
from vbks.inference.likelihoods.gpflow_likelihood import GPflowLikelihood
from vbks.inference.likelihoods.likelihood import Gaussian, Likelihood
from vbks.inference.likelihoods.registry import (
    likelihood_names,
    make_likelihood,
    register_likelihood,
)
from vbks.inference.likelihoods.targets import Domain
from vbks.storage.likelihood_encoding import decode_likelihood, encode_likelihood
from vbks.storage.records import Record

pytestmark = pytest.mark.usefixtures("scoped_registries")

REAL = np.array([-1.2, 0.4, 2.5, 0.0, 0.7])


def moments(*shape: int) -> list[tf.Tensor]:
    """Means, variances and noise."""
    rng = np.random.default_rng(0)
    parts = (rng.normal(size=shape), *rng.uniform(0.1, 2.0, (2, *shape)))
    return [tf.constant(part) for part in parts]


@pytest.mark.parametrize("text", likelihood_names())
def test_make_likelihood__knows_texts(text: str) -> None:
    likelihood = make_likelihood(text)
    assert likelihood.name.lower() == text.replace("_", "")
    assert likelihood.is_gaussian == (text == "gaussian")


@pytest.mark.parametrize("unknown", ["normal", None, 3])
def test_make_likelihood__lists_what_it_knows(unknown: object) -> None:
    known = "bernoulli, beta, exponential, gamma, gaussian, poisson, student_t"
    with pytest.raises(DataError, match=f"Unknown likelihood {unknown!r}. Known: {known}, or"):
        make_likelihood(unknown)


@pytest.mark.parametrize("ours", [Gaussian(0.3), GPflowLikelihood(Poisson())])
def test_make_likelihood__leaves_ours_unchanged(ours: Likelihood) -> None:
    assert make_likelihood(ours) is ours


def test_make_likelihood__turns_a_gaussian_of_gpflow_into_ours() -> None:
    by_variance = make_likelihood(gpflow.likelihoods.Gaussian(0.49))
    by_scale = make_likelihood(gpflow.likelihoods.Gaussian(scale=0.7))
    assert isinstance(by_variance, Gaussian) and isinstance(by_scale, Gaussian)
    assert by_variance.variance == pytest.approx(0.49)
    assert by_scale.variance == pytest.approx(0.49)


def test_make_likelihood__wraps_what_others_derive_from_a_gaussian() -> None:
    class Doubled(gpflow.likelihoods.Gaussian):
        def _variational_expectations(self, *args: tf.Tensor) -> tf.Tensor:
            return 2.0 * super()._variational_expectations(*args)

    at, y = moments(3, 5), tf.constant(REAL)
    got = make_likelihood(Doubled()).expectations(y, *at).value
    np.testing.assert_allclose(got, 2.0 * Gaussian().expectations(y, *at).value, rtol=1e-10)


def test_make_likelihood__keeps_the_variance_of_a_gaussian_that_is_not_trainable() -> None:
    fixed = gpflow.likelihoods.Gaussian(0.49)
    gpflow.set_trainable(fixed, False)
    likelihood = make_likelihood(fixed)
    mean, variance, noise = moments(5)
    y = tf.constant(REAL)
    got = likelihood.expectations(y, mean, variance, noise).value
    expected = Gaussian().expectations(y, mean, variance, 0.49 * tf.ones_like(noise)).value
    assert not likelihood.has_parameter
    np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_make_likelihood__does_not_touch_the_users_object() -> None:
    given = StudentT(0.7)
    likelihood = make_likelihood(given)
    likelihood.expectations(tf.constant(REAL), *moments(3, 5))
    likelihood.to_gpflow(3.0)
    assert isinstance(given.scale, gpflow.Parameter)
    assert given.scale.numpy() == pytest.approx(0.7)
    assert likelihood.to_gpflow(3.0) is not given

    given.scale.assign(5.0)
    assert likelihood.parameter_start == pytest.approx(np.log(0.7))


class Laplacian(gpflow.likelihoods.ScalarLikelihood):
    """Noise with linear tails, whose scale is learned."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = gpflow.Parameter(scale, transform=gpflow.utilities.positive())

    def _scalar_log_prob(self, X: tf.Tensor, F: tf.Tensor, Y: tf.Tensor) -> tf.Tensor:
        return -tf.abs(Y - F) / self.scale - tf.math.log(2.0 * self.scale)

    def _conditional_mean(self, X: tf.Tensor, F: tf.Tensor) -> tf.Tensor:
        return tf.identity(F)

    def _conditional_variance(self, X: tf.Tensor, F: tf.Tensor) -> tf.Tensor:
        return 2.0 * tf.ones_like(F) * self.scale**2


def test_register_likelihood__name_stands_for_what_the_factory_makes() -> None:
    register_likelihood("laplace", lambda: Laplacian(0.4))
    likelihood = make_likelihood("laplace")
    at = moments(3, 5)
    expected = make_likelihood(Laplacian(0.4)).expectations(tf.constant(REAL), *at).value
    assert "laplace" in likelihood_names()
    assert likelihood.parameter_start == pytest.approx(np.log(0.4))
    np.testing.assert_array_equal(likelihood.pseudo_targets(REAL), REAL)
    np.testing.assert_allclose(
        likelihood.expectations(tf.constant(REAL), *at).value, expected, rtol=1e-12
    )


def test_register_likelihood__targets_means_and_link_are_used() -> None:
    domain = Domain(lambda y: y > 1.0, "numbers above 1", "Add one.")
    register_likelihood(
        "shifted",
        Laplacian,
        targets=domain,
        means=lambda likelihood, y: y - likelihood.scale.numpy(),
        link=np.sqrt,
    )
    likelihood = make_likelihood("shifted")
    np.testing.assert_allclose(likelihood.pseudo_targets(np.array([2.0, 5.0])), [1.0, 2.0])
    with pytest.raises(DataError, match="but Laplacian takes numbers above 1"):
        likelihood.check_targets(np.array([2.0, 0.5]))


def test_register_likelihood__knows_what_vbks_knows_of_a_class() -> None:
    register_likelihood("erlang", lambda: Gamma(shape=2.0))
    likelihood = make_likelihood("erlang")
    np.testing.assert_allclose(likelihood.pseudo_targets(np.array([2.0, 4.0])), np.log([1.0, 2.0]))
    with pytest.raises(DataError, match="takes numbers above 0"):
        likelihood.check_targets(np.array([-1.0]))


def test_register_likelihood__is_saved_by_the_name_of_the_same_settings() -> None:
    register_likelihood("t_5", lambda: StudentT(df=5.0))
    register_likelihood("laplace", Laplacian)
    register_likelihood("secret", lambda: Laplacian(3.0), is_saved=False)
    assert encode_likelihood(make_likelihood("student_t")) == {"name": "student_t"}
    assert encode_likelihood(make_likelihood(StudentT(df=5.0))) == {"name": "t_5"}
    plain = encode_likelihood(make_likelihood("laplace"))
    assert decode_likelihood(Record(plain, "here")).name == "Laplacian"
    with pytest.raises(FileError, match="likelihood='secret' was registered with is_saved=False"):
        encode_likelihood(make_likelihood("secret"))


@pytest.mark.parametrize(
    ("name", "factory", "message"),
    [
        ("", Laplacian, "cannot name a likelihood"),
        ("poisson", Laplacian, "'poisson' exists already"),
        ("softmax", Laplacian, "'softmax' exists already"),
        ("mine", lambda: 3, "makes a int. It has to make a likelihood of GPflow"),
    ],
)
def test_register_likelihood__refuses(name: str, factory: object, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        register_likelihood(name, factory)  # type: ignore[arg-type]


def test_register_likelihood__refuses_what_is_not_scalar() -> None:
    with pytest.raises(DataError, match="several functions or several columns"):
        register_likelihood("two", gpflow.likelihoods.HeteroskedasticTFPConditional)
    assert "two" not in likelihood_names()

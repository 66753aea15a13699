from __future__ import annotations

from collections.abc import Callable

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.kernels import Kernel, SquaredExponential

from vbks.kernels.gpflow.kernels import (
    ChangePoint,
    ChangeWindow,
    ConvexSum,
    FamilyKernel,
    Scaled,
)
from vbks.kernels.gpflow.linear import Linear
from vbks.kernels.registry import family_of
from vbks.predict.models.substitution import ParameterVector, trainable_parameters

X = np.random.default_rng(0).normal(size=(5, 2))
Y = np.random.default_rng(1).uniform(0.2, 0.8, size=(5, 1))


def smooth() -> Kernel:
    return SquaredExponential(0.7, [0.9, 1.3])


KERNELS: dict[str, Callable[[], Kernel]] = {
    "SquaredExponential": smooth,
    "Exponential": lambda: gpflow.kernels.Exponential(0.7, [0.9, 1.3]),
    "Matern12": gpflow.kernels.Matern12,
    "Matern32": lambda: gpflow.kernels.Matern32(lengthscales=[0.9, 1.3]),
    "Matern52": gpflow.kernels.Matern52,
    "RationalQuadratic": lambda: gpflow.kernels.RationalQuadratic(0.7, [0.9, 1.3], 2.0),
    "Cosine": lambda: gpflow.kernels.Cosine(lengthscales=[0.9, 1.3]),
    "Constant": gpflow.kernels.Constant,
    "White": gpflow.kernels.White,
    "Linear": lambda: gpflow.kernels.Linear([0.7, 0.9]),
    "Polynomial": lambda: gpflow.kernels.Polynomial(2.0, [0.7, 0.9]),
    "ArcCosine": lambda: gpflow.kernels.ArcCosine(1, weight_variances=[0.7, 0.9]),
    "Periodic": lambda: gpflow.kernels.Periodic(smooth(), [0.9, 1.1]),
    "Sum": lambda: smooth() + gpflow.kernels.Linear(active_dims=[1]),
    "Product": lambda: smooth() * (gpflow.kernels.Linear() + gpflow.kernels.Periodic(smooth())),
    "ChangePoints": lambda: gpflow.kernels.ChangePoints(
        [gpflow.kernels.Matern32(), gpflow.kernels.Linear()], [0.1], 3.0
    ),
    "line with location": lambda: Linear(0.7, [0.3, -1.0]),
    "family": lambda: FamilyKernel(family_of("PER0"), period=1.3, lengthscales=[0.5, 1.0]),
    "scaled": lambda: Scaled(smooth(), 3.0),
    "convex sum": lambda: ConvexSum([smooth(), Linear(), gpflow.kernels.Matern12()]),
    "change point": lambda: ChangePoint([smooth(), Linear()], 0.2, 3.0, weights=[0.1, 0.9]),
    "change window": lambda: ChangeWindow([smooth(), Linear()], 0.2, 3.0, 0.8, column=1),
}

LIKELIHOODS: dict[str, Callable[[], gpflow.likelihoods.Likelihood]] = {
    "Gaussian": lambda: gpflow.likelihoods.Gaussian(0.3),
    "Gaussian by scale": lambda: gpflow.likelihoods.Gaussian(scale=0.3),
    "Gaussian by function": lambda: gpflow.likelihoods.Gaussian(
        scale=gpflow.functions.Linear([[0.1], [0.2]], 2.0)
    ),
    "StudentT": lambda: gpflow.likelihoods.StudentT(0.3),
    "Beta": gpflow.likelihoods.Beta,
    "Gamma": gpflow.likelihoods.Gamma,
}

MAKERS: dict[str, Callable[[], tf.Module]] = {**KERNELS, **LIKELIHOODS}


def inputs_of(kernel: Kernel) -> np.ndarray:
    return X[:, :1] if isinstance(kernel, gpflow.kernels.ChangePoints) else X


def summary(module: tf.Module) -> tf.Tensor:
    """A number that depends on all parameters of a kernel or a likelihood."""
    if isinstance(module, Kernel):
        A = inputs_of(module)
        return tf.reduce_sum(tf.square(module(A) + module(A, full_cov=False)))
    return tf.reduce_sum(module.variational_expectations(X, X[:, :1], X[:, 1:] ** 2, Y))


def vector_of(module: tf.Module) -> ParameterVector:
    return ParameterVector(trainable_parameters(kernel=module))


def shifted(vector: ParameterVector) -> tf.Tensor:
    return vector.read() + np.linspace(-0.3, 0.2, len(vector))


@pytest.fixture(params=MAKERS, ids=lambda name: name.replace(" ", "_"))
def module(request: pytest.FixtureRequest) -> tf.Module:
    return MAKERS[request.param]()


def value_and_gradient(
    module: tf.Module, vector: ParameterVector, theta: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    with tf.GradientTape() as tape:
        tape.watch(theta)
        with vector.at(theta):
            value = summary(module)
    return value, tape.gradient(value, theta)


def test_at__gives_the_value_and_gradient_of_assigned_parameters(module: tf.Module) -> None:
    vector = vector_of(module)
    theta = shifted(vector)
    value, gradient = value_and_gradient(module, vector, theta)
    assert value != summary(module)

    vector.assign(theta)
    variables = [parameter.unconstrained_variable for parameter in vector]
    with tf.GradientTape() as tape:
        expected = summary(module)
    parts = tape.gradient(expected, variables)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(
        gradient, np.concatenate([np.ravel(part) for part in parts]), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("name", ["Product", "ChangePoints", "convex sum", "StudentT"])
def test_at__works_while_tracing_and_leaves_no_tensor_behind(name: str) -> None:
    module = MAKERS[name]()
    vector = vector_of(module)
    theta = shifted(vector)
    before = summary(module)
    compiled = tf.function(lambda values: value_and_gradient(module, vector, values))
    for expected, found in zip(
        value_and_gradient(module, vector, theta), compiled(theta), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(summary(module), before)


def test_at__gives_variables_back_after_an_error() -> None:
    kernel = smooth()
    vector = vector_of(kernel)
    variables = [parameter.unconstrained_variable for parameter in vector]
    with pytest.raises(ZeroDivisionError), vector.at(shifted(vector)):
        raise ZeroDivisionError
    assert all(p.unconstrained_variable is v for p, v in zip(vector, variables, strict=True))
    assert len(kernel.trainable_variables) == 2


def test_at__can_be_nested() -> None:
    kernel = smooth()
    vector = vector_of(kernel)
    start, outer, inner = (vector.read() + shift for shift in (0.0, 1.0, 2.0))
    with vector.at(outer):
        with vector.at(inner):
            np.testing.assert_allclose(vector.read(), inner)
        np.testing.assert_allclose(vector.read(), outer)
    np.testing.assert_allclose(vector.read(), start)


def test_at__keeps_what_parameters_say_of_themselves() -> None:
    kernel = smooth()
    vector = vector_of(kernel)
    with vector.at(shifted(vector)):
        assert kernel.ard
        assert kernel.lengthscales.shape == (2,)
        assert kernel.lengthscales.transform is not None


def test_vector__names_every_number_by_its_path() -> None:
    kernel = smooth() + gpflow.kernels.Constant()
    parameters = trainable_parameters(kernel=kernel, likelihood=gpflow.likelihoods.Gaussian())
    assert ParameterVector(parameters).names == (
        ".kernel.kernels[0].variance",
        ".kernel.kernels[0].lengthscales[0]",
        ".kernel.kernels[0].lengthscales[1]",
        ".kernel.kernels[1].variance",
        ".likelihood.variance",
    )


def test_vector__counts_unconstrained_numbers() -> None:
    weights = vector_of(ConvexSum([gpflow.kernels.Constant()] * 3))
    assert weights.names == (
        ".kernel.kernels[0].variance",
        ".kernel.weights[0]",
        ".kernel.weights[1]",
    )
    assert len(weights) == 3


def test_trainable_parameters__leaves_out_fixed_ones() -> None:
    kernel = smooth()
    gpflow.set_trainable(kernel.variance, False)
    assert list(trainable_parameters(kernel=kernel)) == [".kernel.lengthscales"]


def test_trainable_parameters__counts_shared_ones_once() -> None:
    kernel = smooth()
    both = kernel + gpflow.kernels.Product([kernel, gpflow.kernels.Linear()])
    vector = vector_of(both)
    assert len(vector) == 4
    expected = summary(both)
    vector.assign(vector.read() + 0.5)
    with vector.at(vector.read() - 0.5):
        np.testing.assert_allclose(summary(both), expected, rtol=1e-12)


def test_set_trainable__reaches_every_parameter() -> None:
    kernel = smooth()
    vector = vector_of(kernel)
    vector.set_trainable(False)
    assert kernel.trainable_variables == ()
    vector.set_trainable(True)
    assert len(kernel.trainable_variables) == 2

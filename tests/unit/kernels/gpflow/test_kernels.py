from __future__ import annotations

from collections.abc import Callable

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from gpflow.kernels import Constant, Kernel, SquaredExponential
from scipy.special import expit, ive

from vbks.errors import GrammarError
from vbks.grammar.families import FamilyRules
from vbks.kernels.family import Family
from vbks.kernels.gpflow.kernels import (
    ChangePoint,
    ChangeWindow,
    ConvexSum,
    FamilyKernel,
    Scaled,
)
from vbks.kernels.gpflow.linear import Linear
from vbks.kernels.parameters import NormalPrior, Parameter
from vbks.kernels.registry import family_of

X = np.random.default_rng(0).normal(size=(6, 3))
X2 = np.random.default_rng(1).normal(size=(4, 3))

RIDGE = Family(
    FamilyRules("RIDGE", stationary=False),
    lambda X1, X2, slope, width: tf.exp(
        -0.5 * tf.square(tf.reduce_sum((X1 - X2) * slope, axis=-1) / width)
    ),
    (
        Parameter("slope", NormalPrior(0.4, 1.0), positive=False, per_input=True),
        Parameter("width", NormalPrior(0.7, 1.0)),
    ),
)


def smooth(*dims: int) -> Kernel:
    return SquaredExponential(0.7, 0.9, active_dims=list(dims))


MAKERS: dict[str, Callable[[], Kernel]] = {
    "linear": lambda: Linear(0.7, [0.3, -1.0, 2.0]),
    "linear on two inputs": lambda: Linear(0.7, 0.3, active_dims=[0, 2]),
    "PER0": lambda: FamilyKernel(family_of("PER0"), 0.7, period=1.3, lengthscales=[0.5, 1.0, 2.0]),
    "ridge": lambda: FamilyKernel(RIDGE, 0.7, slope=[0.5, -1.0, 2.0]),
    "scaled": lambda: Scaled(smooth(1), 3.0),
    "convex sum": lambda: ConvexSum([smooth(0), Linear(), Constant()], [0.2, 0.3, 0.5]),
    "change point": lambda: ChangePoint([smooth(0), Linear()], 0.2, 3.0, column=1),
    "change window": lambda: ChangeWindow([smooth(0), Linear()], 0.2, 3.0, 0.8, column=2),
    "weighted change": lambda: ChangePoint([smooth(0), Linear()], column=1, weights=[0.1, 0.9]),
}


@pytest.fixture(params=MAKERS, ids=lambda name: name.replace(" ", "_"))
def kernel(request: pytest.FixtureRequest) -> Kernel:
    return MAKERS[request.param]()


def pairwise(kernel: Kernel, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Every pair of rows by itself."""
    return np.array([[kernel(a[None], b[None]).numpy().item() for b in B] for a in A])


def test_kernel__of_two_sets_is_the_kernel_of_each_pair(kernel: Kernel) -> None:
    A, B = X[:3], X2[:2]
    np.testing.assert_allclose(kernel(A, B), pairwise(kernel, A, B), rtol=1e-12, atol=1e-12)


def test_kernel__of_one_set_is_the_kernel_with_itself(kernel: Kernel) -> None:
    np.testing.assert_allclose(kernel(X), kernel(X, X), rtol=1e-12, atol=1e-12)


def test_kernel__without_covariances_is_the_diagonal(kernel: Kernel) -> None:
    diagonal = np.diag(kernel(X).numpy())
    np.testing.assert_allclose(kernel(X, full_cov=False), diagonal, rtol=1e-12, atol=1e-12)


def test_kernel__is_positive_semi_definite(kernel: Kernel) -> None:
    eigenvalues = np.linalg.eigvalsh(kernel(np.vstack([X, X2])).numpy())
    assert eigenvalues.min() > -1e-12 * eigenvalues.max()


def test_kernel__takes_batches_as_gpflow_does(kernel: Kernel) -> None:
    many, others = X.reshape(2, 1, 3, 3), X2.reshape(2, 2, 3)
    within = np.array([[kernel(rows).numpy() for rows in batch] for batch in many])
    between = kernel(X, X2).numpy().reshape(2, 1, 3, 2, 2)
    diagonal = kernel(X, full_cov=False).numpy().reshape(2, 1, 3)
    np.testing.assert_allclose(kernel(many), within, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(many, others), between, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(many, full_cov=False), diagonal, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["linear", "PER0", "change window"])
def test_kernel__compiles_for_any_number_of_rows(name: str) -> None:
    kernel = MAKERS[name]()
    rows = tf.TensorSpec([None, 3], tf.float64)
    compiled = tf.function(lambda A, B: (kernel(A, B), kernel(A)), input_signature=[rows, rows])
    np.testing.assert_allclose(compiled(X, X2)[0], kernel(X, X2), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(compiled(X2, X)[1], kernel(X2), rtol=1e-12, atol=1e-12)


def test_kernel__has_a_gradient_for_every_trainable_parameter(kernel: Kernel) -> None:
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(tf.square(kernel(X, X2)))
    gradients = tape.gradient(value, kernel.trainable_variables)
    assert len(gradients) >= 2
    assert all(np.all(np.isfinite(gradient)) for gradient in gradients)


def test_kernel__stores_logarithms_of_positive_parameters(kernel: Kernel) -> None:
    for name in ("variance", "steepness", "width", "lengthscales", "period"):
        if hasattr(kernel, name):
            parameter = getattr(kernel, name)
            np.testing.assert_allclose(
                parameter.unconstrained_variable, np.log(parameter.numpy()), atol=1e-12
            )


@pytest.mark.parametrize("lengthscale", [0.2, 1.0, 3.0])
def test_family_kernel__computes_the_family_of_its_formula(lengthscale: float) -> None:
    kernel = FamilyKernel(family_of("PER0"), 0.7, [1], lengthscales=lengthscale, period=1.3)
    sharpness = lengthscale**-2
    sine = np.sin(np.pi * (X[:, 1:2] - X2[:, 1]) / 1.3)
    mean = ive(0, sharpness)
    expected = 0.7 * (np.exp(-2 * sharpness * sine**2) - mean) / (1 - mean)
    np.testing.assert_allclose(kernel(X, X2), expected, atol=1e-12)


def test_family_kernel__gives_each_input_a_shared_number() -> None:
    shared = FamilyKernel(RIDGE, slope=0.5)
    np.testing.assert_allclose(
        shared(X, X2), FamilyKernel(RIDGE, slope=[0.5, 0.5, 0.5])(X, X2), rtol=1e-12
    )


def test_family_kernel__starts_at_the_prior_means() -> None:
    kernel = FamilyKernel(RIDGE)
    assert kernel.slope.numpy() == pytest.approx(0.4)
    assert kernel.width.numpy() == pytest.approx(np.exp(0.7))


def test_family_kernel__does_not_make_a_matrix_for_its_diagonal() -> None:
    rows = np.zeros((200_000, 1))
    assert FamilyKernel(family_of("PER0"))(rows, full_cov=False).shape == (200_000,)


def test_family_kernel__refuses_a_parameter_that_the_family_lacks() -> None:
    with pytest.raises(GrammarError, match=r"'RIDGE' has no parameter 'period'\. Known: slope, w"):
        FamilyKernel(RIDGE, period=1.0)


def test_family_kernel__refuses_a_name_that_kernels_use() -> None:
    family = Family(RIDGE.rules, RIDGE.formula, (Parameter("variance", NormalPrior(0.0, 1.0)),))
    with pytest.raises(GrammarError, match="attribute 'variance' already"):
        FamilyKernel(family)


def test_scaled__stays_whole_inside_a_product() -> None:
    scaled = Scaled(smooth(0) * smooth(1), 3.0)
    assert (scaled * smooth(2)).kernels[0] is scaled
    np.testing.assert_allclose(scaled(X, X2), 3.0 * (smooth(0) * smooth(1))(X, X2), rtol=1e-12)


def test_convex_sum__weighs_its_kernels() -> None:
    total = ConvexSum([smooth(0), Linear()], [0.2, 0.8])(X, X2)
    np.testing.assert_allclose(total, 0.2 * smooth(0)(X, X2) + 0.8 * Linear()(X, X2), rtol=1e-12)


def test_convex_sum__stores_log_odds_against_the_last_kernel() -> None:
    weights = ConvexSum([smooth(0), smooth(1), smooth(2)]).weights
    np.testing.assert_allclose(weights, np.full(3, 1 / 3), rtol=1e-12)
    weights.unconstrained_variable.assign([0.5, -2.0])
    expected = np.exp([0.5, -2.0, 0.0])
    np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-12)


def test_convex_sum__stays_whole_inside_a_sum_and_itself() -> None:
    inner = ConvexSum([smooth(0), smooth(1)])
    assert (inner + smooth(2)).kernels[0] is inner
    assert ConvexSum([inner, smooth(2)]).kernels[0] is inner


def test_convex_sum__needs_a_weight_for_each_kernel() -> None:
    with pytest.raises(GrammarError, match="3 kernels need as many weights, got weights of shape"):
        ConvexSum([smooth(0), smooth(1), smooth(2)], [0.5, 0.5])


def test_change_point__is_gpflow_change_points_on_one_input() -> None:
    parts = [SquaredExponential(0.7, 0.9), Linear(0.5, 1.0)]
    twin = gpflow.kernels.ChangePoints(parts, [0.2], 3.0)
    column, other = X[:, :1], X2[:, :1]
    for full_cov in (True, False):
        np.testing.assert_allclose(
            ChangePoint(parts, 0.2, 3.0)(column, full_cov=full_cov),
            twin(column, full_cov=full_cov),
            rtol=1e-12,
        )
    np.testing.assert_allclose(
        ChangePoint(parts, 0.2, 3.0)(column, other), twin(column, other), rtol=1e-12
    )


def test_change_point__looks_at_one_column_and_its_kernels_at_their_own() -> None:
    kernel = ChangePoint([smooth(0), smooth(2)], 0.2, 3.0, column=1)
    after, after2 = expit(3.0 * (X[:, 1:2] - 0.2)), expit(3.0 * (X2[:, 1] - 0.2))
    expected = (1 - after) * (1 - after2) * smooth(0)(X, X2) + after * after2 * smooth(2)(X, X2)
    np.testing.assert_allclose(kernel(X, X2), expected, rtol=1e-12)


def test_change_window__is_one_kernel_inside_and_the_other_outside() -> None:
    kernel = ChangeWindow([smooth(0), smooth(2)], 0.2, 3.0, 0.8, column=1)

    def inside(x: np.ndarray) -> np.ndarray:
        return np.asarray(expit(3.0 * (x - 0.2 + 0.4)) * expit(3.0 * (0.2 + 0.4 - x)))

    a, b = inside(X[:, 1:2]), inside(X2[:, 1])
    expected = (1 - a) * (1 - b) * smooth(0)(X, X2) + a * b * smooth(2)(X, X2)
    np.testing.assert_allclose(kernel(X, X2), expected, rtol=1e-12)


@pytest.mark.parametrize("operator", [ChangePoint, ChangeWindow])
def test_change__with_weights_scales_both_kernels(operator: type[ChangePoint]) -> None:
    plain = operator([Scaled(smooth(0), 0.3), Scaled(smooth(1), 0.7)], 0.2, 3.0)
    weighted = operator([smooth(0), smooth(1)], 0.2, 3.0, weights=[0.3, 0.7])
    np.testing.assert_allclose(weighted(X, X2), plain(X, X2), rtol=1e-12)


@pytest.mark.parametrize("operator", [ChangePoint, ChangeWindow])
def test_change__is_between_two_kernels(operator: type[ChangePoint]) -> None:
    with pytest.raises(GrammarError, match="between two kernels, got 3"):
        operator([smooth(0), smooth(1), smooth(2)])


def test_change__stays_whole_inside_another_change() -> None:
    inner = ChangePoint([smooth(0), smooth(1)])
    assert ChangePoint([inner, smooth(2)]).kernels[0] is inner

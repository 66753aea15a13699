import numpy as np
import pytest
import tensorflow as tf
from reference import kernel_matrix

from vbks.inference import (
    ExactEvidence,
    FixedTheta,
    NaturalParameters,
    information,
    make_likelihood,
)
from vbks.inference.information import STEP, conditional_information, expected_information
from vbks.kernels import Bank, lay_out

EXPRESSIONS = ("SE", "C", "SE * PER + LIN", "LIN + WN * LIN")
JITTER = 1e-6
RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-2, 2, size=(14, 1)), axis=0)
Y = np.sin(2 * X[:, 0]) + 0.3 * RNG.normal(size=14)
Z = X[::3]


def draw(bank):
    return 0.3 * np.random.default_rng(1).normal(size=(len(bank), bank.num_slots))


def covariance(layout, theta, rows):
    """White noise in the expression is the noise, so a matrix of the same rows has it already."""
    K = kernel_matrix(layout, theta, rows)
    has_noise = "WN" in str(layout.expression) and "WN *" not in str(layout.expression)
    return K + (0.0 if has_noise else np.exp(theta[0]) * np.eye(len(rows)))


def derivatives(function, theta, step=1e-5):
    """Central differences of a function of θ [H], one for each slot."""
    steps = step * np.eye(len(theta))
    return np.array([(function(theta + s) - function(theta - s)) / (2 * step) for s in steps])


def twin(layout, theta, rows):
    """½ tr(C⁻¹ ∂C C⁻¹ ∂C), one pair of slots at a time."""
    C = covariance(layout, theta, rows) + JITTER * np.eye(len(rows))
    changes = derivatives(lambda t: covariance(layout, t, rows), theta)
    scaled = [np.linalg.solve(C, change) for change in changes]
    return np.array([[0.5 * np.trace(one @ other) for other in scaled] for one in scaled])


def test_expected_information__equals_the_naive_trace():
    bank = Bank(EXPRESSIONS)
    theta = draw(bank)
    found = expected_information(bank, theta, X, len(X), JITTER)
    for k, layout in enumerate(bank.layouts):
        H = len(layout)
        expected = twin(layout, theta[k, :H], X)
        sizes = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        np.testing.assert_allclose(found[k, :H, :H] / sizes, expected / sizes, atol=2e-3)
        assert (found[k, H:] == 0).all()
        assert (found[k, :, H:] == 0).all()


def test_rows_beyond_the_sample__count_as_repeats_of_it():
    layout = lay_out("SE + LIN")
    theta = draw(Bank(["SE + LIN"]))
    found = expected_information(Bank(["SE + LIN"]), theta, X, 3 * len(X), 0.0)
    expected = twin(layout, theta[0], np.repeat(X, 3, axis=0))
    np.testing.assert_allclose(found[0], expected, rtol=2e-3, atol=1e-3)


def test_expected_information__is_symmetric_and_not_negative():
    bank = Bank(EXPRESSIONS)
    for num_rows in (len(X), 1000):
        found = expected_information(bank, draw(bank), X, num_rows, JITTER)
        np.testing.assert_allclose(found, found.swapaxes(1, 2), rtol=1e-10)
        assert np.linalg.eigvalsh(found).min() > -1e-8 * np.abs(found).max()


def test_expected_information__is_the_mean_curvature_over_data_from_the_model():
    text, num_draws = "SE", 100
    bank, layout = Bank([text]), lay_out(text)
    theta = np.array([-1.5, 0.2, -0.3])
    steps = 1e-4 * np.concatenate([np.eye(3), -np.eye(3)])
    root = np.linalg.cholesky(covariance(layout, theta, X))
    draws = root @ np.random.default_rng(2).normal(size=(len(X), num_draws))
    curvatures = []
    for y in draws.T:
        moved = tf.constant((theta + steps)[np.newaxis])
        with tf.GradientTape() as tape:
            tape.watch(moved)
            value = ExactEvidence(X, y, JITTER)(bank, moved)
        up, down = np.split(tape.gradient(value, moved).numpy()[0], 2)
        curvatures.append((down - up) / 2e-4)
    mean = np.mean(curvatures, axis=0)
    error = np.std(curvatures, axis=0) / np.sqrt(num_draws)
    expected = expected_information(bank, theta[np.newaxis], X, len(X), JITTER)[0]
    assert (np.abs(mean - expected) < 3 * error + 0.01).all()
    assert (error < 0.2 * np.sqrt(np.outer(np.diag(expected), np.diag(expected)))).all()


def test_pieces__change_nothing(monkeypatch):
    bank = Bank(EXPRESSIONS)
    theta = draw(bank)
    whole = expected_information(bank, theta, X, 50, JITTER)
    monkeypatch.setattr(information, "ELEMENTS_AT_ONCE", len(X) ** 2)
    np.testing.assert_allclose(
        expected_information(bank, theta, X, 50, JITTER), whole, rtol=1e-7, atol=1e-7
    )


def stage(text, likelihood):
    """Marginals at θ and with a step in each slot as a function of θ, and a q(v) to hold."""
    bank, num_rows = Bank([text]), 2 * len(X)
    rng = np.random.default_rng(3)
    root = rng.normal(size=(1, len(Z), len(Z)))
    precision = np.eye(len(Z)) + root @ root.swapaxes(1, 2)
    linear = tf.constant(3 * rng.normal(size=(1, len(Z))))
    q = NaturalParameters(tf.constant(precision), linear).moments()

    def at(theta):
        return FixedTheta(bank, theta, tf.constant(Z), likelihood, num_rows, JITTER)

    def moved(theta):
        steps = np.concatenate([np.zeros((1, theta.shape[1])), STEP * np.eye(theta.shape[1])])
        return tuple(part.numpy() for part in at(theta[:, np.newaxis] + steps).marginals(X, q))

    return at, moved, draw(bank), num_rows, q


@pytest.mark.parametrize("text", ["SE", "SE + LIN"])
def test_conditional_information__equals_gauss_and_newton(text):
    likelihood = make_likelihood("gaussian")
    _, moved, theta, num_rows, q = stage(text, likelihood)
    layout, m = lay_out(text), q.mean.numpy()[0]

    def mean(own):
        """Of q(f) at all rows: Kfu L⁻ᵀ m."""
        L = np.linalg.cholesky(kernel_matrix(layout, own, Z) + JITTER * np.eye(len(Z)))
        return kernel_matrix(layout, own, X, Z) @ np.linalg.solve(L.T, m)

    slopes = derivatives(mean, theta[0])
    expected = slopes @ slopes.T / np.exp(theta[0, 0])
    expected[0, 0] += 0.5 * len(X)
    expected *= num_rows / len(X)
    found = conditional_information(moved(theta), Y, num_rows, likelihood)
    np.testing.assert_allclose(found[0], expected, rtol=2e-3, atol=1e-3 * expected.max())


def test_conditional_information__of_a_learned_parameter_is_its_curvature():
    likelihood = make_likelihood("student_t")
    at, moved, theta, num_rows, q = stage("SE", likelihood)
    found = conditional_information(moved(theta), Y, num_rows, likelihood)

    def value(change):
        there = theta.copy()
        there[:, 0] += change
        return at(there[:, np.newaxis]).value([(X, Y)], q)[0].numpy()[0, 0]

    curvature = -(value(1e-3) - 2 * value(0.0) + value(-1e-3)) / 1e-6
    np.testing.assert_allclose(found[0, 0, 0], max(curvature, 0.0), rtol=1e-2)


def test_conditional_information__of_a_parameter_that_is_idle_is_none():
    likelihood = make_likelihood("bernoulli")
    _, moved, theta, num_rows, _ = stage("SE", likelihood)
    found = conditional_information(moved(theta), 1.0 * (Y > 0), num_rows, likelihood)
    assert (found[0, 0] == 0).all()
    assert np.linalg.eigvalsh(found[0, 1:, 1:]).min() > 0

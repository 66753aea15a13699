import numpy as np
import tensorflow as tf
from support.reference import kernel_matrix

from vbks.inference.approximations import information
from vbks.inference.approximations.information import expected_information, parameter_information
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.inference.objectives.evidence import ExactEvidence
from vbks.kernels.bank.bank import Bank
from vbks.kernels.layout import lay_out

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


def test_parameter_information__is_the_curvature_of_the_bound():
    likelihood, rng = make_likelihood("student_t"), np.random.default_rng(3)
    mean, variance = rng.normal(size=(1, len(Y))), np.full((1, len(Y)), 0.1)

    def value(log_noise):
        moments = (tf.constant(part) for part in (mean, variance, np.exp(log_noise)))
        return float(tf.reduce_sum(likelihood.expectations(tf.constant(Y), *moments).value))

    here = np.full((1, len(Y)), -1.0)
    moments = (tf.constant(part) for part in (mean, variance, np.exp(here)))
    found = parameter_information(likelihood, tf.constant(Y), *moments)
    curvature = -(value(here + 1e-3) - 2 * value(here) + value(here - 1e-3)) / 1e-6
    np.testing.assert_allclose(found, max(curvature, 0.0), rtol=1e-2)


def test_parameter_information__of_a_parameter_that_is_idle_is_none():
    likelihood, ones = make_likelihood("bernoulli"), tf.ones((1, len(Y)), tf.float64)
    assert parameter_information(likelihood, tf.constant(1.0 * (Y > 0)), ones, ones, ones) == 0.0

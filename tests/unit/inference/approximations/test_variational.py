import numpy as np
import pytest

from vbks.grammar.parser import parse
from vbks.inference.approximations.laplace import Laplace, approximate
from vbks.inference.approximations.variational import entropy, maximise_bound
from vbks.inference.objectives.evidence import ExactEvidence
from vbks.inference.objectives.log_posterior import LogPosterior, maximise

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-1.7, 1.7, size=(20, 1)), axis=0)
Y = np.sin(3 * X[:, 0]) + 0.4 * RNG.normal(size=20)


class Parabolas:
    """Rows −½(θ−μ)ᵀΛ(θ−μ) + c over the first entries of θ, as a log density."""

    def __init__(self, sizes=(3, 3), seed=1):
        rng = np.random.default_rng(seed)
        R, H = len(sizes), max(sizes)
        self.used = np.arange(H) < np.array(sizes)[:, None]
        root = rng.normal(size=(R, H, H))
        precision = 0.5 * np.eye(H) + root @ root.swapaxes(1, 2)
        both = self.used[:, :, None] & self.used[:, None]
        self.precision = np.where(both, precision, np.eye(H))
        self.mean = rng.normal(size=(R, H)) * self.used
        self.constant = 5.0 * rng.normal(size=R)

    def __call__(self, rows, theta):
        distance = (theta - self.mean[rows]) * self.used[rows]
        slope = -np.einsum("rhj,rj->rh", self.precision[rows], distance)
        return self.constant[rows] + 0.5 * np.einsum("rh,rh->r", slope, distance), slope

    @property
    def covariance(self):
        both = self.used[:, :, None] & self.used[:, None]
        return np.where(both, np.linalg.inv(self.precision), 0.0)

    @property
    def log_evidence(self):
        log_det = np.linalg.slogdet(self.precision)[1]
        return self.constant + 0.5 * (self.used.sum(axis=1) * np.log(2 * np.pi) - log_det)

    def laplace(self, shift=0.0, wider=1.0):
        """Laplace's Gaussian, or one beside it and wider."""
        both = self.used[:, :, None] & self.used[:, None]
        precision = np.where(both, self.precision / wider, np.eye(self.used.shape[1]))
        factor = np.linalg.cholesky(np.linalg.inv(precision)) * self.used[:, :, None]
        mean = (self.mean + shift) * self.used
        value, _ = self(np.arange(len(mean)), mean)
        return Laplace(mean, factor, precision, self.used, value, np.zeros(len(mean)))


def covariance(q):
    return q.factor @ q.factor.swapaxes(1, 2)


def bound_by_samples(log_density, q, used, num=1500):
    """E_q log p(y, θ) + H(q) of every row and its standard error, by plain sampling."""
    eta = np.random.default_rng(7).normal(size=(num, q.mean.shape[1]))
    values, errors = [], []
    for row, (mean, factor) in enumerate(zip(q.mean, q.factor, strict=True)):
        value, _ = log_density(np.full(num, row), mean + eta @ factor.T)
        values.append(value.mean())
        errors.append(value.std() / np.sqrt(num))
    return np.array(values) + entropy(q.factor, used), np.array(errors)


def posterior_and_laplace(*texts):
    posterior = LogPosterior([parse(text) for text in texts], 1, ExactEvidence(X, Y))
    found = maximise(posterior, np.zeros((len(texts), posterior.num_slots)))
    return posterior, approximate(posterior, found.x)


def log_evidence_by_quadrature(posterior, laplace):
    """Over a grid of the two numbers that C has."""
    sd = np.linalg.norm(laplace.factor[0], axis=1)
    grids = [
        np.linspace(m - 8 * s, m + 8 * s, 81) for m, s in zip(laplace.mean[0], sd, strict=True)
    ]
    points = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, 2)
    value, _ = posterior(np.zeros(len(points), int), points)
    cell = np.prod([grid[1] - grid[0] for grid in grids])
    return np.log(np.exp(value - value.max()).sum() * cell) + value.max()


def test_parabola__gives_its_gaussian_and_its_integral():
    parabolas = Parabolas(sizes=(3, 3))
    q = maximise_bound(parabolas, parabolas.laplace(), np.random.default_rng(0), diagonal=False)
    np.testing.assert_allclose(q.elbo, parabolas.log_evidence, atol=1e-6)
    np.testing.assert_allclose(q.mean, parabolas.mean, atol=1e-6)
    np.testing.assert_allclose(covariance(q), parabolas.covariance, atol=1e-6)
    np.testing.assert_allclose(q.standard_error, 0.0, atol=1e-6)


def test_parabola__is_found_from_a_gaussian_beside_it():
    parabolas = Parabolas(sizes=(3, 3, 3))
    start = parabolas.laplace(shift=0.3, wider=3.0)
    q = maximise_bound(parabolas, start, np.random.default_rng(0), diagonal=False)
    elbo, error = bound_by_samples(parabolas, q, parabolas.used)
    assert (elbo < parabolas.log_evidence + 3 * error).all()
    assert (elbo > parabolas.log_evidence - 0.1).all()


def test_diagonal_covariance__of_a_parabola_is_the_inverse_of_the_precisions():
    parabolas = Parabolas(sizes=(3, 3))
    q = maximise_bound(parabolas, parabolas.laplace(), np.random.default_rng(0), diagonal=True)
    expected = np.einsum("rhh->rh", parabolas.precision) ** -1
    np.testing.assert_allclose(covariance(q), expected[..., None] * np.eye(3), atol=1e-6)
    np.testing.assert_allclose(q.mean, parabolas.mean, atol=1e-6)
    assert (q.elbo < parabolas.log_evidence).all()


def test_bound__is_below_the_evidence_and_close_to_it():
    posterior, laplace = posterior_and_laplace("C")
    assert posterior.num_slots == 2
    q = maximise_bound(posterior, laplace, np.random.default_rng(0), diagonal=False)
    expected = log_evidence_by_quadrature(posterior, laplace)
    elbo, error = bound_by_samples(posterior, q, laplace.used)
    assert elbo[0] < expected + 3 * error[0]
    assert elbo[0] > expected - 0.5
    assert abs(q.elbo[0] - elbo[0]) < 3 * np.hypot(q.standard_error[0], error[0])


def test_bound__is_not_below_that_of_laplace_nor_diagonal_above_full():
    posterior, laplace = posterior_and_laplace("C", "SE", "LIN", "SE * LIN")
    full, diagonal = (
        maximise_bound(posterior, laplace, np.random.default_rng(0), diagonal=flag)
        for flag in (False, True)
    )
    used = laplace.used
    of_full, error = bound_by_samples(posterior, full, used)
    of_diagonal, diagonal_error = bound_by_samples(posterior, diagonal, used)
    of_laplace, laplace_error = bound_by_samples(posterior, laplace, used)
    assert (of_diagonal < of_full + 3 * np.hypot(error, diagonal_error)).all()
    assert (of_laplace < of_full + 3 * np.hypot(error, laplace_error)).all()
    squares = covariance(diagonal)
    np.testing.assert_array_equal(squares, squares * np.eye(squares.shape[1]))


@pytest.mark.parametrize("diagonal", [True, False])
def test_entries_that_are_not_used__stay_zero(diagonal):
    posterior, laplace = posterior_and_laplace("C", "SE * PER")
    q = maximise_bound(posterior, laplace, np.random.default_rng(0), diagonal=diagonal)
    assert (q.mean[0, 2:] == 0).all()
    assert (q.factor[0, 2:] == 0).all()
    assert (np.abs(q.factor[1]).max(axis=1) > 0).all()


@pytest.mark.parametrize("diagonal", [True, False])
def test_row_beside_a_longer_one__ends_where_it_ends_alone(diagonal):
    alone = posterior_and_laplace("SE")
    beside = posterior_and_laplace("SE", "SE * PER + LIN")
    one, two = (
        maximise_bound(*both, np.random.default_rng(0), diagonal=diagonal)
        for both in (alone, beside)
    )
    assert np.abs(one.mean[0] - alone[1].mean[0]).max() > 0.01  # there is something to gain
    np.testing.assert_allclose(two.mean[0, :3], one.mean[0], atol=1e-4)
    np.testing.assert_allclose(covariance(two)[0, :3, :3], covariance(one)[0], atol=1e-4)


def test_row_that_is_not_a_number__disturbs_no_other():
    parabolas = Parabolas(sizes=(3, 3, 3))
    start = parabolas.laplace(shift=0.2, wider=2.0)
    good = maximise_bound(parabolas, start, np.random.default_rng(0), diagonal=False)

    def broken(rows, theta):
        value, slope = parabolas(rows, theta)
        return np.where(rows == 1, np.nan, value), np.where(rows[:, None] == 1, np.nan, slope)

    q = maximise_bound(broken, start, np.random.default_rng(0), diagonal=False)
    assert np.isnan(q.elbo[1])
    others = np.array([0, 2])
    for field in ("mean", "factor", "elbo", "standard_error"):
        np.testing.assert_array_equal(getattr(q, field)[others], getattr(good, field)[others])


def test_entropy__is_that_of_a_normal_over_used_entries():
    parabolas = Parabolas(sizes=(3, 2))
    factor = parabolas.laplace().factor
    expected = [
        0.5 * np.linalg.slogdet(2 * np.pi * np.e * parabolas.covariance[row, :h, :h])[1]
        for row, h in enumerate((3, 2))
    ]
    np.testing.assert_allclose(entropy(factor, parabolas.used), expected, atol=1e-10)


class Cliff(Parabolas):
    """Parabolas that fall far more steeply away from the middle, in the first direction."""

    def __call__(self, rows, theta):
        value, slope = super().__call__(rows, theta)
        distance = theta[:, 0] - self.mean[rows, 0]
        slope[:, 0] -= 4e4 * distance**3
        return value - 1e4 * distance**4, slope


def test_density_that_falls_off_a_cliff__has_a_narrow_gaussian():
    """Laplace's Gaussian sees nothing of the cliff, and its own bound is thousands of nats off."""
    density = Cliff(sizes=(3,))
    found = maximise_bound(density, density.laplace(), np.random.default_rng(0), diagonal=False)
    rng = np.random.default_rng(1)
    factor = density.laplace().factor[0]
    theta = density.mean[0] + 0.2 * rng.normal(size=(400_000, 3)) @ factor.T
    log_q = -0.5 * ((theta - density.mean[0]) @ np.linalg.inv(0.2 * factor).T) ** 2
    log_q = log_q.sum(axis=1) - np.log(np.diag(0.2 * factor)).sum() - 1.5 * np.log(2 * np.pi)
    value, _ = density(np.zeros(len(theta), int), theta)
    weights = value - log_q
    log_evidence = np.log(np.mean(np.exp(weights - weights.max()))) + weights.max()
    assert found.elbo[0] > log_evidence - 1.5

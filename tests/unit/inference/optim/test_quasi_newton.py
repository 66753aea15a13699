import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from vbks.inference.optim.quasi_newton import minimise


def rosenbrock(rows, x):
    return np.array([rosen(v) for v in x]), np.array([rosen_der(v) for v in x])


def test_rows__end_where_scipy_ends():
    starts = np.random.default_rng(0).normal(size=(20, 4))
    found = minimise(rosenbrock, starts, max_evaluations=500, tolerance=1e-10)
    assert found.converged.all()
    for start, loss in zip(starts, found.loss, strict=True):
        theirs = minimize(rosen, start, jac=rosen_der, method="L-BFGS-B").fun
        assert loss < theirs + 1e-6 or abs(loss - 3.7014) < 1e-3  # the other minimum
    np.testing.assert_allclose(found.gradient, 0, atol=1e-3)


def test_rows__do_not_depend_on_each_other():
    starts = np.random.default_rng(1).normal(size=(6, 3))
    together = minimise(rosenbrock, starts, max_evaluations=60)
    alone = [minimise(rosenbrock, start[None], max_evaluations=60).x[0] for start in starts]
    np.testing.assert_array_equal(together.x, alone)


def test_rows_that_are_done__are_not_evaluated_again():
    seen = []

    def loss(rows, x):
        seen.append(set(rows))
        scale = np.where(rows == 0, 1.0, 100.0)
        return scale * (x**4).sum(axis=1), 4 * scale[:, None] * x**3

    minimise(loss, np.array([[1e-6, 0.0], [3.0, -2.0]]), tolerance=1e-8)
    assert seen[0] == {0, 1}
    assert seen[-1] == {1}


def test_value_that_is_not_finite__stops_only_its_row():
    def loss(rows, x):
        value = (x**2).sum(axis=1)
        return np.where(rows == 1, np.nan, value), 2 * x

    found = minimise(loss, np.ones((3, 2)))
    assert list(found.converged) == [True, False, True]
    np.testing.assert_allclose(found.loss[[0, 2]], 0, atol=1e-6)
    np.testing.assert_array_equal(found.x[1], 1)


def test_wall_of_infinities__is_not_crossed():
    def loss(rows, x):
        value = np.where(x[:, 0] > 0, x[:, 0] - np.log(np.maximum(x[:, 0], 1e-300)), np.inf)
        return value, 1 - 1 / x

    found = minimise(loss, np.array([[0.01], [5.0]]), max_evaluations=200, tolerance=1e-9)
    np.testing.assert_allclose(found.x, 1, atol=1e-3)


@pytest.mark.parametrize("evaluations", [1, 2, 7])
def test_evaluations__are_limited(evaluations):
    calls = []

    def loss(rows, x):
        calls.append(1)
        return rosenbrock(rows, x)

    found = minimise(loss, np.zeros((2, 3)), max_evaluations=evaluations)
    assert len(calls) == evaluations == found.evaluations

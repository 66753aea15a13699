"""The maximum mean discrepancy, beside a double loop over rows and a sum over draws."""

import numpy as np
import pytest
from support.residuals import make_residuals, share_above

from vbks.criticism.checks.two_sample import (
    WIDTH,
    features,
    kernel_of_inputs,
    measure_two_sample,
)

N = 60


def test_features__have_products_that_are_the_kernel_less_its_expectations():
    z = np.array([-1.3, 0.2, 2.5])
    draws = np.random.default_rng(0).standard_normal(400_000)

    def kernel(a, b):
        return np.exp(-0.5 * np.subtract.outer(a, b) ** 2 / WIDTH**2)

    own = kernel(z, draws).mean(axis=1)
    both = kernel(draws[:2000], draws[2000:4000]).mean()
    expected = kernel(z, z) - own[:, np.newaxis] - own + both
    np.testing.assert_allclose(features(z) @ features(z).T, expected, atol=0.01)


def test_statistic__is_that_of_a_double_loop():
    z = np.random.default_rng(1).standard_normal(N) * 1.5
    residuals = make_residuals(np.arange(N), z, np.eye(N), num=2)
    kernel, bumps = kernel_of_inputs(residuals.rows.ranks), features(residuals.z[0])
    naive = sum(kernel[i, j] * (bumps[i] @ bumps[j]) for i in range(N) for j in range(N)) / N
    assert measure_two_sample(residuals).values[0] == pytest.approx(naive, rel=1e-3)


def test_residuals_that_differ_somewhere__are_found_there():
    z = np.random.default_rng(0).standard_normal(N)
    z[20:30] = 0.05 * z[20:30] + 1.5
    found = measure_two_sample(make_residuals(np.arange(N), z, np.eye(N)))
    assert share_above(found) < 0.01
    assert any(f"at {place} months" in found.finding for place in range(18, 32))

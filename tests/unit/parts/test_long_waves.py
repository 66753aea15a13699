"""Long waves of RQ and OU, against integrals over the lengthscales that they are made of."""

import numpy as np
import pytest
from scipy import integrate, stats

from vbks.kernels.layout import lay_out
from vbks.parts.kernels import TermKernels
from vbks.parts.long_waves import long_share, long_waves, typical_lengthscales

LIMIT, LENGTHSCALE, ALPHA = 0.5, 0.7, 0.6
VALUES = {
    "RQ": {"lengthscales": np.array([LENGTHSCALE]), "alpha": np.array([ALPHA])},
    "OU": {"lengthscales": np.array([LENGTHSCALE])},
}
PRECISIONS = {
    "RQ": stats.gamma(ALPHA, scale=1.0 / (ALPHA * LENGTHSCALE**2)),
    "OU": stats.levy(scale=LENGTHSCALE**-2),
}


@pytest.mark.parametrize("family", ["RQ", "OU"])
def test_long_waves__are_the_mean_of_kernels_with_long_lengthscales(family):
    distances = np.array([0.0, 0.1, 0.5, 2.0])
    density = PRECISIONS[family].pdf
    expected = [
        integrate.quad(lambda t, r=r: np.exp(-0.5 * t * r**2) * density(t), 0, LIMIT**-2)[0]
        for r in distances
    ]
    np.testing.assert_allclose(
        long_waves(family, distances, VALUES[family], LIMIT)[0], expected, rtol=1e-6
    )
    assert long_share(family, VALUES[family], LIMIT)[0] == pytest.approx(expected[0], rel=1e-6)


@pytest.mark.parametrize("family", ["RQ", "OU"])
def test_typical_lengthscales__have_half_of_the_waves_on_either_side(family):
    long, short = typical_lengthscales(family, VALUES[family], LIMIT)
    share = float(long_share(family, VALUES[family], LIMIT)[0])
    below = PRECISIONS[family].cdf
    assert below(long[0] ** -2) == pytest.approx(0.5 * share)
    assert below(short[0] ** -2) == pytest.approx(0.5 * (1.0 + share))
    assert short[0] < LIMIT < long[0]


@pytest.mark.parametrize("family", ["RQ", "OU"])
def test_many_distances__are_interpolated_closely(family):
    distances = np.random.default_rng(0).uniform(0.0, 6.0, (150, 150))
    found = long_waves(family, distances, VALUES[family], LIMIT)[0]
    each = [long_waves(family, row, VALUES[family], LIMIT)[0] for row in distances]
    np.testing.assert_allclose(found, each, rtol=0, atol=1e-6)


def test_long_and_short_waves__are_kernels_that_add_up():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-2, 2, 40))[:, np.newaxis]
    layout = lay_out("SE * RQ + OU + PER0 * RQ")
    theta = rng.normal(0.0, 0.4, (3, len(layout)))
    limits = {1: 0.4, 2: 0.4, 4: 0.4}
    parted, whole = TermKernels(layout, theta, limits=limits), TermKernels(layout, theta)
    assert len(parted.terms) == len(whole.terms) + 2
    found = parted(x, x)
    np.testing.assert_allclose(found.sum(axis=1), whole(x, x).sum(axis=1), atol=1e-10)
    np.testing.assert_allclose(parted.diag(x), np.einsum("sgnn->sgn", found), atol=1e-10)
    assert np.linalg.eigvalsh(found).min() > -1e-9

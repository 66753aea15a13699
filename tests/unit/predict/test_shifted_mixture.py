"""Tests of predictions around a mean function: those of the mixture, with the function added."""

import numpy as np
import pytest
from gpflow.functions import Linear
from support.fits import make_data, make_fit, new_inputs

from vbks.predict.mixture import KernelMixture
from vbks.predict.shifted_mixture import ShiftedMixture

LINE = Linear([[2.0]], [-5.0])
FITS, WEIGHTS = (make_fit("SE", spread=0.2), make_fit("LIN + PER")), (0.6, 0.4)
XNEW = new_inputs(5)
SHIFT = 2.0 * XNEW - 5.0


@pytest.fixture(scope="module")
def plain() -> KernelMixture:
    return KernelMixture(FITS, WEIGHTS, make_data(), num_samples=6)


@pytest.fixture(scope="module")
def shifted() -> ShiftedMixture:
    return ShiftedMixture(FITS, WEIGHTS, make_data(), num_samples=6, mean_function=LINE)


@pytest.mark.parametrize("name", ["predict_f", "predict_y"])
def test_moments__are_shifted(name: str, plain: KernelMixture, shifted: ShiftedMixture) -> None:
    (mean, variance), (before, spread) = (getattr(m, name)(XNEW) for m in (shifted, plain))
    np.testing.assert_allclose(mean, before + SHIFT, rtol=1e-10)
    np.testing.assert_allclose(variance, spread, rtol=1e-10)


def test_quantiles_and_densities__are_shifted(
    plain: KernelMixture, shifted: ShiftedMixture
) -> None:
    levels = (0.1, 0.5, 0.9)
    found, before = (m.predict_quantiles(XNEW, levels) for m in (shifted, plain))
    np.testing.assert_allclose(found, before + SHIFT, rtol=1e-9)
    targets = np.full((5, 1), 3.0)
    np.testing.assert_allclose(
        shifted.predict_log_density((XNEW, targets + SHIFT)),
        plain.predict_log_density((XNEW, targets)),
        rtol=1e-9,
    )


def test_members__are_shifted_alike(plain: KernelMixture, shifted: ShiftedMixture) -> None:
    (means, variances), (before, spreads) = (m.member_predictions(XNEW) for m in (shifted, plain))
    np.testing.assert_allclose(means, before + SHIFT[:, 0], rtol=1e-9)
    np.testing.assert_allclose(variances, spreads, rtol=1e-9)

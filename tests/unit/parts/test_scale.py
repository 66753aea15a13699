import numpy as np
import pytest

from vbks.data.units import Units
from vbks.data.warps import Identity, Log
from vbks.inference.likelihoods.likelihood import Gaussian
from vbks.inference.likelihoods.registry import make_likelihood
from vbks.parts.scale import scale_of

Z = np.array([-0.5, 0.0, 2.0])


def units(warp):
    return Units(np.zeros(1), np.ones(1), 0.0, 1.0, warp)


@pytest.mark.parametrize(
    ("likelihood", "warp", "name", "effect", "expected"),
    [
        (Gaussian(), Identity(), "identity", "added", Z),
        (Gaussian(), Log(), "log", "factor", np.exp(Z)),
        (make_likelihood("poisson"), Identity(), "log", "factor", np.exp(Z)),
        (make_likelihood("student_t"), Identity(), "identity", "added", Z),
    ],
)
def test_scale__is_that_on_which_parts_add_up(likelihood, warp, name, effect, expected):
    scale = scale_of(likelihood, units(warp), 0.5)
    assert (scale.name, scale.effect) == (name, effect)
    np.testing.assert_allclose(scale.response(Z), expected, rtol=1e-8, atol=1e-12)


def test_scale_of_classes__is_that_of_their_link():
    scale = scale_of(make_likelihood("bernoulli"), units(Identity()), 1.0)
    assert (scale.name, scale.effect, scale.is_warp) == ("link", "added", False)
    assert np.all((scale.response(Z) > 0) & (scale.response(Z) < 1))

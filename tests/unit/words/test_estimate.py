import math

import pytest

from vbks.words.estimate import Estimate, finite, positive


def test_estimate__knows_how_wide_and_how_precise_it_is():
    assert Estimate(12.0, 11.98, 12.02).width == pytest.approx(0.04)
    assert Estimate(12.0, 11.98, 12.02).is_precise
    assert not Estimate(12.0, 10.0, 14.0).is_precise
    assert Estimate(12.0).width is None and not Estimate(12.0).is_precise


def test_through__keeps_the_ends_in_order():
    assert Estimate(2.0, 1.0, 4.0).through(lambda x: -x) == Estimate(-2.0, -4.0, -1.0)
    assert Estimate(2.0).times(3.0) == Estimate(6.0)
    assert Estimate(2.0, 1.0, 4.0).times(10.0) == Estimate(20.0, 10.0, 40.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_finite__is_none_of_what_cannot_be_told(value):
    assert finite(Estimate(value)) is None
    assert positive(Estimate(value)) is None


@pytest.mark.parametrize("ends", [(math.nan, 3.0), (1.0, math.inf), (2.5, 3.0), (None, 3.0)])
def test_finite__drops_an_interval_that_cannot_be(ends):
    assert finite(Estimate(2.0, *ends)) == Estimate(2.0)


def test_finite__leaves_an_estimate_as_it_is():
    assert finite(Estimate(2.0, 1.0, 3.0)) == Estimate(2.0, 1.0, 3.0)
    assert finite(None) is None and positive(None) is None


def test_positive__wants_a_size():
    assert positive(Estimate(0.0)) is None and positive(Estimate(-2.0)) is None
    assert positive(Estimate(2.0, -1.0, 5.0)) == Estimate(2.0)
    assert positive(Estimate(2.0, 1.0, 5.0)) == Estimate(2.0, 1.0, 5.0)

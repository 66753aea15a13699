import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbks.data.warps import (
    Identity,
    InverseSoftplus,
    Log,
    Logit,
    is_inside,
    refuse_outside,
)
from vbks.errors import DataError

EXAMPLES = (Identity(), Log(), InverseSoftplus(2.5), Logit(-1.0, 3.0))
OVER_EXAMPLES = pytest.mark.parametrize("warp", EXAMPLES, ids=lambda warp: warp.name)

# A deadline would measure how busy the machine is.
law = settings(deadline=None)


def decades(low, high):
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


@st.composite
def positives(draw):
    scale = draw(decades(-6, 6))
    warp = draw(st.sampled_from([Log(), InverseSoftplus(scale)]))
    return warp, *(scale * draw(decades(-12, 6)) for _ in range(2))


@st.composite
def between_bounds(draw):
    low, width = draw(st.floats(-10, 10)), draw(decades(-1, 2))
    warp = Logit(low, low + width)
    return warp, *(low + width * draw(st.floats(0.01, 0.99)) for _ in range(2))


def real_numbers():
    return st.tuples(st.just(Identity()), *[st.floats(-1e6, 1e6)] * 2)


warps_and_two_targets = st.one_of(real_numbers(), positives(), between_bounds())


def width(warp):
    low, high = warp.domain
    return high - low if math.isfinite(high - low) else 0.0


@law
@given(warps_and_two_targets)
def test_inverse__undoes_the_warp(case):
    warp, y, _ = case
    back = warp.inverse(warp.forward(y))
    np.testing.assert_allclose(back, y, rtol=1e-9, atol=1e-9 * width(warp))


@law
@given(warps_and_two_targets)
def test_warp__is_increasing(case):
    warp, *targets = case
    low, high = sorted(targets)
    assert warp.forward(low) <= warp.forward(high)
    if high - low > 1e-9 * max(abs(low), abs(high)):
        assert warp.forward(low) < warp.forward(high)


@law
@given(warps_and_two_targets)
def test_log_slope__is_that_of_finite_differences(case):
    warp, y, _ = case
    low, high = warp.domain
    step = 1e-4 * min(1 + abs(y), y - low, high - y)
    rise = warp.forward(y + step) - warp.forward(y - step)
    np.testing.assert_allclose(warp.log_slope(y), np.log(rise / (2 * step)), atol=1e-6)


@pytest.mark.parametrize(
    ("warp", "low", "high"),
    [
        (Identity(), -1e9, 1e9),
        (Log(), -700, 700),
        (InverseSoftplus(2.5), -1500, 1e9),
        # Digits run out at bounds other than 0.
        (Logit(0.0, 1.0), -700, 14),
        (Logit(-1.0, 0.0), -14, 700),
    ],
)
def test_warp__reaches_the_whole_line(warp, low, high):
    z = np.linspace(low, high, 1001)
    y = warp.inverse(z)
    assert is_inside(y, warp.domain).all()
    np.testing.assert_allclose(warp.forward(y), z, rtol=1e-9, atol=1e-9)


@OVER_EXAMPLES
def test_inverse__stays_within_the_domain_however_far(warp):
    low, high = warp.domain
    far = warp.inverse(np.array([-np.inf, -1e300, 1e300, np.inf]))
    assert low == far[0] <= far[1] < far[2] <= far[3] == high


@OVER_EXAMPLES
def test_warp__works_element_by_element_on_any_shape(warp):
    y = np.linspace(0.1, 2.9, 12).reshape(2, 3, 2)
    for function in (warp.forward, warp.inverse, warp.log_slope):
        values = function(y)
        assert values.shape == y.shape
        np.testing.assert_array_equal(values[1, 2], [function(v) for v in y[1, 2]])


@pytest.mark.parametrize(
    ("warp", "below", "above"),
    [
        (Log(), [-3.0, 0.0], []),
        (InverseSoftplus(2.5), [-3.0, 0.0], []),
        (Logit(-1.0, 3.0), [-9.0, -1.0], [3.0, 4.0]),
    ],
)
def test_targets_outside_of_the_domain__have_no_density(warp, below, above):
    outside = np.array([*below, *above])
    np.testing.assert_array_equal(
        warp.forward(outside), [-np.inf] * len(below) + [np.inf] * len(above)
    )
    np.testing.assert_array_equal(warp.log_slope(outside), -np.inf)


def test_softplus__is_a_logarithm_below_its_scale_and_the_identity_above():
    warp = InverseSoftplus(2.0)
    small, large = np.array([1e-12, 1e-9]), np.array([80.0, 1e9])
    np.testing.assert_allclose(warp.forward(small), 2 * np.log(small / 2), rtol=1e-10)
    np.testing.assert_allclose(warp.forward(large), large, rtol=1e-14)


@pytest.mark.parametrize(("scale", "y"), [(1e150, 1e-200), (1e-150, 1e150), (1.0, 5e-324)])
def test_softplus__is_finite_at_extremes(scale, y):
    warp = InverseSoftplus(scale)
    assert np.isfinite([warp.forward(y), warp.log_slope(y)]).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Logit(0.0, math.inf), "are 0.0 and inf, expected two numbers"),
        (lambda: Logit(0.0, math.nan), "are 0.0 and nan"),
        (lambda: InverseSoftplus(0.0), "the scale of softplus is 0.0, expected a number above 0"),
        (lambda: InverseSoftplus(math.inf), "the scale of softplus is inf"),
    ],
)
def test_warps_that_cannot_be__are_refused(make, message):
    with pytest.raises(DataError, match=message):
        make()


@pytest.mark.parametrize(
    ("warp", "y", "message"),
    [
        (Log(), [1, -0.5, 0], r"'log' needs targets above 0, .* is -0.5 in row 12. Leave the warp"),
        (Log(), [0, 1, 2], "the target is 0.0 in row 11. Leave the warp out, or add a constant"),
        (Logit(0, 1), [0.5, 0.7, 1], "'logit' needs targets between 0 and 1, but .* 1.0 in row 13"),
        (Logit(0, 1), [math.nan], "the target is nan in row 11. Leave the warp out, or widen the"),
    ],
)
def test_targets_outside__are_refused_with_their_row(warp, y, message):
    with pytest.raises(DataError, match=message):
        refuse_outside(warp.name, warp.domain, np.array(y, dtype=float), rows_before=10)


@OVER_EXAMPLES
def test_targets_inside__are_not_refused(warp):
    refuse_outside(warp.name, warp.domain, np.array([0.1, 2.9]))

import numpy as np
import pytest

from vbks.parts.contributions import acts, contributions, order_of, shares_of

x = np.linspace(0.0, 10.0, 200)
PARTS = np.stack([np.full(200, 3.0), 0.2 * np.sin(9 * x), x - 5.0, np.cos(3 * x)])
RNG = np.random.default_rng(0)
Y = PARTS.sum(axis=0) + 0.1 * RNG.normal(size=200)


def error(total):
    return float(np.mean(np.abs(Y - total)))


def test_order__takes_first_what_lowers_the_error_most():
    assert order_of(PARTS, [0], error) == [2, 3, 1]
    assert order_of(PARTS[:1], [0], error) == []


def test_contributions__are_those_of_sums_of_parts():
    order = [2, 3, 1]
    found = contributions(PARTS, 0.9 * PARTS, order, [0], Y, np.asarray, error)
    spread = np.sum((Y - Y.mean()) ** 2)
    total, held_out, before = PARTS[0], 0.9 * PARTS[0], np.sum((Y - PARTS[0]) ** 2)
    mae = error(held_out)
    assert found[0].mae == pytest.approx(mae) and np.isnan(found[0].r2_gain)
    for place in order:
        total, held_out = total + PARTS[place], held_out + 0.9 * PARTS[place]
        left = np.sum((Y - total) ** 2)
        assert found[place].r2 == pytest.approx(1 - left / spread)
        assert found[place].r2_gain == pytest.approx((before - left) / spread)
        assert found[place].residual_r2 == pytest.approx(1 - left / before)
        assert found[place].mae == pytest.approx(error(held_out))
        assert found[place].mae_gain == pytest.approx(1 - error(held_out) / mae)
        before, mae = left, error(held_out)


def test_shares__add_up_to_one_with_what_is_left():
    whole = PARTS.sum(axis=0)
    shares = shares_of(PARTS, whole, Y)
    variances = [*(part.var() for part in PARTS), (Y - whole).var()]
    assert shares == pytest.approx([v / sum(variances) for v in variances[:-1]], abs=1e-12)
    assert shares[0] == 0.0
    of_link = shares_of(PARTS / 50.0, whole, Y)
    assert of_link == pytest.approx(shares)  # a link that multiplies changes no share
    counts = 1000.0 * np.exp(PARTS[2:].sum(axis=0) / 50.0)
    assert sum(shares_of(PARTS[2:] / 50.0, counts, counts)) == pytest.approx(1.0)


def test_acts__is_the_stretch_on_which_a_part_moves():
    bump = np.where((x > 3) & (x < 5), np.sin(7 * x), 0.0)
    low, high = acts(x, bump)
    assert 2.7 <= low <= 3.2 and 4.8 <= high <= 5.3
    assert acts(x[::-1], bump[::-1]) == (low, high)
    assert acts(x, np.sin(x)) is None
    assert acts(x, np.zeros(200)) is None and acts(np.ones(5), np.arange(5.0)) is None

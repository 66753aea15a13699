import math

import numpy as np
import pytest

from vbks.data.signals.input_summary import InputSummary
from vbks.data.units import Units
from vbks.kernels.layout import lay_out
from vbks.parts.terms import terms_of
from vbks.parts.values import Samples
from vbks.properties.periods import cyclic_terms, limits, periods_of, strongest

UNITS = Units(np.array([50.0]), np.array([10.0]), 0.0, 1.0)
SUMMARY = InputSummary(30.0, 70.0, 1.0)
X = np.linspace(-2.0, 2.0, 41)[:, np.newaxis]


def samples_at(text, *rows):
    """Samples of θ [S, H], each with values by the ends of their names."""
    layout = lay_out(text)
    theta = np.zeros((len(rows), len(layout)))
    for row, values in zip(theta, rows, strict=True):
        for name, value in values.items():
            row[[n for n, own in enumerate(layout.names) if own.endswith(name)]] = value
    return layout, Samples(theta, np.full(len(rows), 1.0 / len(rows)))


def test_limits__are_two_spacings_and_the_range():
    assert limits(SUMMARY) == (2.0, 40.0)
    assert limits(InputSummary(0.0, 1.0, 1.0)) == (1.0, 1.0)


def test_periods__are_in_the_users_unit_where_the_data_show_them():
    rows = [{"period": math.log(p)} for p in (0.1, 0.2, 1.0, 4.0, 4.1)]
    layout, samples = samples_at("SE * PER", *rows)
    found = periods_of(layout, samples, UNITS, 0, SUMMARY)[:, 0]
    np.testing.assert_allclose(found, [np.nan, 2.0, 10.0, 40.0, np.nan])
    assert periods_of(*samples_at("SE + LIN", {}), UNITS, 0, SUMMARY).shape == (1, 0)


def test_strongest__is_the_cycle_with_most_variance_among_those_that_are_seen():
    both = {"kernels[0].period": math.log(0.5), "kernels[1].period": math.log(1.5)}
    rows = [
        {**both, "kernels[0].variance": 1.0},
        {**both, "kernels[1].variance": 1.0},
        {**both, "kernels[0].variance": 1.0, "kernels[0].period": math.log(9.0)},
        {**both, "kernels[0].period": math.log(9.0), "kernels[1].period": math.log(0.01)},
    ]
    layout, samples = samples_at("PER + PER", *rows)
    periods = periods_of(layout, samples, UNITS, 0, SUMMARY)
    found = strongest(periods, layout, samples, X, 0)
    np.testing.assert_allclose(found, [5.0, 15.0, 15.0, np.nan])


def test_strongest__of_a_product_has_the_more_wavy_factor():
    """A factor of a long lengthscale is nearly a constant, e^(−1/ℓ²)I₀(1/ℓ²) of it."""
    values = {"kernels[0].period": 0.0, "kernels[1].period": math.log(0.5)}
    layout, samples = samples_at("PER * PER", {**values, "kernels[0].lengthscales": 3.0})
    periods = periods_of(layout, samples, UNITS, 0, SUMMARY)
    assert strongest(periods, layout, samples, X, 0)[0] == pytest.approx(5.0)


def test_cyclic_terms__are_those_that_swing_along_the_input():
    layout = lay_out("LIN[1] + SE[1] * PER[2] + PER[1]", 2)
    terms = terms_of(layout)
    for dim, families in ((0, [["PER"]]), (1, [["SE", "PER"]])):
        own = [terms[number] for number in cyclic_terms(layout, terms, dim)]
        assert [[leaf.leaf.family for leaf in term.leaves] for term in own] == families

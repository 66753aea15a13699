"""Residuals of a mixture, and curves of them."""

import numpy as np
import pytest
from scipy.stats import norm
from support.selections import make_dated, make_table

from vbks.criticism.criticising import criticise, mixed
from vbks.errors import SettingsError
from vbks.selection.criticism import sequence_of


def test_mixed__are_quantiles_of_the_mixture():
    z = np.array([[0.3, -2.0, 30.0], [0.9, 1.0, 35.0]])
    weights = np.array([0.25, 0.75])
    found = mixed(z, weights)
    naive = norm.ppf(weights @ norm.cdf(z[:, :2]))
    np.testing.assert_allclose(found[:2], naive)
    assert 30.0 < found[2] < 30.1


def test_curves__have_limits_of_replicates():
    selection = make_dated()
    found = criticise(selection.mixture.average, sequence_of(selection), 40, num_replicates=99)
    assert len(found.residuals) == 40 and found.order_name == "month"
    assert found.autocorrelation.places[0] == 1.0 and 0.1 < found.autocorrelation.limit < 0.9
    assert found.periodogram is not None and 3.0 < found.periodogram.limit < 12.0
    assert "one row ahead" in found.about
    table = make_table()
    of_table = criticise(table.mixture.average, sequence_of(table), 50, num_replicates=99)
    assert of_table.periodogram is None and of_table.order_name == "the table"


def test_few_replicates__are_refused():
    selection = make_dated()
    with pytest.raises(SettingsError, match="Give at least 20"):
        criticise(selection.mixture.average, sequence_of(selection), 40, num_replicates=10)

"""Pictures of residuals have what the criticism has."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from support.selections import make_dated, make_table


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_panels__show_residuals_quantiles_autocorrelations_and_powers():
    selection = make_dated()
    found = selection.criticism(num_replicates=99)
    panels = selection.plot_criticism(found).axes
    assert len(panels) == 4
    points = panels[0].collections[-1].get_offsets()
    np.testing.assert_allclose(points[:, 1], found.residuals["residual"])
    quantiles = panels[1].lines[-1].get_ydata()
    np.testing.assert_allclose(quantiles, np.sort(found.residuals["residual"]))
    assert panels[0].get_xlabel() == "month"
    np.testing.assert_allclose(panels[3].lines[0].get_ydata(), found.periodogram.values)
    np.testing.assert_allclose(panels[3].lines[0].get_xdata(), 1 / found.periodogram.places)


def test_rows_without_an_order__have_no_periodogram():
    panels = make_table().plot_criticism().axes
    assert not panels[3].lines
    assert "no order" in panels[3].texts[0].get_text()

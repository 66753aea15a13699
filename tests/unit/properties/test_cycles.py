import math

import numpy as np
import pytest
from scipy.integrate import trapezoid

from vbks.properties.cycles import cycle_of

MONTHS = np.arange(60.0)
DAYS = MONTHS * 365.25 / 12
WAVE = 5.0 + np.sin(2 * np.pi * MONTHS / 12)


def standardised_period(x, period):
    return math.log(period / np.std(x))


def test_cycle__has_the_belief_of_kernels_with_one_that_data_show(believe):
    year = standardised_period(MONTHS, 12.0)
    fits = [("PER", {"period": year}, 5.0), ("SE", {}, 3.0), ("PER + LIN", {"period": 5.0}, 2.0)]
    found = cycle_of(believe(MONTHS, WAVE, fits))
    assert found.probability == pytest.approx(0.5)
    assert found.median == pytest.approx(12.0) and found.density is None
    assert found.interval is None


def test_cycle__is_told_in_a_unit_for_people(believe):
    year = standardised_period(DAYS, 365.25)
    fits = [("PER", {"period": year}, 1.0)]
    found = cycle_of(believe(DAYS, WAVE, fits, ["day"], time_inputs=(0,), spread=0.02))
    assert found.unit == "months" and found.median == pytest.approx(12.0, rel=0.01)
    low, high = found.interval
    assert math.log(high / low) == pytest.approx(2 * 1.645 * 0.02, rel=0.1)
    assert trapezoid(found.density.density, found.density.x) == pytest.approx(1.0, abs=0.02)
    assert found.density.unit == "months"
    assert "almost certainly a yearly cycle" in found.sentence and "12" in found.sentence


def test_cycles__of_two_periods_are_two_peaks_and_the_stronger_is_the_period(believe):
    values = {
        "kernels[0].period": standardised_period(MONTHS, 12.0),
        "kernels[1].period": standardised_period(MONTHS, 3.0),
        "kernels[0].variance": 1.0,
        "kernels[1].variance": -1.0,
    }
    found = cycle_of(believe(MONTHS, WAVE, [("PER + PER", values, 1.0)], ["month"]))
    assert found.median == pytest.approx(12.0)
    periods = sorted(peak.estimate.value for peak in found.peaks)
    assert periods == pytest.approx([3.0, 12.0])
    assert all(peak.probability == pytest.approx(1.0) for peak in found.peaks)
    assert "Cycles of" in found.sentence


def test_equal_periods__in_one_kernel_count_once(believe):
    values = {"period": standardised_period(MONTHS, 12.0)}
    found = cycle_of(believe(MONTHS, WAVE, [("PER + LIN * PER", values, 1.0)]))
    assert [peak.probability for peak in found.peaks] == [pytest.approx(1.0)]


def test_cycle__is_along_the_input_that_has_one(believe):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 1, 60), MONTHS])
    fits = [("PER[2]", {"period": standardised_period(MONTHS, 12.0)}, 1.0)]
    found = cycle_of(believe(X, WAVE, fits, ["age", "step"]))
    assert found.input == "step" and found.median == pytest.approx(12.0)
    assert "in step" in found.sentence


def test_no_cycle__is_told_as_unlikely(believe):
    found = cycle_of(believe(MONTHS, WAVE, [("SE", {}, 1.0)]))
    assert found.probability == 0.0 and found.estimate is None and found.peaks == ()
    assert found.sentence == "A cycle is unlikely (less than 1 %)."

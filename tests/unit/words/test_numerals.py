import pytest

from vbks.words.estimate import Estimate
from vbks.words.numerals import counted, decimals_for, fixed, interval, percent, rounded, stated


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0, "0"),
        (1.04, "1"),
        (11.2, "11"),
        (123.0, "120"),
        (0.0345, "0.035"),
        (9.96, "10"),
        (-6.84, "−6.8"),
        (1735.0, "1,700"),
        (2_340_000.0, "2.3 million"),
        (4.2e9, "4.2 billion"),
        (3.1e-8, "3.1 × 10⁻⁸"),
        (2e20, "2 × 10²⁰"),
    ],
)
def test_rounded__has_two_digits_and_no_zeros_that_say_nothing(value, text):
    assert rounded(value) == text


def test_fixed__groups_thousands_and_has_no_minus_before_zero():
    assert fixed(1735.2, 0) == "1,735"
    assert fixed(-0.001, 1) == "0.0"
    assert fixed(1645.0, -1) == "1,640"


def test_decimals_for__counts_after_rounding():
    assert decimals_for(9.96, 2) == 0
    assert decimals_for(12.0, 3) == 1
    assert decimals_for(0.0, 3) == 0


@pytest.mark.parametrize(
    "estimate, text",
    [
        (Estimate(12.0, 11.98, 12.02), "12.0 (11.98–12.02)"),
        (Estimate(10.8, 10.6, 11.0), "10.8 (10.6–11.0)"),
        (Estimate(110.0, 80.0, 150.0), "about 110 (80–150)"),
        (Estimate(23.1, 20.0, 27.0), "about 23 (20–27)"),
        (Estimate(3.1, 2.4, 4.0), "about 3.1 (2.4–4.0)"),
        (Estimate(9.2, 7.1, 12.3), "about 9 (7–12)"),
        (Estimate(9.2, 8.6, 9.8), "about 9.2 (8.6–9.8)"),
        (Estimate(-5.0, -31.6, 21.1), "about −5 (−32 to 21)"),
        (Estimate(11.02), "about 11"),
        (Estimate(2.0, 2.0, 2.0), "2.00"),
    ],
)
def test_stated__is_as_exact_as_the_interval_says(estimate, text):
    assert stated(estimate) + interval(estimate) == text


@pytest.mark.parametrize(
    "share, text",
    [
        (0.97, "97 %"),
        (0.0001, "less than 1 %"),
        (0.9904, "99.0 %"),
        (0.996, "99.6 %"),
        (1.0, "more than 99.9 %"),
    ],
)
def test_percent__is_finer_near_its_ends(share, text):
    assert percent(share) == text


def test_counted__is_in_letters_up_to_twelve():
    assert [counted(number) for number in (2, 12, 13)] == ["two", "twelve", "13"]

import pytest

from vbks.words.axes import Axes, Axis
from vbks.words.estimate import Estimate
from vbks.words.form import form_of
from vbks.words.multiplied import parts_of
from vbks.words.part import Factor, Part, Values

AXES = Axes((Axis(low=0.0, high=10.0), Axis()))


def form(text, known=(), num_inputs=1):
    return form_of(parts_of(text, num_inputs, known)[0], AXES)


def scale(value):
    return Values(lengthscale=Estimate(value))


def test_form_of__curves_on_one_input_are_one_as_rough_as_the_roughest():
    (curve,) = form("SE * OU * RQ").curves
    assert curve.roughness == 3 and curve.many_scales
    first, second = form("SE[1] * SE[2]", num_inputs=2).curves
    assert (first.input, second.input) == (1, 2)


def test_form_of__lengthscales_of_a_product_are_those_of_the_one_that_equals_it():
    (curve,) = form("SE * SE", [scale(3.0), scale(4.0)]).curves
    assert curve.values.lengthscale.value == pytest.approx(2.4)
    (curve,) = form("OU * OU", [scale(3.0), scale(6.0)]).curves
    assert curve.values.lengthscale.value == pytest.approx(2.0)


def test_form_of__noise_is_all_that_is_stationary():
    both = form("WN * SE * PER * C * LIN")
    assert both.is_noise and not both.cycles and not both.curves and len(both.lines) == 1
    matern = form_of(Part((Factor("WN"), Factor("M52"))), AXES)
    assert matern.is_noise and not matern.curves


def test_form_of__the_shortest_cycle_comes_first():
    cycles = form("PER * PER0", [Values(period=Estimate(9.0)), Values(period=Estimate(2.0))]).cycles
    assert [cycle.values.period.value for cycle in cycles] == [2.0, 9.0]
    assert [cycle.has_level for cycle in cycles] == [False, True]


@pytest.mark.parametrize(
    "zeros, growth",
    [
        ((-1.0,), "growing"),
        ((11.0,), "shrinking"),
        ((5.0,), "turning"),
        ((None,), "varying"),
        ((-1.0, 0.0), "growing"),
        ((-1.0, 11.0), "varying"),
        ((12.0, 11.0), "shrinking"),
    ],
)
def test_form_of__lines_grow_away_from_their_zeros(zeros, growth):
    known = [Values(zero=None if zero is None else Estimate(zero)) for zero in zeros]
    (line,) = form(" * ".join(["LIN"] * len(zeros)), known).lines
    assert line.power == len(zeros) and line.growth == growth


def test_form_of__a_direction_that_is_given_counts_more_than_zeros():
    (line,) = form("LIN", [Values(zero=Estimate(5.0), direction="down")]).lines
    assert line.growth == "shrinking"


def test_form_of__a_line_on_all_inputs_is_a_sum():
    (line,) = form("LIN", num_inputs=2).lines
    assert line.inputs == (1, 2) and line.growth == "varying"


def test_form_of__keeps_families_that_it_does_not_know():
    assert form_of(Part((Factor("COS", (2,)), Factor("COS", (2,)))), AXES).others == (2,)

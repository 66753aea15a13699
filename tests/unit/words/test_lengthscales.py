from vbks.words.axes import Axes, Axis
from vbks.words.estimate import Estimate
from vbks.words.form import Curve, Cycle
from vbks.words.lengthscales import is_long, lengthscale_attribute
from vbks.words.part import Values
from vbks.words.telling import EVERYTHING, SUMMARY

AXES = Axes((Axis(unit="years", low=0.0, high=40.0),))
VALUES = Values(lengthscale=Estimate(62.0, 48.0, 80.0))
CURVE = Curve(1, 0, False, VALUES)


def test_lengthscale_attribute__is_told_where_there_is_room():
    text = "a typical lengthscale of about 62 years (48–80)"
    assert lengthscale_attribute(CURVE, AXES, EVERYTHING) == (text,)
    assert lengthscale_attribute(CURVE, AXES, SUMMARY) == ()
    assert lengthscale_attribute(Curve(1, 0, False, Values()), AXES, EVERYTHING) == ()


def test_lengthscale_attribute__of_a_cycle_is_within_its_period():
    (text,) = lengthscale_attribute(Cycle(1, VALUES, True), AXES, EVERYTHING)
    assert text == "a typical lengthscale of about 62 years within each period"


def test_is_long__compares_with_the_data():
    assert is_long(CURVE, AXES) and not is_long(CURVE, AXES, 2.0)
    assert not is_long(CURVE, Axes()) and not is_long(Curve(1, 0, False, Values()), AXES)

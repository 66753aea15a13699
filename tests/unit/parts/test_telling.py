from vbks.parts.averaging import REST
from vbks.parts.kinds import Kind
from vbks.parts.telling import told, told_level, told_mean_function
from vbks.words import Axes, Axis, Estimate, Factor, Part, Target

AXES = Axes((Axis("year", "years", is_time=True, low=1900.0, high=2000.0),), Target("load", "MW"))
KNOWN = {"share": 0.4, "probability": 0.97, "acts": (1910.0, 1950.0)}


def test_told__has_the_reading_and_the_numbers():
    part = Part((Factor("SE", (1,)),))
    own = told(Kind("curve", (1,)), part, AXES, amplitude=Estimate(2.5, 2.0, 3.0), **KNOWN)
    assert own.reading == "drift"
    text = str(own.sentence)
    assert "97 % of the belief" in text and "40 % of the variance" in text and "MW" in text
    assert "1910" in text and "1950" in text


def test_told__of_rare_parts_says_that_they_are_many():
    own = told(REST, Part(()), AXES, amplitude=None, **KNOWN)
    assert own.reading == "other parts" and "less than 1 %" in own.sentence.detail


def test_level__is_told_in_the_units_of_the_target():
    assert told_level(42.0, 5.0, AXES).sentence.detail == (
        "All other parts vary around a level of load of about 42 MW."
    )
    log = Axes(AXES.inputs, AXES.target, "log")
    assert "multiply a level" in told_level(42.0, 5.0, log).sentence.detail
    assert told_mean_function().reading == "mean function"

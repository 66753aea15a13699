import pytest

from vbks.words.axes import axes_of
from vbks.words.estimate import Estimate
from vbks.words.form import form_of
from vbks.words.modifiers import noun_phrase
from vbks.words.multiplied import parts_of
from vbks.words.part import Values
from vbks.words.telling import SUMMARY, Detail

UP, DOWN = Values(direction="up"), Values(direction="down")
AXES = axes_of(("month", "age", "water", "cement"))


def phrase(text, known=(), telling=SUMMARY):
    return str(noun_phrase(form_of(parts_of(text, 4, known)[0], AXES), AXES, telling))


@pytest.mark.parametrize(
    "text, known, written",
    [
        (
            "PER[1] * LIN[1]",
            [None, UP],
            "a periodic function of month with linearly growing amplitude",
        ),
        (
            "PER[1] * LIN[2] * LIN[3]",
            [None, UP, UP],
            "a periodic function of month whose amplitude grows linearly with age and water",
        ),
        (
            "PER[1] * SE[1] * SE[2]",
            [],
            "a periodic function of month whose shape changes smoothly and depends smoothly on age",
        ),
        (
            "PER[1] * SE[2] * SE[3] * SE[4]",
            [None, UP, DOWN, UP],
            "a periodic function of month whose amplitude grows with age and cement "
            "and shrinks with water",
        ),
        (
            "PER[1] * PER[2]",
            [],
            "a periodic function of month, modulated by a periodic function of age",
        ),
        (
            "SE[2] * LIN[3]",
            [None, DOWN],
            "a smooth function of age whose effect shrinks linearly with water",
        ),
        ("SE[2] * OU[3]", [], "a smooth function of age whose effect depends irregularly on water"),
        ("SE[2] * OU[3] * SE[4]", [], "a rough function of age, water and cement together"),
        (
            "LIN[2] * LIN[3]",
            [None, UP],
            "a linear function of age whose slope grows linearly with water",
        ),
        (
            "LIN[2] * LIN[2] * LIN[3]",
            [],
            "a quadratic polynomial of age whose effect varies linearly with water",
        ),
        (
            "WN * LIN[3]",
            [None, UP],
            "uncorrelated noise whose standard deviation grows linearly with water",
        ),
        (
            "C * CP[2](SE[3], C)",
            [],
            "a smooth function of water, which applies below a threshold in age",
        ),
    ],
)
def test_noun_phrase__has_a_modifier_for_each_other_factor(text, known, written):
    assert phrase(text, known) == written


def test_noun_phrase__counts_what_there_is_no_room_for():
    text = "PER[1] * PER[2] * PER[3] * SE[2] * LIN[3] * CP[2](C, SE)"
    few = frozenset[Detail]()
    assert phrase(text, telling=few) == (
        "a periodic function of month whose effect depends on age and water, "
        "modulated by two more cycles, which applies within limits of age"
    )


def test_noun_phrase__says_if_a_part_applies_nowhere():
    early, late = Values(start=Estimate(3.0)), Values(start=Estimate(9.0))
    written = phrase("CP[2](CP[2](C, SE[3]), C)", [early, late])
    assert written == "a constant, which applies where age is below 3"
    (_, nowhere, _) = parts_of("CP[2](CP[2](C, SE[3]), C)", 4, [early, late])
    text = str(noun_phrase(form_of(nowhere, AXES), AXES, SUMMARY))
    assert text == "a smooth function of water, which hardly applies anywhere"

"""What a sentence tells besides what it must, and in which order it is left out when it is long."""

from __future__ import annotations

from enum import IntEnum, auto


class Detail(IntEnum):
    """Details of a part; those that matter least come first.

    Without KERNELS the number of a probability stands alone; without LIMITS, MODULATORS or INPUTS
    the inputs of changes are named or other factors are counted, and no more is said of them.
    COURSE has how a part goes along its most important input, COURSES along the next ones, too.
    """

    TRANSITION = auto()
    WITHIN_PERIOD = auto()
    COVERS = auto()
    PLACE_INTERVALS = auto()
    SMALLEST = auto()
    SCALES_OF_MODIFIERS = auto()
    SHARE = auto()
    NUMBER_INTERVALS = auto()
    OUTLOOK = auto()
    SCALE = auto()
    COURSES = auto()
    SIZE = auto()
    COURSE = auto()
    SLOPE = auto()
    PERIOD = auto()
    KERNELS = auto()
    LIMITS = auto()
    MODULATORS = auto()
    INPUTS = auto()


Telling = frozenset[Detail]

SUMMARY: Telling = frozenset({Detail.LIMITS, Detail.MODULATORS, Detail.INPUTS})
"""A summary has the structure, periods and places, as in figure 1.8 of the ABCD chapter."""

EVERYTHING: Telling = frozenset(Detail)


def shorter(telling: Telling) -> Telling:
    """The same without the detail that matters least."""
    return telling - {min(telling)}

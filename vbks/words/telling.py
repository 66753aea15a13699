"""What a sentence tells besides what it must, and in which order it is left out when it is long."""

from __future__ import annotations

from enum import IntEnum, auto


class Detail(IntEnum):
    """Details of a part; those that matter least come first."""

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
    SIZE = auto()
    SLOPE = auto()
    PERIOD = auto()
    KERNELS = auto()


Telling = frozenset[Detail]

SUMMARY: Telling = frozenset()
"""A summary has the structure and periods only, as in figure 1.8 of the ABCD chapter."""

EVERYTHING: Telling = frozenset(Detail)


def shorter(telling: Telling) -> Telling:
    """The same without the detail that matters least."""
    return telling - {min(telling)}

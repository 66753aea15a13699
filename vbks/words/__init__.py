"""Kernels in words: what each part of a function is, in plain English with its uncertainty."""

from vbks.words.axes import Axes, Axis, Target
from vbks.words.description import MOST_WORDS, Sentence, describe
from vbks.words.estimate import Estimate
from vbks.words.multiplied import Known, factor_of, parts_of, sides_of
from vbks.words.part import Course, Direction, Factor, Gate, Pace, Part, Side, Values
from vbks.words.readings import read, reading

__all__ = [
    "MOST_WORDS",
    "Axes",
    "Axis",
    "Course",
    "Direction",
    "Estimate",
    "Factor",
    "Gate",
    "Known",
    "Pace",
    "Part",
    "Sentence",
    "Side",
    "Target",
    "Values",
    "describe",
    "factor_of",
    "parts_of",
    "read",
    "reading",
    "sides_of",
]

"""Post-modifiers: what every factor but the head says of the noun."""

from __future__ import annotations

from dataclasses import replace

from vbks.words.axes import Axes
from vbks.words.form import Curve, Cycle, Form, Line
from vbks.words.lengthscales import is_long
from vbks.words.nouns import (
    MOST_NAMES,
    Head,
    cycle_noun,
    head_noun,
    head_of,
    names_of,
    special_noun,
)
from vbks.words.numerals import counted
from vbks.words.phrases import NounPhrase
from vbks.words.quantities import length
from vbks.words.regions import region
from vbks.words.telling import SUMMARY, Detail, Telling

GROWTHS = {"growing": "grows", "shrinking": "shrinks", "turning": "varies", "varying": "varies"}
"""Verbs of what lines multiply."""

HOW = ("smoothly", "fairly smoothly", "somewhat irregularly", "irregularly")
"""Adverbs of curves by their roughness."""

LINES = ("", "linearly", "quadratically", "cubically", "quartically")
"""Adverbs of products of so many lines."""

STEADY = 2.0
"""A cycle whose lengthscale is so many times the data hardly changes its shape."""


def noun_phrase(form: Form, axes: Axes, telling: Telling) -> NounPhrase:
    """The head noun of a part with a modifier for each other factor, and where it applies."""
    head = head_of(form, axes)
    phrase = head_noun(form, axes, telling)
    lines = [line for line in form.lines if line is not head]
    here = [line for line in lines if is_on_head(line, head, form, axes)]
    away = [line for line in lines if line not in here]
    curves = _modifying_curves(form, head)
    subject = _subject(form, head)
    clauses = [*_curve_clauses(curves, head, axes, telling), *_line_clauses(away, subject, axes)]
    spread = "standard deviation" if form.is_noise else "amplitude"
    return replace(
        phrase,
        attributes=(*phrase.attributes, *(f"{_adverb(x)} {x.growth} {spread}" for x in here)),
        clauses=tuple(clauses),
        modulators=_modulators(form, head, axes),
        applies=region(form.gates, axes, Detail.PLACE_INTERVALS in telling),
    )


def is_on_head(line: Line, head: Head, form: Form, axes: Axes) -> bool:
    """Whether a line is on the input of the head, or of noise, where it goes without saying."""
    if len(line.inputs) > 1:
        return False
    if isinstance(head, Cycle | Curve):
        return line.inputs[0] == head.input
    return head is None and axes.is_obvious(line.inputs[0])


def _subject(form: Form, head: Head) -> str:
    """What of the head lines on other inputs change."""
    if form.is_noise:
        return "standard deviation"
    if isinstance(head, Line):
        return "slope" if head.power == 1 else "effect"
    return "amplitude" if isinstance(head, Cycle) else "effect"


def _modifying_curves(form: Form, head: Head) -> list[Curve]:
    """Curves that are not in the noun: none beside a noun that names all of them."""
    if isinstance(head, Curve):
        others = [curve for curve in form.curves if curve is not head]
        return others if len(others) == 1 else []
    return list(form.curves)


def _curve_clauses(
    curves: list[Curve], head: Head, axes: Axes, telling: Telling
) -> list[tuple[str, str]]:
    subject = "shape" if isinstance(head, Cycle) else "effect"
    same = [c for c in curves if isinstance(head, Cycle) and c.input == head.input]
    clauses = [(subject, _change_of_shape(curve, axes, telling)) for curve in same]
    away = [curve for curve in curves if curve not in same]
    told = [curve for curve in away if curve.values.direction]
    strength = "amplitude" if isinstance(head, Cycle) else "effect"
    clauses += [(strength, _by_direction(curve, axes)) for curve in told]
    plain = [curve for curve in away if curve not in told]
    if plain:
        inputs = tuple(curve.input for curve in plain)
        manners = {HOW[curve.roughness] for curve in plain}
        how = f"{manners.pop()} " if len(manners) == 1 else ""
        clauses.append((subject, f"depends {how}on {names_of(inputs, axes)}"))
    return clauses


def _by_direction(curve: Curve, axes: Axes) -> str:
    verb = "grows" if curve.values.direction == "up" else "shrinks"
    return f"{verb} with {axes.name(curve.input)}"


def _change_of_shape(curve: Curve, axes: Axes, telling: Telling) -> str:
    if is_long(curve, axes, STEADY):
        return "hardly changes"
    text = f"changes {HOW[curve.roughness]}"
    scale = curve.values.lengthscale
    if scale is None or Detail.SCALES_OF_MODIFIERS not in telling:
        return text
    return f"{text} over {length(scale, axes[curve.input])}"


def _line_clauses(lines: list[Line], subject: str, axes: Axes) -> list[tuple[str, str]]:
    groups: dict[tuple[str, str], list[int]] = {}
    for line in lines:
        inputs = groups.setdefault((GROWTHS[line.growth], _adverb(line)), [])
        inputs += [number for number in line.inputs if number not in inputs]
    return [
        (subject, f"{verb} {adverb} with {names_of(tuple(inputs), axes)}")
        for (verb, adverb), inputs in groups.items()
    ]


def _adverb(line: Line) -> str:
    return LINES[line.power] if line.power < len(LINES) else "polynomially"


def _modulators(form: Form, head: Head, axes: Axes) -> tuple[str, ...]:
    """Cycles and special functions beside the head, each as a noun phrase."""
    cycles = [str(cycle_noun(c, axes, SUMMARY)) for c in form.cycles if c is not head]
    others = form.others if head or form.is_noise else form.others[1:]
    special = [str(special_noun(number, axes)) for number in others]
    return _few(cycles, "cycles") + _few(special, "special functions")


def _few(phrases: list[str], plural: str) -> tuple[str, ...]:
    """The phrases, or how many they are."""
    return tuple(phrases) if len(phrases) <= MOST_NAMES else (f"{counted(len(phrases))} {plural}",)

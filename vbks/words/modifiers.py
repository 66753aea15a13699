"""Post-modifiers: what every factor but the head says of the noun."""

from __future__ import annotations

from dataclasses import replace

from vbks.words.axes import MOST_NAMES, Axes
from vbks.words.form import Curve, Cycle, Form, Line
from vbks.words.lengthscales import is_long
from vbks.words.nouns import (
    Head,
    cycle_noun,
    function_word,
    head_noun,
    head_of,
    special_noun,
)
from vbks.words.numerals import counted
from vbks.words.phrases import NounPhrase
from vbks.words.quantities import length
from vbks.words.regions import is_nowhere, limits, region
from vbks.words.telling import SUMMARY, Detail, Telling

GROWTHS = {"growing": "grows", "shrinking": "shrinks", "turning": "varies", "varying": "varies"}
"""Verbs of what lines multiply."""

HOW = ("smoothly", "fairly smoothly", "somewhat irregularly", "irregularly")
"""Adverbs of curves by their roughness."""

LINES = ("", "linearly", "quadratically", "cubically", "quartically")
"""Adverbs of a product of lines, by their number."""

STEADY = 2.0
"""A cycle hardly changes its shape if its lengthscale is this many times the range of the data."""


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
    if subject in dict(clauses) and subject != "effect":
        clauses = [*_line_clauses(here, subject, axes), *clauses]
        here = []
    if Detail.INPUTS not in telling and len(clauses) > 1:
        inputs = {c.input for c in curves}.union(*(line.inputs for line in away))
        clauses = [("effect", f"depends on {axes.names(tuple(sorted(inputs)))}")]
    spread = "standard deviation" if form.is_noise else "amplitude"
    growths = [f"{_adverb(line)} {_growing(line)} {spread}" for line in here]
    growths += [f"{form.swings} swings"] if form.swings else []
    return replace(
        phrase,
        attributes=(*phrase.attributes, *growths),
        clauses=tuple(clauses),
        modulators=_modulators(form, head, axes, telling),
        applies=_applies(form, axes, telling),
    )


def _applies(form: Form, axes: Axes, telling: Telling) -> str:
    if not form.gates:
        return ""
    if is_nowhere(form.gates):
        return "hardly applies anywhere"
    if Detail.LIMITS not in telling:
        return f"applies {limits(form.gates, axes)}"
    return f"applies {region(form.gates, axes, Detail.PLACE_INTERVALS in telling)}"


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
    clauses += [(strength, predicate) for predicate in _by_direction(told, axes)]
    plain = [curve for curve in away if curve not in told]
    if plain:
        inputs = tuple(curve.input for curve in plain)
        manners = {HOW[curve.roughness] for curve in plain}
        how = f"{manners.pop()} " if len(manners) == 1 else ""
        clauses.append((subject, f"depends {how}on {axes.names(inputs)}"))
    return clauses


def _by_direction(curves: list[Curve], axes: Axes) -> list[str]:
    verbs = {"up": "grows", "down": "shrinks"}
    inputs = {d: tuple(c.input for c in curves if c.values.direction == d) for d in verbs}
    return [f"{verbs[d]} with {axes.names(found)}" for d, found in inputs.items() if found]


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
        (subject, f"{verb} {adverb} with {axes.names(tuple(inputs))}")
        for (verb, adverb), inputs in groups.items()
    ]


def _growing(line: Line) -> str:
    return "varying" if line.growth == "turning" else line.growth


def _adverb(line: Line) -> str:
    return LINES[line.power] if line.power < len(LINES) else "polynomially"


def _modulators(form: Form, head: Head, axes: Axes, telling: Telling) -> tuple[str, ...]:
    """Cycles and special functions beside the head, each as a noun phrase."""
    cycles = [str(cycle_noun(c, axes, SUMMARY)) for c in form.cycles if c is not head]
    others = form.others if head or form.is_noise else form.others[1:]
    special = [str(special_noun(number, axes)) for number in others]
    most = MOST_NAMES if Detail.MODULATORS in telling else 1
    word = f"special {function_word(axes)}s"
    return _few(cycles, most, "more cycles") + _few(special, most, word)


def _few(phrases: list[str], most: int, plural: str) -> tuple[str, ...]:
    """The phrases, or how many they are."""
    return tuple(phrases) if len(phrases) <= most else (f"{counted(len(phrases))} {plural}",)

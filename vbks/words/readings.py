"""Short readings for tables: "yearly cycle × growth", "slow drift"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from vbks.grammar import Expression
from vbks.words.axes import MOST_NAMES, Axes, axes_of
from vbks.words.form import Curve, Cycle, Form, Line, form_of
from vbks.words.lengthscales import is_long
from vbks.words.multiplied import Known, parts_of
from vbks.words.nouns import direction_of, head_of, power_name
from vbks.words.numerals import counted
from vbks.words.part import Part, Values
from vbks.words.quantities import rough_length
from vbks.words.regions import brief_region, limits
from vbks.words.time_units import cycle_name, time_unit

SLOW, FAST = 0.2, 0.02
"""Shares of the data that a lengthscale spans, from which on a drift is slow or below it fast."""

STEADY = 0.5
"""Times the data that a lengthscale spans, from which on a cycle is not said to evolve."""

MOST_FACTORS = 3
"""Factors of a reading that are told one by one."""

LONGEST = 90
"""Characters of a reading from which on it tells fewer factors one by one."""


def read(expression: Expression | str, names: Axes | Sequence[str] = (), known: Known = ()) -> str:
    """A whole kernel in short readings: "yearly cycle × growth, slow drift"."""
    axes = axes_of(names)
    parts = parts_of(expression, len(axes.inputs), known)
    counts = Counter(reading(part, axes) for part in parts)
    return ", ".join(text if n == 1 else f"{text} ({n} parts)" for text, n in counts.items())


def reading(part: Part, axes: Axes) -> str:
    """A part in a few words, its head first; factors are counted where they would be many."""
    form = form_of(part, axes)
    factors = _factors(form, axes)
    most = min(len(factors), MOST_FACTORS)
    text = _joined(factors, most, brief_region(form.gates, axes))
    while most > 1 and len(text) > LONGEST:
        most -= 1
        text = _joined(factors, most, brief_region(form.gates, axes))
    return text if len(text) <= LONGEST else _joined(factors, most, limits(form.gates, axes))


def _joined(factors: list[str], most: int, where: str) -> str:
    more = len(factors) - most
    rest = [f"{counted(more)} more factor{'s' if more > 1 else ''}"] if more else []
    return f"{' × '.join([*factors[:most], *rest])} {where}".strip()


def _factors(form: Form, axes: Axes) -> list[str]:
    head = head_of(form, axes)
    if head is None and not form.others:
        first = "noise" if form.is_noise else "constant factor" if axes.is_log else "level"
        return [first, *_modifiers(form, axes)]
    if isinstance(head, Cycle):
        return [_cycle(head, form, axes), *_modifiers(form, axes, head)]
    if isinstance(head, Curve):
        name = _together(form) if len(form.curves) > MOST_NAMES else curve_name(head, axes)
        return [name, *_modifiers(form, axes, head)]
    if isinstance(head, Line):
        return [_line(head, axes), *_modifiers(form, axes, head)]
    return _modifiers(form, axes)


def _together(form: Form) -> str:
    """Curves on more inputs than are named."""
    rough = max(curve.roughness for curve in form.curves) >= 2
    return f"{'rough' if rough else 'smooth'} in {counted(len(form.curves))} inputs together"


def _modifiers(form: Form, axes: Axes, head: Cycle | Curve | Line | None = None) -> list[str]:
    """Every factor but the head; a curve along a cycle is in the cycle's name."""
    along = head.input if isinstance(head, Cycle) else None
    curves = [c for c in form.curves if c is not head and c.input != along]
    curves = [] if isinstance(head, Curve) and len(form.curves) > MOST_NAMES else curves
    return [
        *("special function" for _ in form.others),
        *(_cycle_name(cycle, axes) for cycle in form.cycles if cycle is not head),
        *(curve_name(curve, axes) for curve in curves),
        *(_growth(line, axes) for line in form.lines if line is not head),
        *([{"growing": "growth", "shrinking": "decline"}[form.swings]] if form.swings else []),
    ]


def _cycle(cycle: Cycle, form: Form, axes: Axes) -> str:
    changing = any(c.input == cycle.input and not is_long(c, axes, STEADY) for c in form.curves)
    return f"{'evolving ' if changing else ''}{_cycle_name(cycle, axes)}"


def _cycle_name(cycle: Cycle, axes: Axes) -> str:
    axis, period = axes[cycle.input], cycle.values.period
    goes_without = axes.is_obvious(cycle.input) or axes.tells_time(cycle.input)
    where = "" if goes_without else f" in {axes.name(cycle.input)}"
    if period is None:
        return f"cycle{where}"
    if name := cycle_name(period.value, axis.unit):
        return f"{name} cycle{where}"
    joined = "of" if time_unit(axis.unit) else "of period"
    return f"cycle {joined} {rough_length(period, axis)}{where}"


def curve_name(curve: Curve, axes: Axes) -> str:
    """A curve in a word or two: "slow drift", "rise that speeds up", "smooth in age"."""
    rough = curve.roughness >= 2
    if not axes[curve.input].is_time:
        texture = "rough" if rough else "smooth"
        if axes.is_obvious(curve.input):
            return f"{texture} curve"
        return f"{texture} in {axes.name(curve.input)}"
    values = curve.values
    of_time = _of_time(curve.input, axes)
    if values.direction and len(values.turns) < 2:
        noun, back = ("rise", "fall") if values.direction == "up" else ("fall", "rise")
        return f"{noun} and {back}{of_time}" if values.turns else f"{noun}{of_time}{_pace(values)}"
    scale, covered = values.lengthscale, axes[curve.input].range
    noun = "wandering" if rough else "drift"
    if scale is None or not covered:
        return f"{noun}{of_time}"
    share = scale.value / covered
    if share < FAST:
        return f"fast {'jitter' if rough else 'wobble'}{of_time}"
    return f"{'slow ' if share >= SLOW else ''}{noun}{of_time}"


def _pace(values: Values) -> str:
    if values.levels_off:
        return " that levels off"
    return {"faster": " that speeds up", "slower": " that slows down", None: ""}[values.pace]


def _line(line: Line, axes: Axes) -> str:
    """A line as the head."""
    if not _is_along_time(line, axes):
        return _dependence(line, axes)
    of_time = _of_time(line.inputs[0], axes)
    direction = direction_of(line)
    if line.power > 1:
        return f"{power_name(line.power)} trend{of_time}"
    if axes.is_log:
        return f"exponential {'decline' if direction == 'down' else 'growth'}{of_time}"
    return f"{ {'up': 'rising', 'down': 'falling', None: 'linear'}[direction] } trend{of_time}"


def _growth(line: Line, axes: Axes) -> str:
    """A line as a factor of others."""
    if not _is_along_time(line, axes):
        return _dependence(line, axes)
    of_time = _of_time(line.inputs[0], axes)
    if line.growth == "turning":
        return f"linear change{of_time}"
    power = "" if line.power == 1 else f"{power_name(line.power)} "
    return f"{power}{'decline' if line.growth == 'shrinking' else 'growth'}{of_time}"


def _is_along_time(line: Line, axes: Axes) -> bool:
    """Whether a line is a trend: along time, or along the only input, which has no name."""
    number = line.inputs[0]
    return len(line.inputs) == 1 and (axes[number].is_time or axes.is_obvious(number))


def _of_time(number: int, axes: Axes) -> str:
    if axes.tells_time(number) or axes.is_obvious(number):
        return ""
    return f" in {axes.name(number)}"


def _dependence(line: Line, axes: Axes) -> str:
    power = power_name(line.power)
    many = len(line.inputs) > MOST_NAMES
    return f"{power} in {'all' if many else axes.names(line.inputs)}{' inputs' if many else ''}"

"""What a part does in numbers: how often it repeats, how much it moves the target, since when."""

from __future__ import annotations

from vbks.words.axes import Axes, readable_name
from vbks.words.courses import along_input, goes_one_way
from vbks.words.estimate import Estimate, finite, positive
from vbks.words.form import Curve, Cycle, Form, Line
from vbks.words.modifiers import is_on_head
from vbks.words.nouns import Head, direction_of, head_of
from vbks.words.numerals import percent
from vbks.words.part import Part
from vbks.words.phrases import listed, sentence
from vbks.words.places import both_places, place_after_preposition
from vbks.words.quantities import length, size, slope, spread
from vbks.words.telling import Detail, Telling


def facts(part: Part, form: Form, axes: Axes, telling: Telling) -> str:
    """A sentence of what the part does in numbers; nothing if none is known."""
    head = head_of(form, axes)
    steepness = _slope(form, head, axes, telling)
    told = (
        _period(head, axes, telling),
        steepness,
        "" if steepness else _size(part, form, axes, telling),
        _smallest(form, head, axes, telling),
        _acts(part, axes, telling),
        _share(part, telling),
    )
    predicates = [predicate for predicate in told if predicate]
    texts = (
        sentence(f"it {listed(predicates)}") if predicates else "",
        _courses(part, axes, telling),
    )
    return " ".join(filter(None, texts))


def _courses(part: Part, axes: Axes, telling: Telling) -> str:
    """How a part on several inputs goes along those that move it most."""
    if Detail.COURSE not in telling:
        return ""
    told = part.courses if Detail.COURSES in telling else part.courses[:1]
    texts = [along_input(course, axes) for course in told]
    return sentence("it " + "; it ".join(texts)) if texts else ""


def target_name(axes: Axes) -> str:
    """What the target is called."""
    return readable_name(axes.target.name) or "the target"


def _period(head: Head, axes: Axes, telling: Telling) -> str:
    """How often a cycle repeats, if more is known than its name says."""
    if not isinstance(head, Cycle) or Detail.PERIOD not in telling:
        return ""
    period = head.values.period
    if period is None or period.width is None:
        return ""
    told = length(period, axes[head.input], with_interval=True)
    return f"repeats every {told}".replace("every about", "about every")


def _slope(form: Form, head: Head, axes: Axes, telling: Telling) -> str:
    if isinstance(head, Curve):
        return _mean_rate(form, head, axes, telling)
    if not isinstance(head, Line) or Detail.SLOPE not in telling:
        return ""
    steep = head.values.slope
    if steep is None or head.power > 1 or len(head.inputs) > 1 or len(form.lines) > 1:
        return ""
    verb = "rises" if direction_of(head) == "up" else "falls"
    told = slope(steep, axes, axes[head.inputs[0]], Detail.NUMBER_INTERVALS in telling)
    return f"{verb} by {told}"


def _mean_rate(form: Form, head: Curve, axes: Axes, telling: Telling) -> str:
    """How steep a curve is on average that goes one way along time."""
    steep, axis = head.values.slope, axes[head.input]
    if steep is None or Detail.SLOPE not in telling or not axis.is_time:
        return ""
    if len(form.curves) > 1 or form.lines or not goes_one_way(head.values):
        return ""
    verb = "grows" if head.values.direction == "up" else "shrinks"
    return f"{verb} on average by {slope(steep, axes, axis, Detail.NUMBER_INTERVALS in telling)}"


def _size(part: Part, form: Form, axes: Axes, telling: Telling) -> str:
    amplitude = positive(part.amplitude)
    if amplitude is None or Detail.SIZE not in telling:
        return ""
    if form.is_noise:
        return f"has a standard deviation of {spread(amplitude, axes)}"
    verb = "moves" if form.cycles or form.curves or form.lines or form.others else "shifts"
    return f"typically {verb} {target_name(axes)} by {size(amplitude, axes)}"


def _smallest(form: Form, head: Head, axes: Axes, telling: Telling) -> str:
    """Where a factor that passes zero among the data makes the part vanish."""
    if Detail.SMALLEST not in telling:
        return ""
    for line in form.lines:
        zero = line.values.zero
        if line.growth == "turning" and zero and is_on_head(line, head, form, axes):
            return f"is smallest {place_after_preposition(zero, axes[line.inputs[0]])}"
    return ""


def _acts(part: Part, axes: Axes, telling: Telling) -> str:
    """From when to when it acts, where no change says so already."""
    if part.acts is None or part.gates or Detail.PLACE_INTERVALS not in telling:
        return ""
    first, last = map(finite, part.acts)
    if first is None or last is None:
        return ""
    low, high = both_places(Estimate(first.value), Estimate(last.value), axes[axes.main])
    return "" if low == high else f"acts mostly from {low} to {high}"


def _share(part: Part, telling: Telling) -> str:
    if part.share is None or Detail.SHARE not in telling or not 0 <= part.share <= 1:
        return ""
    return f"accounts for {percent(part.share)} of the variance"

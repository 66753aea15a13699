"""Where fits start: values that the data suggest, values of the parent, and draws around both.

Optima are many, above all in periods and lengthscales, so starts decide which one a fit ends in.
Each start has a name, which `start_names` tells.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.data.signals.segments import Segment
from vbks.data.signals.summaries import pooled
from vbks.errors import DataError
from vbks.grammar.expression import ChangePoint, ChangeWindow, Expression, Leaf
from vbks.kernels.layout import Layout
from vbks.kernels.parts import parts_of
from vbks.kernels.starts.crossings import crossing_turn, crossing_values
from vbks.kernels.starts.inheritance import Parent, inherit, unexplained
from vbks.kernels.starts.policy import DEFAULT, StartPolicy
from vbks.kernels.starts.proposals import (
    HEIR_PROPOSALS,
    LONG_TO_SHORT,
    PROPOSALS,
    ROUGHER,
    Situation,
    StartProposal,
    alike_terms,
)
from vbks.kernels.starts.suggestions import num_periodic, other_periods, suggested
from vbks.kernels.starts.target_level import start_at_level

FROM_THE_DATA, NEAR_THE_DATA, DRAWN = "from the data", "near the data", "drawn"

_MANY_OPTIMA = ("location", "change")
"""Roles of parameters that are drawn afresh even near the suggested start."""


def candidate_rng(seed: int, expression: Expression) -> np.random.Generator:
    """A generator that depends on the seed and the expression's text, and on nothing before it."""
    digest = hashlib.sha256(str(expression).encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:16], "big")])


def draw_starts(
    layout: Layout,
    summaries: Sequence[InputSummary],
    num_starts: int,
    rng: np.random.Generator,
    parent: Parent | None = None,
    policy: StartPolicy = DEFAULT,
) -> Array:
    """Unconstrained starting values of θ: [num_starts, H].

    Some inherit from the parent: the first half, or one when nothing is new. Of these and of the
    others, the first has the values that the data suggest. Of the rest every second one keeps near
    that, with the next of the data's periods and locations drawn afresh, and every second one is
    drawn altogether, or has a name of its own. Lines that multiply something are zero where the
    target crosses zero in two of four.
    """
    heirs, others = _kinds(layout, summaries, num_starts, parent, policy)
    starts = np.concatenate([_starts(kind, num, rng) for kind, num in (heirs, others)])
    width = policy.clip_in_sds * layout.prior_sd
    starts = np.clip(starts, layout.prior_mean - width, layout.prior_mean + width)
    start_at_level(layout, _by_input(summaries), starts[heirs[1] :], policy)
    return starts


def start_names(
    layout: Layout,
    summaries: Sequence[InputSummary],
    num_starts: int,
    parent: Parent | None = None,
    policy: StartPolicy = DEFAULT,
) -> tuple[str, ...]:
    """The names of the starts that `draw_starts` gives, in their order."""
    (heirs, num_heirs), (others, num_others) = _kinds(layout, summaries, num_starts, parent, policy)
    inherited = (f"inherited, {name}" for name in _names(heirs, num_heirs))
    return (*inherited, *_names(others, num_others))


def long_to_short(
    layout: Layout,
    summaries: Sequence[InputSummary],
    rng: np.random.Generator,
    policy: StartPolicy = DEFAULT,
) -> Array:
    """Starts whose smooth terms go from long to short: [2, H], [1, H], or [0, H] if no sum has two.

    There are two where terms of a sum would begin alike otherwise: from the range, and rougher.
    """
    situation = Situation(layout, _by_input(summaries), {}, policy)
    starts = draw_starts(layout, summaries, LONG_TO_SHORT.place + 1, rng, policy=policy)
    chosen = [LONG_TO_SHORT.place] if LONG_TO_SHORT.when(situation) else []
    if any(alike_terms(layout, starts[0])):
        chosen.append(ROUGHER.place)
    return starts[chosen]


def _kinds(
    layout: Layout,
    summaries: Sequence[InputSummary],
    num_starts: int,
    parent: Parent | None,
    policy: StartPolicy,
) -> tuple[tuple[Situation, int], tuple[Situation, int]]:
    """What starts that inherit depend on, and all others, with the number of each."""
    if len(summaries) != layout.num_inputs:
        raise DataError(
            f"'{layout.expression}' is laid out for {layout.num_inputs} inputs, "
            f"but {len(summaries)} were summarised."
        )
    known = {} if parent is None else inherit(layout, parent)
    num_heirs = 0 if parent is None else (num_starts + 1) // 2
    if len(known) == len(layout):
        num_heirs = min(num_heirs, 1)
    left = _by_input(unexplained(summaries, parent, policy))
    heirs = Situation(layout, left, known, policy)
    others = Situation(layout, _by_input(summaries), {}, policy)
    return (heirs, num_heirs), (others, num_starts - num_heirs)


def _starts(situation: Situation, num_starts: int, rng: np.random.Generator) -> Array:
    """Starts of one kind: draws, what the data suggest in their place and near, and named ones."""
    layout, by_input, known = situation.layout, situation.by_input, situation.known
    drawn = [
        [slot.parameter.draw_start(rng, by_input[slot.dim]) for slot in layout.slots]
        for _ in range(num_starts)
    ]
    starts = np.array(drawn, float).reshape(num_starts, len(layout))
    _suggest(situation, starts, rng)
    _place_changes(situation, starts)
    for proposal in _proposals(situation, num_starts):
        starts[proposal.place] = starts[0]
        proposal.change(situation, starts[proposal.place])
    _place_at_crossings(situation, starts)
    starts += _spread(layout)
    for slot, value in known.items():
        starts[:, slot] = value
    return starts


def _proposals(situation: Situation, num_starts: int) -> list[StartProposal]:
    """The named starts that a candidate has."""
    every = HEIR_PROPOSALS if situation.known else PROPOSALS
    return [one for one in every if one.place < num_starts and one.when(situation)]


def _names(situation: Situation, num_starts: int) -> list[str]:
    names = [DRAWN if place % 2 == 0 else NEAR_THE_DATA for place in range(num_starts)]
    names[:1] = [FROM_THE_DATA] * min(num_starts, 1)
    for proposal in _proposals(situation, num_starts):
        names[proposal.place] = proposal.name
    if crossing_values(situation):
        names[2:4] = [FROM_THE_DATA] * len(names[2:4])
        for place, name in enumerate(names):
            if crossing_turn(place) is not None:
                names[place] = f"{name}, at zero crossings"
    return names


def _suggest(situation: Situation, starts: Array, rng: np.random.Generator) -> None:
    """Put what the data suggest into the first start, and values near that into every second."""
    layout, known = situation.layout, situation.known
    counts: Counter[int | None] = Counter()
    most = num_periodic(layout, known)
    for slot, value in suggested(layout, situation.by_input, known, situation.policy):
        starts[:1, slot] = value
        near = starts[1::2, slot]
        role, dim = situation.role(slot), layout.slots[slot].dim
        if role == "period" and slot not in known:
            x, count = situation.by_input[dim], counts[dim]
            near[:] = other_periods(x, count, most, len(near), situation.policy)
            counts[dim] += 1
        elif role not in _MANY_OPTIMA:
            near[:] = rng.normal(value, situation.policy.near_sd, len(near))


def _place_changes(situation: Situation, starts: Array) -> None:
    """Put changes where the data show some, in the first start and every second one after it.

    Each of these starts begins with another place, and each change of it has the next one.
    """
    rows = [0, *range(1, len(starts), 2)]
    counts: Counter[tuple[str, int]] = Counter()
    for part in situation.parts:
        kind, slots = part.node.expression, part.node.slots
        if not isinstance(kind, ChangePoint | ChangeWindow):
            continue
        x = situation.by_input[kind.dim - 1]
        places = x.windows if isinstance(kind, ChangeWindow) else [Segment(c, c) for c in x.changes]
        before = counts[part.kind[0], kind.dim]
        counts[part.kind[0], kind.dim] += 1
        for turn, row in enumerate(rows[: len(starts)] if places else ()):
            place = places[(turn + before) % len(places)]
            starts[row, slots["location"]] = place.middle
            if "width" in slots:
                starts[row, slots["width"]] = math.log(place.width)
            if turn % 2:
                starts[row, slots["steepness"]] = -math.log(situation.policy.sharp * x.spacing)


def _place_at_crossings(situation: Situation, starts: Array) -> None:
    """Put lines that multiply something, and a period beside them, where the target crosses zero.

    Two of the first four starts are as the data suggest otherwise.
    """
    values = crossing_values(situation)
    if not values:
        return
    starts[2:4] = starts[:1]
    for place in range(len(starts)):
        turn = crossing_turn(place)
        if turn is not None:
            for slot, own in values.items():
                starts[place, slot] = own[turn % len(own)]


def _by_input(summaries: Sequence[InputSummary]) -> Mapping[int | None, InputSummary]:
    """Summaries by their input, and of all inputs together for parameters that they share."""
    return dict(enumerate(summaries)) | {None: pooled(summaries)}


def _spread(layout: Layout) -> Array:
    """Distances add up over inputs, so lengthscales of a leaf on D inputs start √D times longer."""
    shift = np.zeros(len(layout))
    for part in parts_of(layout.root):
        if isinstance(part.node.expression, Leaf) and part.node.expression.dim is None:
            shift[list(part.node.slots.get("lengthscales", ()))] = 0.5 * math.log(layout.num_inputs)
    return shift

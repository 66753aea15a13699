"""Starts for targets that are far from zero, which a kernel has to explain as well.

Targets are centred as a rule. Where they are not, as in models of mean zero, the square of their
mean may be millions of times their variance. An optimiser from ordinary starts then spends its
steps on the mean, and smooth terms are lost that should explain the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.grammar.expression import Leaf, Sum
from vbks.kernels.layout import Layout, Node
from vbks.kernels.registry import family_of
from vbks.kernels.starts.policy import DEFAULT, StartPolicy


def start_at_level(
    layout: Layout,
    by_input: Mapping[int | None, InputSummary],
    starts: Array,
    policy: StartPolicy = DEFAULT,
) -> None:
    """Let one term of each sum in starts [S, H] explain the mean of targets that are far from zero.

    It begins as a constant with the square of the mean as its variance: a leaf C, or where there is
    none, a leaf with a lengthscale so long that it changes by about one over the range. In a
    product all factors begin as constants, on both sides of a change both sides do.
    """
    mean = abs(by_input[None].level)
    if mean > policy.far_from_zero and _can_be_constant(layout.root):
        _make_constant(layout.root, layout, by_input, starts, math.log(mean))


def _can_be_constant(node: Node) -> bool:
    if isinstance(node.expression, Leaf):
        family = family_of(node.expression.family)
        return family.evaluation_path == "constant" or family.constant_power is not None
    able = map(_can_be_constant, node.operands)
    return any(able) if isinstance(node.expression, Sum) else all(able)


def _make_constant(
    node: Node,
    layout: Layout,
    by_input: Mapping[int | None, InputSummary],
    starts: Array,
    log_mean: float,
) -> None:
    operands = node.operands
    if isinstance(node.expression, Leaf):
        power = family_of(node.expression.family).constant_power or 0.0
        if node.scale is not None:
            starts[:, node.scale] = 2.0 * log_mean
        for index in node.slots.get("lengthscales", ()):
            is_wave = "period" in node.slots
            extent = 1.0 if is_wave else by_input[layout.slots[index].dim].range
            starts[:, index] = power * log_mean + math.log(extent)
    elif isinstance(node.expression, Sum):
        place = _constant_term(node)
        operands = operands[place : place + 1]
        weights = list(node.weights or ())
        if place < len(weights):
            starts[:, weights[place]] += 2.0 * log_mean
        else:
            starts[:, weights] -= 2.0 * log_mean
    for operand in operands:
        _make_constant(operand, layout, by_input, starts, log_mean)


def _constant_term(node: Node) -> int:
    """The place of the term of a sum that becomes a constant: a leaf C, another leaf, or any."""

    def preference(place: int) -> int:
        expression = node.operands[place].expression
        if not isinstance(expression, Leaf):
            return 2
        return 0 if family_of(expression.family).evaluation_path == "constant" else 1

    able = [k for k, term in enumerate(node.operands) if _can_be_constant(term)]
    return min(able, key=preference)

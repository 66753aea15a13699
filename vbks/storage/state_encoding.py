"""Candidates in the midst of training as plain values and packed arrays, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vbks.inference.paper.state import CandidateState, Learned
from vbks.storage.records import Packing, Record, Unpacking, plain_number

STATE_ARRAYS = ("learned", "step_values")
"""Names of the arrays that states are packed into."""


def encode_state(state: CandidateState, packing: Packing) -> dict[str, Any]:
    """The plain values of a state, whose arrays are packed."""
    for part in (state.learned, state.first, state.second):
        packing.add("learned", part.flat())
    packing.add("step_values", state.values)
    return {
        "expression": str(state.expression),
        "steps": state.steps,
        "elbo": plain_number(state.elbo),
        "standard_error": plain_number(state.standard_error),
        "log_likelihood": plain_number(state.log_likelihood),
        "seconds": plain_number(state.seconds),
        "reason": state.reason,
    }


def decode_state(record: Record, before: CandidateState, unpacking: Unpacking) -> CandidateState:
    """What a state has become by training, if that is about it."""
    expression = record.text("expression")
    if expression != str(before.expression):
        raise record.wrong("expression", expression, str(before.expression))
    M, H = len(before.learned.mean), len(before.layout)
    size = len(before.learned.flat())
    learned, first, second = (
        Learned.of_flat(unpacking.take("learned", size), M, H) for _ in range(3)
    )
    return replace(
        before,
        learned=learned,
        first=first,
        second=second,
        values=unpacking.take("step_values", record.count("steps")),
        elbo=record.number("elbo"),
        standard_error=record.number("standard_error"),
        log_likelihood=record.number("log_likelihood"),
        seconds=record.number("seconds"),
        reason=record.text("reason"),
    )

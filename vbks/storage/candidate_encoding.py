"""Candidates on their way through the stages as plain values and packed arrays, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from vbks.inference.candidate import Candidate
from vbks.storage.fit_encoding import decode_pruning_step, encode_pruning_step
from vbks.storage.records import Packing, Record, Unpacking, plain_number

CANDIDATE_ARRAYS = ("thetas", "values", "factor")
"""Names of the arrays that candidates are packed into."""


def encode_candidate(candidate: Candidate, packing: Packing) -> dict[str, Any]:
    """The plain values of what a stage has found, whose arrays are packed."""
    packing.add("thetas", candidate.thetas)
    packing.add("values", candidate.values)
    packing.add("factor", candidate.factor)
    return {
        "expression": str(candidate.expression),
        "jitter": plain_number(candidate.jitter),
        "starts": len(candidate.thetas),
        "num_values": len(candidate.values),
        "factor": len(candidate.factor),
        "restarts": int(candidate.restarts),
        "converged": bool(candidate.converged),
        "seconds": plain_number(candidate.seconds),
        "race": [encode_pruning_step(step) for step in candidate.pruning],
        "reason": candidate.reason,
    }


def decode_candidate(record: Record, before: Candidate, unpacking: Unpacking) -> Candidate:
    """A candidate with what a stage has found, if that is about it."""
    expression = record.text("expression")
    if expression != str(before.expression):
        raise record.wrong("expression", expression, str(before.expression))
    starts, factor, H = record.count("starts"), record.count("factor"), len(before.layout)
    thetas = unpacking.take("thetas", starts, H) if starts else np.zeros((0, 0))
    return replace(
        before,
        thetas=thetas,
        values=unpacking.take("values", record.count("num_values")),
        factor=unpacking.take("factor", factor, factor),
        jitter=record.finite("jitter"),
        restarts=record.count("restarts"),
        converged=record.flag("converged"),
        seconds=record.number("seconds"),
        pruning=tuple(decode_pruning_step(step) for step in record.records("race", "pruning step")),
        reason=record.text("reason"),
    )

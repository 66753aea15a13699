"""Rungs that candidates go through outside of a pipeline."""

from __future__ import annotations

from collections.abc import Sequence

from vbks.grammar.parser import parse
from vbks.inference.candidate import Candidate, make_candidate
from vbks.inference.context import FitContext
from vbks.inference.rungs import optimise, run_rung


def screened(chunk: Sequence[Candidate], context: FitContext) -> list[Candidate]:
    """Candidates after a whole screening."""
    return run_rung(chunk, context, context.screening.rung("screening"))


def optimised(text: str, context: FitContext) -> Candidate:
    """An expression at its highest optimum that was found."""
    (found,) = optimise(screened([make_candidate(parse(text), context)], context), context)
    return found

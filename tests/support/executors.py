"""Work to try executors with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from support.rows import make_rows
from vbks.execution.work import Executor, Work
from vbks.grammar.parser import parse
from vbks.inference.candidate import Candidate, make_candidate
from vbks.inference.choices import make_context
from vbks.inference.chunks import cost_of
from vbks.inference.context import FitContext
from vbks.inference.evaluator import fit_candidates
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitSettings

EXPRESSIONS = ("SE", "LIN", "PER", "SE + LIN", "RQ", "PER * LIN")


QUICK: dict[str, Any] = {"inference": "exact", "posterior": "laplace", "restarts": 2}
"""Settings of fits that take next to no time."""


def small_context(**settings: Any) -> FitContext:
    """A context of fits that take next to no time."""
    context, _ = make_context(make_rows(), len(EXPRESSIONS), FitSettings(**{**QUICK, **settings}))
    return context


def evaluate(executor: Executor, **settings: Any) -> list[LocalFit]:
    """All expressions, fitted by an executor."""
    own = {**QUICK, **settings}
    return fit_candidates(EXPRESSIONS, make_rows(), executor=executor, prune=False, **own)


def counting(members: Sequence[Candidate], context: FitContext) -> list[Candidate]:
    """A stage that takes no time: it counts the restarts up by one."""
    return [replace(c, restarts=c.restarts + 1) for c in members]


def quick_work(num_chunks: int = 6, stage: Any = counting) -> Work:
    """One candidate for each chunk."""
    context = small_context()
    candidates = [
        make_candidate(parse(EXPRESSIONS[k % len(EXPRESSIONS)]), context) for k in range(num_chunks)
    ]
    chunks = tuple((c,) for c in candidates)
    return Work(
        "counting",
        stage,
        context,
        chunks,
        lambda c, _, reason: c.failed(reason),
        cost_of=cost_of,
    )


def assert_same_fits(found: Sequence[LocalFit], expected: Sequence[LocalFit]) -> None:
    """Fits agree to far better than any use of them can tell."""
    for one, other in zip(found, expected, strict=True):
        assert one.expression == other.expression
        assert (one.status, one.reason, one.converged) == (
            other.status, other.reason, other.converged,
        )  # fmt: skip
        np.testing.assert_allclose(one.elbo, other.elbo, rtol=1e-9)
        np.testing.assert_allclose(one.theta, other.theta, rtol=1e-6, atol=1e-8)

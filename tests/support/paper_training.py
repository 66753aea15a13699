"""Candidates before the training of the VBKS paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from support import rows
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference.choices import make_context
from vbks.inference.context import FitContext
from vbks.inference.paper.state import CandidateState
from vbks.inference.paper.training import (
    first_states,
    inducing_inputs,
    starts,
    with_lines_through_zero,
)
from vbks.inference.seeds import Seed
from vbks.inference.settings import FitSettings

EXPRESSIONS = tuple(map(parse, ("SE", "PER * LIN + SE", "RQ * (SE + LIN)")))
N, M, B = 120, 8, 24

make_rows = partial(
    rows.make_rows, N, 3, signal=lambda x: np.sin(2.0 * x) + 0.3 * x, noise=0.2, is_even=False
)


def make_problem(
    posterior: Any = "point", expressions: Sequence[Expression] = EXPRESSIONS
) -> tuple[list[CandidateState], FitContext]:
    """Candidates before their first step, and what they share."""
    context, _ = make_context(
        make_rows(),
        len(expressions),
        FitSettings(
            inference="stochastic",
            posterior=posterior,
            num_inducing=M,
            batch_size=B,
            ard=False,
            given=with_lines_through_zero(expressions, {}, 1),
        ),
    )
    Z = inducing_inputs(context.data, M, context.rng(Seed.INDUCING))
    context = replace(context, inducing=Z)
    return first_states(starts(expressions, context), context), context

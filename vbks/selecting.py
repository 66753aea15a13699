"""The choice of kernels for one target, from its rows to a selection."""

from __future__ import annotations

from typing import Any

from vbks.config import FitConfig
from vbks.criticism.notices import cycles_untried
from vbks.execution.fingerprint import Plain, fingerprint
from vbks.execution.run_context import run_context
from vbks.kernels.precision import check_precision
from vbks.preparing import notices_of, read_rows, under_warps, with_expressions
from vbks.progress import reporting
from vbks.search.budget import beginning_of
from vbks.search.problem import SearchProblem
from vbks.selection.paper import select_as_paper
from vbks.selection.selection import Selection
from vbks.selection.settings import settings_of
from vbks.selection.trace import trace_belief


def select_kernels(X: Any, y: Any, config: FitConfig) -> Selection:
    """Candidates fitted as the settings say, and the belief over them."""
    check_precision()
    began = beginning_of(config.budget)
    rows, mean_function = read_rows(X, y, config)
    data = under_warps(rows, config)
    # Once kernels are read, nothing tells that they were the reason.
    notices = notices_of(rows, config)
    config = with_expressions(config, next(iter(data.values())).units)

    def digest() -> dict[str, Plain]:
        return {"rows": fingerprint(rows), **config.digest()}

    with (
        reporting(config.progress) as report,
        run_context(
            config.executor, config.checkpoint, digest, config.fits.memory_limit, began
        ) as run,
    ):
        if config.preset is not None:
            return select_as_paper(data, config, config.preset, run, report)
        problem = SearchProblem(rows, data, config.fits, config.expressions, config.families)
        runner = config.method.runner(problem, config.budget, run, report, config.belief.prior)
        result = runner.run()
        selection = Selection(
            result.fits,
            data,
            config.belief.resolved(result.fits),
            likelihood=config.fits.likelihood,
            feature_names=rows.feature_names,
            notices=(*result.notices, *notices, *cycles_untried(result.fits, result.untried)),
            time_inputs=rows.time_inputs,
            search_steps=result.path,
            untried=result.untried,
            mean_function=mean_function,
            settings=settings_of(config),
            target_name=rows.target_name,
        )
        if config.trace:
            selection = trace_belief(selection, runner.evaluator, runner.plan.final, config.trace)
    return selection

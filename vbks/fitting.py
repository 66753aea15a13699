"""The one call: data in, a belief over kernels and averaged predictions out."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from vbks.data import TrainingData, Warp, choose_warps, prepare, read_inputs
from vbks.errors import DataError, GrammarError
from vbks.execution import Stage, Workshop
from vbks.grammar import BASE_FAMILIES, Expression, parse, vocabulary
from vbks.inference import LocalFit, Progress, make_likelihood
from vbks.inference.likelihoods import Likelihood
from vbks.inference.local_fit import Bound, Posterior
from vbks.inference.progress import reporting
from vbks.inference.proposal import Proposal
from vbks.inference.settings import RESTARTS, Inference, compare
from vbks.prediction import Selection
from vbks.prediction.tracing import trace_belief
from vbks.selection import (
    DEFAULT_BELIEF,
    BeliefKind,
    BeliefSettings,
    Budget,
    FixedSpace,
    Growing,
    KernelPrior,
    Purse,
    SearchState,
    Strategy,
    budget_of,
    contenders,
    left_behind,
    paper_settings,
)

EXACT_SEARCH_ROWS = 300
"""Rows up to which all candidates are fitted exactly: a few tenths of a second for each."""

EXACT_FINAL_ROWS = 2000
"""Rows up to which those that remain are fitted exactly: some seconds for each."""

SEARCH_ELEMENTS = 45_000
"""Numbers in the kernel matrices of one candidate of a search that is not exact: about a second
for each."""

CONTENDER_MARGIN = 6.0
"""Nats below the best within which candidates are fitted to the end ..."""

OTHER_BOUND_MARGIN = 25.0
"""... or within which if the bound becomes a tighter one, whose order may be another."""

MOST_CONTENDERS = 12
"""Candidates that are fitted to the end at most, or ..."""

MOST_EXACT_CONTENDERS = 6
"""... if the last fits are exact and the search was not."""

USUAL_SECONDS = 100.0
"""Time for growing on up to ..."""

USUAL_ROWS = 1000
"""... so many rows, when no budget is given; beyond, it grows with the square root of the rows."""

FINAL_SHARE = 0.25
"""Share of a budget in seconds that is kept for the last fits of the best."""

EXPECTED_CANDIDATES = 200
"""Candidates that growing is expected to try, for the choice of a bound."""

PAPER_BATCH = 128
"""Rows of a minibatch in the experiments of the VBKS paper."""

Space = Literal["grow"] | Sequence[Expression | str]


def fit(
    X: Any,
    y: Any = None,
    *,
    space: Space = "grow",
    method: Literal["vbks"] = "vbks",
    inference: Inference = "auto",
    posterior: Posterior | Literal["auto"] = "auto",
    num_inducing: int | None = None,
    batch_size: int | None = None,
    likelihood: Any = "gaussian",
    warps: Literal["auto"] | Sequence[str] = "auto",
    bounds: tuple[float, float] | None = None,
    belief: BeliefKind = DEFAULT_BELIEF,
    temperature: float = 1.0,
    prior: KernelPrior = "uniform",
    preset: Literal["paper"] | None = None,
    families: Sequence[str] = BASE_FAMILIES,
    restarts: int = RESTARTS,
    race: bool = True,
    budget: float | Budget | None = None,
    trace: int = 0,
    memory_limit: int | None = None,
    seed: int = 0,
    progress: bool | Progress = True,
) -> Selection:
    """Choose kernels for rows (X, y), and say how sure that is.

    Args:
        X: inputs [N] or [N, D]: arrays, lists, tables, times, memory maps; or a
            `tf.data.Dataset` of rows, without y.
        y: targets [N].
        space: "grow" starts small and expands what the data favour; or a list of expressions such
            as `vbks.K144`.
        method: "vbks".
        inference: "exact", "collapsed" or "stochastic" for all fits; by default what rows and
            candidates allow: a search by the collapsed bound, and the best of it fitted exactly.
        posterior: q(θ) with the best "full" or "diagonal" covariance, or that of "laplace", or a
            "point"; by default full where that is quick.
        num_inducing: inducing points of collapsed and stochastic fits.
        batch_size: rows of a minibatch.
        likelihood: "gaussian" or another name, or a scalar GPflow likelihood.
        warps: transforms of the target that are tried: "identity", "log", "softplus", "logit", or
            all that the data allow.
        bounds: the ends of the target's range, for "logit".
        belief: "vbks", "bayes" or "stacking".
        temperature: evidences are divided by it before the belief is formed.
        prior: "uniform" over structures, or "grammar", under which small ones are likelier.
        preset: "paper" for the settings of the authors of VBKS.
        families: base kernels that a growing space is made of.
        restarts: starts of each candidate.
        race: whether candidates far behind stop early.
        budget: seconds, or `vbks.Budget(candidates=...)`, which gives the same answer each time.
        trace: at how many growing parts of the data to form the belief, for `plot_trace`.
        memory_limit: bytes that fits may use.
        seed: everything random follows from it.
        progress: show a live table, if the output is a terminal.
    """
    _check_one_of("method", method, ("vbks",))
    _check_one_of("preset", preset, (None, "paper"))
    is_paper = preset == "paper"
    if is_paper:
        posterior, warps, race = "point", ("identity",), False
    model = make_likelihood(likelihood)
    rows = prepare(X if y is None else (X, y), standardise_targets=model.is_gaussian)
    data = _warped(rows, warps, bounds, model)
    words = (families,) if isinstance(families, str) else tuple(families)
    strategy = _strategy(space, tuple(data), rows.num_inputs, words)
    believed = BeliefSettings(belief, temperature, prior, seed=seed)
    if is_paper:
        believed = paper_settings(rows.num_rows, batch_size or PAPER_BATCH)
    settings = {
        "batch_size": batch_size,
        "likelihood": model,
        "restarts": restarts,
        "ard": not is_paper,
        "memory": memory_limit,
        "seed": seed,
    }
    plan = _Plan.of(rows, strategy, inference, posterior, num_inducing, settings)
    spending = budget_of(budget) or _usual_budget(strategy, rows.num_rows)
    with reporting(progress) as report:
        search = _Search(strategy, Workshop(data, plan.search, race, settings, report), spending)
        state = search.run()
        fits = list(state.fits)
        final = Workshop(data, plan.final, False, settings, report)
        if plan.final != plan.search:
            margin, most = plan.limits if race else (math.inf, None)
            fits = _finished(fits, final, margin, most)
        notices = (
            *rows.notices, *search.workshop.notices, *final.notices, plan.notice(rows.num_rows),
            search.notice(state),
        )  # fmt: skip
        inputs = None if y is None else read_inputs(X)
        selection = Selection(
            tuple(fits),
            data,
            believed,
            model,
            None if inputs is None else inputs.names,
            tuple(dict.fromkeys(notices)),
            time_inputs=() if inputs is None else inputs.times,
        )
        if trace:
            selection = trace_belief(selection, final, trace)
    return selection


class _Search:
    """A strategy at work until it ends or its budget does."""

    def __init__(self, strategy: Strategy, workshop: Workshop, budget: Budget) -> None:
        kept = replace(budget, seconds=(1.0 - FINAL_SHARE) * budget.seconds)
        self.strategy, self.workshop, self.purse = strategy, workshop, Purse(kept)
        self.left_out = 0

    def run(self) -> SearchState:
        """The last state."""
        state = SearchState()
        while True:
            state, proposals = self.strategy.propose(state)
            fits = self._fits(proposals)
            if fits:
                state = self.strategy.absorb(state, fits)
            self.left_out = len(proposals) - len(fits)
            if self.left_out or not proposals:
                return state

    def _fits(self, proposals: Sequence[Proposal]) -> list[LocalFit]:
        """As many fits as there is budget for, warp by warp, which shows what they cost."""
        fits: list[LocalFit] = []
        for _, group in groupby(proposals, key=lambda proposal: proposal.warp):
            own = list(group)
            affordable = self.purse.affordable(len(own))
            if affordable:
                began = time.perf_counter()
                fits += self.workshop.fit(own[:affordable])
                self.purse.spend(affordable, time.perf_counter() - began)
            if affordable < len(own):
                break
        return fits

    def notice(self, state: SearchState) -> str:
        """How the search has ended, and how to let it go on."""
        tried = f"{self.purse.candidates} candidates were tried in {self.purse.seconds:.0f} s"
        if state.ending:
            return f"{tried}: {state.ending}."
        more = f"{self.left_out} more were proposed" if self.left_out else "it could go on"
        return f"{tried}, and {more}. Give a larger budget=, in seconds, to let it think longer."


def _warped(
    rows: TrainingData,
    wanted: Literal["auto"] | Sequence[str],
    bounds: tuple[float, float] | None,
    likelihood: Likelihood,
) -> dict[Warp, TrainingData]:
    """The rows under each warp that is tried."""
    if not likelihood.is_gaussian and wanted == "auto":
        wanted = ("identity",)
    warps = choose_warps(wanted, rows, bounds)
    return {warp: rows if warp.name == "identity" else rows.warped(warp) for warp in warps}


def _strategy(
    space: Space, warps: tuple[Warp, ...], num_inputs: int, families: tuple[str, ...]
) -> Strategy:
    if isinstance(space, str):
        if space != "grow":
            raise GrammarError(
                f"space is {space!r}, expected 'grow' or a list of expressions such as vbks.K144."
            )
        vocabulary(families, num_inputs)
        return Growing(warps, num_inputs, families)
    expressions = tuple(parse(expression) for expression in space)
    if not expressions:
        raise GrammarError("the space is empty. Give at least one expression.")
    return FixedSpace(expressions, warps)


@dataclass(frozen=True)
class _Plan:
    """How candidates are searched, and how the best of them are fitted in the end."""

    search: Stage
    final: Stage

    @classmethod
    def of(
        cls,
        rows: TrainingData,
        strategy: Strategy,
        inference: Inference,
        posterior: Posterior | Literal["auto"],
        num_inducing: int | None,
        settings: Mapping[str, Any],
    ) -> _Plan:
        """Exact fits where they are quick, at least for the best; else what is possible."""
        N = rows.num_rows
        first, last = _bounds(rows, strategy, inference, num_inducing, settings)
        if first != last and num_inducing is None:
            num_inducing = _search_inducing(N)
        if posterior == "auto":
            posterior = "full" if N <= EXACT_SEARCH_ROWS and last == "exact" else "laplace"
        # With minibatches q(θ) costs a bound many nats, so that it changes the order of candidates.
        is_looser = posterior in ("full", "diagonal") and first != "stochastic"
        cheap: Posterior = "laplace" if is_looser else posterior
        return cls(Stage(first, cheap, num_inducing), Stage(last, posterior, num_inducing))

    def notice(self, num_rows: int) -> str:
        """Which bounds were used."""
        if self.search.bound == self.final.bound:
            return f"Fits to {num_rows:,} rows are {self.final.bound}."
        return (
            f"Candidates were searched by {self.search.bound} fits to {num_rows:,} rows, and the "
            f"best of them by {self.final.bound} ones."
        )

    @property
    def limits(self) -> tuple[float, int]:
        """How far behind contenders may be, and how many there may be."""
        if self.search.bound == self.final.bound:
            return CONTENDER_MARGIN, MOST_CONTENDERS
        return OTHER_BOUND_MARGIN, MOST_EXACT_CONTENDERS


def _search_inducing(N: int) -> int:
    """Inducing points M with M(M + N) numbers in kernel matrices, but not fewer than the usual."""
    affordable = 0.5 * (math.sqrt(N**2 + 4 * SEARCH_ELEMENTS) - N)
    return min(N, round(max(affordable, 2.0 * math.sqrt(N))))


def _bounds(
    rows: TrainingData,
    strategy: Strategy,
    inference: Inference,
    num_inducing: int | None,
    settings: Mapping[str, Any],
) -> tuple[Bound, Bound]:
    if inference == "auto" and settings["likelihood"].is_gaussian:
        if rows.num_rows <= EXACT_SEARCH_ROWS:
            return "exact", "exact"
        if rows.num_rows <= EXACT_FINAL_ROWS:
            return "collapsed", "exact"
    num = len(strategy.expressions) if isinstance(strategy, FixedSpace) else EXPECTED_CANDIDATES
    comparison, _ = compare(rows, num, inference=inference, num_inducing=num_inducing, **settings)
    return comparison.bound, comparison.bound


def _finished(
    fits: Sequence[LocalFit], workshop: Workshop, margin: float, most: int | None
) -> list[LocalFit]:
    """Contenders fitted to the end, and the others as dropped."""
    going = contenders(fits, margin, most)
    if not going:
        return list(fits)
    best = max(fits[k].log_evidence() for k in going)
    done = iter(workshop.go_on([fits[k] for k in going]))
    return [
        replace(again := next(done), seconds=fit.seconds + again.seconds, race=fit.race)
        if k in set(going)
        else left_behind(fit, best, "search")
        for k, fit in enumerate(fits)
    ]


def _usual_budget(strategy: Strategy, num_rows: int) -> Budget:
    """All of a fixed space; growing ends after a while."""
    if isinstance(strategy, FixedSpace):
        return Budget()
    return Budget(seconds=USUAL_SECONDS * math.sqrt(max(1.0, num_rows / USUAL_ROWS)))


def _check_one_of(name: str, value: object, known: tuple[object, ...]) -> None:
    if value not in known:
        choices = " or ".join(repr(choice) for choice in known)
        raise DataError(f"{name} is {value!r}, expected {choices}.")

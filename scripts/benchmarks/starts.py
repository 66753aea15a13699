"""Fits from few starts beside the best of thirty restarts of the same candidate by GPflow.

Both climb the same log posterior density of unconstrained θ, which is checked. Shortfalls are in
nats: GPflow's best minus ours, so that a negative one means that ours is higher. Data sets are
worked on side by side, so that times tell little. GPflow's part takes an hour or two on two cores
and does not depend on ours: its results are kept beside the record, one file for each data set, and
read from there as long as rows, candidates and restarts are the same.

Besides two series there are ten data sets, drawn once and kept beside the record: a random member
of K144 with a θ that owes nothing to what suits usual data, 300 inputs uniform with variance one,
and noise of a tenth of the signal's variance.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import gpflow
import numpy as np
import pandas as pd
import tensorflow as tf
import tensorflow_probability as tfp
from matplotlib.figure import Figure as Canvas

from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line
from benchmarks.door.workers import one_for_each_core
from vbks.arrays import Array
from vbks.data.signals.summaries import summarise_inputs
from vbks.data.training import prepare
from vbks.datasets.shipped import airline, mauna_loa
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.grammar.space import K144
from vbks.inference.evaluator import fit_candidates
from vbks.inference.objectives.evidence import ExactEvidence
from vbks.inference.objectives.log_posterior import LogPosterior
from vbks.inference.result import LocalFit
from vbks.kernels.gpflow.conversion import Binding, bindings, to_gpflow
from vbks.kernels.gpflow.linear import positive_parameter
from vbks.kernels.layout import NOISE_SLOT, Layout, lay_out
from vbks.kernels.starts.starts import candidate_rng, draw_starts

ITERATIONS = 200
"""Of GPflow's optimiser, from each restart."""

OTHER_SEED = 1_000_003
"""Added to the seed for restarts of GPflow, so that none of them is one of our starts."""

SAME = 0.1
"""Nats within which two optima count as equally good."""

AGREEMENT = 1e-6
"""Relative difference between the two objectives at the same θ that rounding may make."""

ASKED = {50: 0.5, 90: 3.0}
"""Percentiles of the shortfall and the nats that they may reach."""

PERCENTILES = (5, 10, 25, 50, 75, 90, 95, 100)

GROUPS = ("airline", "Mauna Loa", "drawn")

KEPT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "starts"
"""Where GPflow's results are kept."""

NUM_WORST = 4
"""Candidates that are named."""


@dataclass(frozen=True)
class Size:
    """How much is compared: every so-manieth member of K144, on so many drawn data sets."""

    series: tuple[str, ...]
    drawn: int
    step: int
    restarts: int


FULL = Size(("airline", "Mauna Loa"), drawn=10, step=12, restarts=30)
QUICK = Size(("airline",), drawn=1, step=48, restarts=4)

SERIES = {"airline": airline, "Mauna Loa": mauna_loa}


@dataclass(frozen=True)
class Problem:
    """A data set and the candidates that are fitted to it."""

    group: str
    name: str
    X: Array
    y: Array
    candidates: Sequence[Expression]


@dataclass(frozen=True)
class FitContext:
    """One candidate on one data set: log posterior densities, and what it took."""

    problem: Problem
    expression: Expression
    ours: float
    """At the mode with the highest evidence, whose θ is the fit's."""
    our_highest: float
    """At the mode with the highest density, which may be another."""
    best: float
    skipped: int
    """Restarts of GPflow that raised or ended at something that is not a number."""
    our_seconds: float
    seconds: float

    @property
    def shortfall(self) -> float:
        return _shortfall(self.best, self.ours)


@dataclass(frozen=True)
class Reference:
    """What GPflow's restarts of one candidate have reached."""

    best: float
    skipped: int
    seconds: float


def run(context: Context) -> list[Figure]:
    """Shortfalls on two series and on data drawn from random members of K144."""
    size = QUICK if context.quick else FULL
    results: list[FitContext] = []
    compare = partial(_compare, restarts=size.restarts, seed=context.seed)
    with one_for_each_core() as workers:
        for found in workers.map(compare, _problems(size)):
            results += found
    return [*_overall(results), *_by_group(results), *_costs(results, size.restarts)]


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: the share of candidates with at most a shortfall, with the limits asked."""
    values = {figure.name: figure.value for figure in lines[-1].figures}
    canvas = Canvas(figsize=(8, 4), layout="constrained")
    panel = canvas.subplots()
    shares = (0, *PERCENTILES)
    shortfalls = [values[_least()], *(values[_percentile(p)] for p in PERCENTILES)]
    panel.plot(shortfalls, shares, "o-", color="tab:blue", label="all candidates")
    for group, marker in zip(GROUPS, "s^v", strict=True):
        known = [p for p in ASKED if _percentile(p, group) in values]
        nats = [values[_percentile(p, group)] for p in known]
        panel.plot(nats, known, marker, color="tab:gray", label=group)
    for share, limit in ASKED.items():
        panel.plot([limit, limit], [0, share], ":", color="tab:red")
        panel.annotate(f"asked: {limit:g}", (limit, 3), rotation=90, ha="right", color="tab:red")
    panel.set_xscale("symlog", linthresh=SAME)
    panel.axvspan(-SAME, SAME, color="tab:gray", alpha=0.15)
    panel.set_xlabel("shortfall in nats: GPflow's best restart minus ours (left: ours is better)")
    panel.set_ylabel("% of candidates")
    panel.set_ylim(0, 102)
    panel.legend(loc="upper left")
    canvas.suptitle(f"Optima found, {lines[-1].cores} cores, {lines[-1].date[:10]}")
    canvas.savefig(path, dpi=120)


def _problems(size: Size) -> Iterator[Problem]:
    spread = K144[:: size.step]
    for name in size.series:
        data = SERIES[name]()
        yield Problem(name, name, data.X, data.y, spread)
    rows = pd.read_csv(KEPT / "drawn.csv", float_precision="round_trip")
    for number in range(1, size.drawn + 1):
        own = rows[rows["number"] == number]
        truth = parse(own["kernel"].iloc[0])
        candidates = list(spread)
        candidates[K144.index(truth) // size.step] = truth
        name = f"data {number} from {truth}"
        yield Problem("drawn", name, own[["x"]].to_numpy(), own["y"].to_numpy(), candidates)


def _compare(problem: Problem, restarts: int, seed: int) -> list[FitContext]:
    start = time.perf_counter()
    fits = fit_candidates(
        problem.candidates,
        (problem.X, problem.y),
        inference="exact",
        posterior="point",
        prune=False,
        seed=seed,
    )
    share = (time.perf_counter() - start) / len(fits)
    references = _references(problem, fits, restarts, seed)
    found = [
        _beside(problem, fit, reference, share)
        for fit, reference in zip(fits, references, strict=True)
    ]
    _tell(problem, found)
    return found


def _references(
    problem: Problem, fits: Sequence[LocalFit], restarts: int, seed: int
) -> list[Reference]:
    """GPflow's part, from its file if that is about the same."""
    rows = hashlib.sha256(problem.X.tobytes() + problem.y.tobytes()).hexdigest()
    about: dict[str, Any] = {
        "rows": rows,
        "candidates": [str(fit.expression) for fit in fits],
        "restarts": restarts,
        "iterations": ITERATIONS,
        "seed": seed,
    }
    file = KEPT / f"{re.sub('[^a-z0-9]+', '-', problem.name.lower()).strip('-')}-{restarts}.json"
    if file.exists():
        kept = json.loads(file.read_text(encoding="utf-8"))
        if kept["about"] == about:
            return [Reference(**one) for one in kept["results"]]
    found = [_restart(problem, fit, restarts, seed) for fit in fits]
    KEPT.mkdir(exist_ok=True)
    written = {"about": about, "results": [asdict(one) for one in found]}
    file.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return found


def _restart(problem: Problem, fit: LocalFit, restarts: int, seed: int) -> Reference:
    """GPflow's restarts of one candidate; its objective is checked at our optima, too."""
    X, y = prepare((problem.X, problem.y)).arrays()
    layout = lay_out(fit.expression)
    rng = candidate_rng(seed + OTHER_SEED, fit.expression)
    half = restarts // 2
    starts = np.concatenate(
        [
            rng.normal(layout.prior_mean, layout.prior_sd, (half, len(layout))),
            draw_starts(layout, summarise_inputs(X, y), restarts - half, rng),
        ]
    )
    objective = _Objective(layout, X, y)
    objective.check([layout.prior_mean, starts[half], *(mode.mean for mode in fit.modes)])
    start = time.perf_counter()
    values = np.array([objective.climb(theta) for theta in starts])
    seconds = time.perf_counter() - start
    best = float(np.nanmax(values, initial=-np.inf))
    return Reference(best, int(np.isnan(values).sum()), seconds)


def _beside(problem: Problem, fit: LocalFit, reference: Reference, seconds: float) -> FitContext:
    densities = [mode.log_likelihood + mode.log_prior for mode in fit.modes]
    return FitContext(
        problem,
        fit.expression,
        ours=densities[0] if densities else -np.inf,
        our_highest=max(densities, default=-np.inf),
        best=reference.best,
        skipped=reference.skipped,
        our_seconds=seconds,
        seconds=reference.seconds,
    )


class _Objective:
    """The log posterior density of one candidate's θ as a GPflow model, compiled once."""

    def __init__(self, layout: Layout, X: Array, y: Array) -> None:
        self.layout, self.X, self.y = layout, X, y
        kernel = to_gpflow(layout.expression)
        model: Any = gpflow.models.GPR((X, y[:, np.newaxis]), kernel)
        model.likelihood.variance = positive_parameter(1.0)
        noise = Binding(model.likelihood.variance, (NOISE_SLOT,))
        self.bindings = [noise, *bindings(kernel, layout)]
        for binding in self.bindings:
            _set_prior(binding, layout)
        self.variables = model.trainable_variables
        self.loss = _loss(model)
        # It keeps the compiled loss and gradient for as long as the loss is the same object.
        self.optimiser = gpflow.optimizers.Scipy()

    def climb(self, theta: Array) -> float:
        """The value where a restart from θ ends, or NaN."""
        self._put(theta)
        try:
            result = self.optimiser.minimize(
                self.loss,
                self.variables,
                method="L-BFGS-B",
                tf_fun_args={"autograph": False},
                options={"maxiter": ITERATIONS},
            )
        except tf.errors.InvalidArgumentError:
            return np.nan
        return -float(result.fun) if np.isfinite(result.fun) else np.nan

    def check(self, thetas: Sequence[Array]) -> None:
        """Raise unless this objective has our own values wherever these are finite."""
        expression = self.layout.expression
        ours = LogPosterior([expression], 1, ExactEvidence(self.X, self.y, 0.0))
        for theta in thetas:
            expected = float(ours(np.array([0]), theta[np.newaxis])[0][0])
            if not np.isfinite(expected):
                continue
            self._put(theta)
            value = -float(self.loss())
            if not np.isclose(value, expected, rtol=AGREEMENT, atol=AGREEMENT):
                raise RuntimeError(
                    f"the objectives of '{expression}' differ at θ = {theta}: {value} in GPflow, "
                    f"{expected} in vbks. Priors or transforms are not the same."
                )

    def _put(self, theta: Array) -> None:
        for binding in self.bindings:
            binding.put(theta)


def _set_prior(binding: Binding, layout: Layout) -> None:
    shape = binding.parameter.unconstrained_variable.shape
    slots = list(binding.slots)
    mean = layout.prior_mean[slots] - binding.offset
    sd = layout.prior_sd[slots]
    binding.parameter.prior = tfp.distributions.Normal(mean.reshape(shape), sd.reshape(shape))
    binding.parameter.prior_on = "unconstrained"


def _loss(model: Any) -> Callable[[], tf.Tensor]:
    """Minus the log posterior density of unconstrained values.

    The model's own training loss has the density of the constrained ones, whose maximum is another.
    """

    def loss() -> tf.Tensor:
        densities = [
            tf.reduce_sum(parameter.prior.log_prob(parameter.unconstrained_variable))
            for parameter in model.trainable_parameters
        ]
        return -(model.log_marginal_likelihood() + tf.add_n(densities))

    return loss


def _tell(problem: Problem, results: Sequence[FitContext]) -> None:
    ours, theirs = (sum(r.our_seconds for r in results), sum(r.seconds for r in results))
    median = np.median([r.shortfall for r in results])
    each = "; ".join(f"{r.expression} {r.shortfall:.2f}" for r in results)
    print(
        f"{problem.name}: ours {ours:.1f} s, GPflow {theirs:.1f} s, "
        f"median shortfall {median:.3f} nats ({each})",
        file=sys.stderr,
        flush=True,
    )


def _overall(results: Sequence[FitContext]) -> Iterator[Figure]:
    shortfalls = [r.shortfall for r in results]
    yield Figure(_least(), min(shortfalls), "nats")
    for share in PERCENTILES:
        figure = _asked(_percentile(share), _at(share, shortfalls), ASKED.get(share))
        yield replace(figure, others=_worst(results)) if share == 100 else figure
    highest = [_shortfall(r.best, r.our_highest) for r in results]
    for share in ASKED:
        yield Figure(f"{_percentile(share)}, our highest mode", _at(share, highest), "nats")
    yield from _shares(shortfalls)


def _by_group(results: Sequence[FitContext]) -> Iterator[Figure]:
    for group in GROUPS:
        shortfalls = [r.shortfall for r in results if r.problem.group == group]
        if shortfalls:
            for share in ASKED:
                yield Figure(_percentile(share, group), _at(share, shortfalls), "nats")
            yield from _shares(shortfalls, group)


def _shares(shortfalls: Sequence[float], group: str = "") -> Iterator[Figure]:
    values = np.array(shortfalls)
    for name, members in (
        (f"ours better by more than {SAME:g}", values < -SAME),
        (f"equal within {SAME:g}", np.abs(values) <= SAME),
        (f"ours worse by more than {SAME:g}", values > SAME),
    ):
        others = f"{members.sum()} of {len(values)} candidates"
        yield Figure(_of(group, name), 100 * float(members.mean()), "%", others=others)


def _costs(results: Sequence[FitContext], restarts: int) -> Iterator[Figure]:
    theirs = sum(r.seconds for r in results)
    yield Figure("seconds of ours", sum(r.our_seconds for r in results), "s")
    yield Figure(f"seconds of GPflow with {restarts} restarts", theirs, "s")
    yield Figure("restarts of GPflow that failed", sum(r.skipped for r in results), "")
    yield Figure("fits of ours that failed", sum(not np.isfinite(r.ours) for r in results), "")


def _worst(results: Sequence[FitContext]) -> str:
    worst = sorted(results, key=lambda r: -r.shortfall)[:NUM_WORST]
    return "; ".join(f"{r.expression} on {r.problem.name}: {r.shortfall:.2f}" for r in worst)


def _asked(name: str, value: float, limit: float | None) -> Figure:
    if limit is None:
        return Figure(name, value, "nats")
    return Figure(name, value, "nats", f"at most {limit:g}", met=bool(value <= limit))


def _shortfall(best: float, ours: float) -> float:
    """Zero where both failed."""
    return 0.0 if best == ours else best - ours


def _at(share: int, shortfalls: Sequence[float]) -> float:
    """A percentile that is one of the values, so that a failed fit counts as infinitely worse."""
    return float(np.percentile(shortfalls, share, method="higher"))


def _percentile(share: int, group: str = "") -> str:
    name = {50: "median shortfall", 100: "largest shortfall"}
    return _of(group, name.get(share, f"shortfall, {share}th percentile"))


def _least() -> str:
    return "smallest shortfall"


def _of(group: str, name: str) -> str:
    return f"{group}: {name}" if group else name

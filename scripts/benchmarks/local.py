"""Stochastic fits of K144 beside a loop over `gpflow.models.SVGP` trained with Adam.

Both count until the mean bound over ten kernels, named beforehand, is within a nat per thousand
rows of the best that either reaches. The loop trains these ten, one after the other, from the θ
that our screening has found, which it gets for nothing; its time is scaled to as many kernels as
ours fits. A loop that has not arrived after its last step counts with the time it took until then.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gpflow
import numpy as np
import pandas as pd
import tensorflow as tf

from benchmarks.door.figure import Context, Figure
from benchmarks.door.memory import resident_memory
from benchmarks.door.pairs import draw_pairs
from benchmarks.door.record import Line
from vbks.arrays import Array
from vbks.data.training import TrainingData, prepare
from vbks.grammar.canonical import arrange
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.grammar.space import K144
from vbks.inference.candidate import make_candidate
from vbks.inference.choices import make_context
from vbks.inference.context import FitContext
from vbks.inference.evaluator import fit_candidates
from vbks.inference.result import LocalFit
from vbks.inference.rungs import run_rung
from vbks.inference.settings import FitSettings
from vbks.inference.svgp.minibatches import StepBatches
from vbks.inference.svgp.stage import StochasticStage
from vbks.inference.svgp.steps import take_step
from vbks.inference.svgp.trajectory import NewtonTrajectory
from vbks.kernels.gpflow.conversion import to_gpflow

TEN = (
    "SE",
    "PER",
    "LIN + PER",
    "SE * PER",
    "RQ * LIN",
    "SE + LIN + PER",
    "SE * PER * LIN",
    "SE * PER + RQ",
    "(SE + PER) * LIN",
    "(LIN + PER) * RQ",
)
"""One of each shape in K144, and of one and two leaves."""

RATE = 0.01
"""Of Adam: the fastest of 0.001, 0.01 and 0.1 that still arrives."""

NATS_PER_ROW = 1e-3
"""How close to the best mean bound counts as arrived."""


@dataclass(frozen=True)
class Case:
    """Sizes of one comparison, how many kernels each side fits, and how long the loop may go on."""

    name: str
    num_rows: int
    num_inducing: int
    batch_size: int
    num_ours: int
    num_loop: int
    loop_steps: int
    checks: int
    asked: float


CASES = (
    Case("N=1,000 M=16 B=32", 1_000, 16, 32, 144, 10, 12_000, 24, 40.0),
    Case("N=10,000 M=100 B=128", 10_000, 100, 128, 144, 10, 6_000, 12, 20.0),
    Case("N=46,000 M=400 B=128", 46_652, 400, 128, 12, 4, 4_000, 8, 8.0),
)

QUICK = (Case("N=1,000 M=16 B=32", 1_000, 16, 32, 12, 2, 500, 2, 40.0),)


def run(context: Context) -> list[Figure]:
    """Times to the same answer for three sizes, and a step at a million rows."""
    figures: list[Figure] = []
    for case in QUICK if context.quick else CASES:
        figures += _compare(case, context)
        gc.collect()
    return figures + _cost_of_a_step(context)


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: seconds of ours and of the loop, which may have been stopped early."""
    draw_pairs(lines[-1], "s", "Time to the same mean bound", path)


def _compare(case: Case, context: Context) -> list[Figure]:
    pair = _rows(case, context)
    if pair is None:
        return []
    rows = prepare(pair)
    ten = [_member(text) for text in TEN][: max(case.num_loop, min(10, case.num_ours))]
    others = [expression for expression in K144 if expression not in ten]
    ours = [*ten, *others][: case.num_ours]
    began = time.perf_counter()
    fits = _fit(ours, rows, case, context.seed)
    seconds = time.perf_counter() - began
    failed = sum(fit.status != "fitted" for fit in fits)
    loop = _Loop(case, rows, ten[: case.num_loop], context.seed)
    curves = loop.train()
    mine = float(np.mean([fit.elbo for fit in fits[: case.num_loop]]))
    theirs = curves.bounds.mean(axis=0)
    best = max(mine, float(theirs.max()))
    close = NATS_PER_ROW * case.num_rows
    arrived = np.flatnonzero(theirs >= best - close)
    check = int(arrived[0]) if len(arrived) else len(theirs) - 1
    scaled = curves.seconds[:, check].sum() * case.num_ours / case.num_loop
    at_least = "" if len(arrived) else "at least "
    short = f"ours is {best - mine:.1f} nats from the best, the loop {best - theirs.max():.1f}"
    return [
        Figure(
            f"times faster, {case.name}",
            scaled / seconds,
            "",
            f"at least {case.asked:g}",
            f"the loop: {at_least}{scaled:,.0f} s, scaled from {case.num_loop} kernels; {short}",
            bool(scaled / seconds >= case.asked and mine >= best - close),
        ),
        Figure(f"all {case.num_ours} kernels, {case.name}", seconds, "s"),
        Figure(f"all {case.num_ours} kernels by the loop, {case.name}", scaled, "s"),
        Figure(f"mean bound of the named kernels, {case.name}", mine, "nats"),
        Figure(f"mean bound by the loop, {case.name}", float(theirs.max()), "nats"),
        Figure(f"not fitted, {case.name}", failed, ""),
    ]


def _fit(
    expressions: Sequence[Expression], rows: TrainingData, case: Case, seed: int
) -> list[LocalFit]:
    return fit_candidates(
        expressions,
        rows,
        inference="stochastic",
        posterior="point",
        num_inducing=case.num_inducing,
        batch_size=case.batch_size,
        prune=False,
        seed=seed,
    )


def _member(text: str) -> Expression:
    wanted = arrange(parse(text))
    return next(expression for expression in K144 if arrange(expression) == wanted)


def _rows(case: Case, context: Context) -> tuple[Array, Array] | None:
    """The Swissgrid series where there are that many rows, else a wave in a trend with noise."""
    if case.num_rows > 40_000:
        path = context.file("large/swissgrid_15min_2019_2020.csv")
        if path is None:
            return None
        table = pd.read_csv(path)
        time_ = pd.to_datetime(table["time"])
        days = (time_ - time_.iloc[0]).dt.total_seconds().to_numpy() / 86_400
        return days[:, np.newaxis], table["kwh"].to_numpy()
    return _series(case.num_rows, context.seed)


def _series(num_rows: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 10, num_rows))
    wave = np.sin(2 * np.pi * x / 1.16) * np.exp(-0.5 * ((x - 5) / 2.9) ** 2)
    fast = np.sin(2 * np.pi * x / 0.38)
    y = 1.2 * wave + 0.3 * x + 0.5 * np.sin(x) + 0.4 * fast + 0.3 * rng.normal(size=num_rows)
    return x[:, np.newaxis], y


@dataclass(frozen=True)
class Curves:
    """Seconds since the beginning, and bounds of all rows, at every check: [kernels, checks]."""

    seconds: Array
    bounds: Array


class _Loop:
    """SVGPs trained one after the other, each compiled once."""

    def __init__(
        self, case: Case, rows: TrainingData, expressions: Sequence[Expression], seed: int
    ) -> None:
        self.case, self.rows, self.seed = case, rows, seed
        self.comparison = _comparison(rows, case, seed)
        candidates = [make_candidate(e, self.comparison, None) for e in expressions]
        rungs = self.comparison.screening.rungs
        screened = run_rung(candidates, self.comparison, rungs[1])
        self.starts = [candidate.thetas[0] for candidate in screened]
        self.expressions = expressions

    def train(self) -> Curves:
        """Train every kernel for all steps, checking its bound now and then."""
        curves = [self._one(*pair) for pair in zip(self.expressions, self.starts, strict=True)]
        seconds, bounds = zip(*curves, strict=True)
        return Curves(np.array(seconds), np.array(bounds))

    def _one(self, expression: Expression, theta: Array) -> tuple[list[float], list[float]]:
        case = self.case
        began = time.perf_counter()
        noise = gpflow.likelihoods.Gaussian(np.exp(theta[0]), variance_lower_bound=1e-8)
        kernel = to_gpflow(expression, theta=theta)
        model = gpflow.models.SVGP(kernel, noise, self.comparison.Z, num_data=case.num_rows)
        gpflow.set_trainable(model.inducing_variable, False)
        X, y = self.rows.arrays()
        batches = tf.data.Dataset.from_tensor_slices((X, y[:, np.newaxis]))
        batches = batches.shuffle(len(y), seed=self.seed).repeat().batch(case.batch_size)
        loss = model.training_loss_closure(iter(batches.prefetch(8)), compile=False)
        optimiser = gpflow.keras.tf_keras.optimizers.Adam(RATE)

        @tf.function(autograph=False)
        def step() -> None:
            optimiser.minimize(loss, model.trainable_variables)

        seconds, bounds = [], []
        spent = time.perf_counter() - began
        for _ in range(case.checks):
            began = time.perf_counter()
            for _ in range(case.loop_steps // case.checks):
                step()
            spent += time.perf_counter() - began
            seconds.append(spent)
            bounds.append(self._bound(model))
        return seconds, bounds

    def _bound(self, model: gpflow.models.SVGP) -> float:
        """The bound of all rows, block by block; its time does not count."""
        blocks = list(self.rows.blocks(4096))
        kl = float(model.prior_kl())
        total = 0.0
        for X, y in blocks:
            weight = len(y) / self.case.num_rows
            total += weight * (float(model.elbo((X, y[:, np.newaxis]))) + kl)
        return total - kl


def _comparison(rows: TrainingData, case: Case, seed: int) -> FitContext:
    comparison, _ = make_context(
        rows,
        case.num_ours,
        FitSettings(
            inference="stochastic",
            num_inducing=case.num_inducing,
            batch_size=case.batch_size,
            seed=seed,
        ),
    )
    return comparison


def _cost_of_a_step(context: Context) -> list[Figure]:
    """A round of 48 kernels at M=100, with ten thousand rows and with a million in a file."""
    small = prepare(_series(10_000, context.seed))
    with tempfile.TemporaryDirectory() as folder:
        few = 100_000 if context.quick else 1_000_000
        X, y = _mapped(few, Path(folder), context.seed)
        before = resident_memory()
        large = prepare((X, y))
        steps = [_Step(rows, context) for rows in (small, large)]
        seconds = np.array(
            [[step.take() for step in steps] for _ in range(3 if context.quick else 8)]
        )
        grown = resident_memory() - before
    fast, slow = seconds.min(axis=0)
    return [
        Figure(
            "a step at a million rows, beside ten thousand",
            slow / fast,
            "times",
            "at most 1.1",
            f"{slow * 1e3:.0f} ms and {fast * 1e3:.0f} ms, 48 kernels, M=100 B=128",
            bool(slow <= 1.1 * fast),
        ),
        Figure(
            "resident memory that a million rows add", grown, "MB", "at most 200", "", grown <= 200
        ),
    ]


def _mapped(num_rows: int, folder: Path, seed: int) -> tuple[Array, Array]:
    X, y = _series(num_rows, seed)
    for name, array in (("X", X), ("y", y)):
        np.save(folder / f"{name}.npy", array)
    del X, y
    return tuple(np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("X", "y"))


class _Step:
    """One SVGP step of stochastic fits, again and again, at the same θ."""

    def __init__(self, rows: TrainingData, context: Context) -> None:
        case = Case("", rows.num_rows, 100, 128, 48, 0, 0, 0, 0.0)
        comparison = _comparison(rows, case, context.seed)
        candidates = [make_candidate(e, comparison, None) for e in K144[::3]]
        self.stage = StochasticStage.of(candidates, comparison)
        self.trajectories = [
            NewtonTrajectory(c, c.layout.prior_mean, comparison.svgp) for c in candidates
        ]
        self.batches = StepBatches(comparison, len(candidates))
        self.take()

    def take(self) -> float:
        """Seconds of one step."""
        began = time.perf_counter()
        take_step(self.stage, self.trajectories, self.batches, None, renew=False)
        return time.perf_counter() - began

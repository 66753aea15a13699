"""Beliefs of the three kinds beside how often they are right, on data drawn from the fitted model.

The kernel of each data set is one of eight structures, all alike in probability. Its θ, noise
included, is drawn from the priors that the fits have. Inputs are evenly spaced, so that a period
below two spacings looks like a longer one; targets stay as they were drawn, because shifting and
scaling them would make another model. So the belief "bayes" is calibrated exactly if its evidences
are, and what it misses is their error: q(θ) that is Gaussian around each mode, and modes that were
not found. The other two beliefs have no such promise.

The expected calibration error is over all beliefs, of which most are near zero. A belief that knows
nothing has none either, so the log score and the belief in the first are beside it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Canvas

from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line
from benchmarks.door.telling import tell
from vbks.arrays import Array, Mask
from vbks.data import Identity, TrainingData, prepare
from vbks.grammar import Expression, parse
from vbks.inference import LocalFit, fit_candidates
from vbks.kernels import Bank, Normal, lay_out, slot_priors
from vbks.prediction import Selection
from vbks.selection import BeliefKind

STRUCTURES = tuple(
    parse(text)
    for text in ("SE", "RQ", "PER", "LIN", "SE + PER", "SE * PER", "LIN + SE", "LIN * PER")
)
"""No rule makes two of them equal, though RQ comes close to SE when its α is large."""

KINDS: tuple[BeliefKind, ...] = ("bayes", "vbks", "stacking")

TENTHS = 10

ASKED_ERROR = 0.07
"""Of "bayes"."""

LEAST_BELIEF = 1e-12
"""Beliefs below count as this in the log score, which a single zero would make infinite."""


@dataclass(frozen=True)
class Size:
    """How many data sets, and rows in each."""

    data_sets: int
    rows: int


FULL = Size(data_sets=200, rows=100)
QUICK = Size(data_sets=3, rows=40)


@dataclass(frozen=True)
class Outcome:
    """What was true of one data set, and what was believed: [K] for each kind."""

    truth: int
    beliefs: dict[BeliefKind, Array]
    seconds: float
    failed: int


@dataclass(frozen=True)
class Tenth:
    """Beliefs between two multiples of a tenth: mean, number and the share that is true."""

    mean: float
    count: int
    share: float


def run(context: Context) -> list[Figure]:
    """Calibration of the three beliefs over data sets drawn from the prior."""
    size = QUICK if context.quick else FULL
    outcomes = []
    for number in range(size.data_sets):
        outcomes.append(_one(np.random.default_rng([context.seed, number]), size.rows))
        _tell(number, outcomes)
    seconds = float(np.mean([outcome.seconds for outcome in outcomes]))
    return [
        *(figure for kind in KINDS for figure in _summary(kind, outcomes)),
        Figure("time for a data set", seconds, "s"),
        Figure("fits that failed", sum(outcome.failed for outcome in outcomes), ""),
        *(figure for kind in KINDS for figure in _curve(kind, outcomes)),
    ]


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest run: for each tenth of beliefs, how many are true against their mean."""
    newest = lines[-1]
    canvas = Canvas(figsize=(5.5, 5.2), layout="constrained")
    panel = canvas.subplots()
    panel.plot([0, 1], [0, 1], ":", color="tab:gray", label="as often as believed")
    for kind, marker in zip(KINDS, "os^", strict=True):
        start = _place_on_curve(kind, "")
        points = [f for f in newest.figures if f.name.startswith(start)]
        means = [float(figure.name.removeprefix(start)) for figure in points]
        error = next(f.value for f in newest.figures if f.name == _error_name(kind))
        shares = [figure.value for figure in points]
        panel.plot(means, shares, f"{marker}-", label=f"{kind}: error {error:.3f}")
    panel.set_xlabel("belief in a structure, mean of each tenth")
    panel.set_ylabel("share of cases in which it is the true one")
    panel.legend(loc="upper left")
    canvas.suptitle(f"Calibration of beliefs, {newest.date[:10]}")
    canvas.savefig(path, dpi=120)


def draw_rows(expression: Expression, num_rows: int, rng: np.random.Generator) -> TrainingData:
    """Rows of the model that is fitted: θ and noise from their priors, inputs of variance one."""
    X = np.arange(num_rows, dtype=float)[:, np.newaxis]
    X = (X - X.mean()) / X.std()
    theta = _draw_theta(expression, rng)
    bank = Bank([expression])
    covariance = bank(theta[np.newaxis], X)[0].numpy()
    noise = bank.noise(theta[np.newaxis], X)[0].numpy()
    factor = np.linalg.cholesky(covariance + np.diag(noise))
    return prepare((X, factor @ rng.normal(size=num_rows)), standardise_targets=False)


def tenths(beliefs: Array, hits: Mask) -> list[Tenth]:
    """The tenths in which there are beliefs, the lowest first, from beliefs and truths [n]."""
    place = np.minimum((beliefs * TENTHS).astype(int), TENTHS - 1)
    return [
        Tenth(float(beliefs[own].mean()), int(own.sum()), float(hits[own].mean()))
        for own in (place == k for k in range(TENTHS))
        if own.any()
    ]


def calibration_error(parts: Sequence[Tenth]) -> float:
    """The mean over beliefs of |share that is true − mean belief| in their tenth."""
    distances = [abs(part.share - part.mean) for part in parts]
    return float(np.average(distances, weights=[part.count for part in parts]))


def _draw_theta(expression: Expression, rng: np.random.Generator) -> Array:
    priors = slot_priors(lay_out(expression))
    normals = [prior for prior in priors if isinstance(prior, Normal)]
    if len(normals) < len(priors):
        raise RuntimeError(f"a prior of '{expression}' is not normal, which is not foreseen here.")
    return np.array([rng.normal(prior.mean, prior.sd) for prior in normals])


def _one(rng: np.random.Generator, num_rows: int) -> Outcome:
    truth = int(rng.integers(len(STRUCTURES)))
    rows = draw_rows(STRUCTURES[truth], num_rows, rng)
    began = time.perf_counter()
    fits = fit_structures(rows)
    seconds = time.perf_counter() - began
    selection = Selection(tuple(fits), {Identity(): rows})
    beliefs = {kind: selection.with_belief(kind).probabilities for kind in KINDS}
    return Outcome(truth, beliefs, seconds, sum(fit.status != "fitted" for fit in fits))


def fit_structures(rows: TrainingData) -> list[LocalFit]:
    """Exact fits of all structures, with q(θ)."""
    return fit_candidates(STRUCTURES, rows, inference="exact", posterior="full", race=False)


def _all_beliefs(kind: BeliefKind, outcomes: Sequence[Outcome]) -> tuple[Array, Mask]:
    beliefs = np.stack([outcome.beliefs[kind] for outcome in outcomes])
    hits = np.arange(len(STRUCTURES)) == np.array([[outcome.truth] for outcome in outcomes])
    return beliefs, hits


def _tell(number: int, outcomes: Sequence[Outcome]) -> None:
    last = outcomes[-1]
    believed = ", ".join(f"{kind} {last.beliefs[kind][last.truth]:.3f}" for kind in KINDS)
    beliefs, hits = _all_beliefs("bayes", outcomes)
    error = calibration_error(tenths(beliefs.ravel(), hits.ravel()))
    tell(
        f"data set {number + 1}, {STRUCTURES[last.truth]}: belief in it {believed}; "
        f"{last.seconds:.1f} s; error of bayes so far {error:.3f}"
    )


def _summary(kind: BeliefKind, outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    beliefs, hits = _all_beliefs(kind, outcomes)
    error = calibration_error(tenths(beliefs.ravel(), hits.ravel()))
    is_asked = kind == "bayes"
    yield Figure(
        _error_name(kind),
        error,
        "",
        f"at most {ASKED_ERROR:g}" if is_asked else None,
        met=error <= ASKED_ERROR if is_asked else None,
    )
    first = hits[np.arange(len(hits)), beliefs.argmax(axis=1)]
    yield Figure(
        f"{kind}: the structure believed most is the true one",
        100 * float(first.mean()),
        "%",
        others=f"it is believed with {100 * beliefs.max(axis=1).mean():.1f} % in the mean",
    )
    scores = -np.log(np.maximum(beliefs[hits], LEAST_BELIEF))
    yield Figure(
        f"{kind}: log score of the true structure",
        float(scores.mean()),
        "nats",
        others=f"to know nothing has {np.log(len(STRUCTURES)):.2f}; lower is better",
    )


def _curve(kind: BeliefKind, outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    beliefs, hits = _all_beliefs(kind, outcomes)
    for part in tenths(beliefs.ravel(), hits.ravel()):
        name = _place_on_curve(kind, f"{part.mean:.4f}")
        yield Figure(name, part.share, "", others=f"{part.count} beliefs")


def _error_name(kind: str) -> str:
    return f"{kind}: expected calibration error"


def _place_on_curve(kind: str, mean: str) -> str:
    return f"{kind}: share that is true where the mean belief is {mean}"

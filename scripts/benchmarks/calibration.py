"""How sure beliefs are beside how often they are right, on data drawn from the fitted model.

The structure of each data set is one of a list, all alike in probability; its θ, noise included, is
drawn from the priors that the fits have. Inputs are evenly spaced; targets stay as they were drawn,
because shifting and scaling them would make another model. So Bayes' posterior is calibrated
exactly if its evidences are, and what it misses is their error. Candidates are fitted as `vbks.fit`
fits a space: all by Laplace's approximation, and those that could hold more than a hundredth of the
belief to the end, with evidences by importance sampling. "by bounds" are beliefs from the bounds
with full q(θ) of the same candidates in place of these evidences; they are formed for some of the
data sets only, on which the log scores of all are compared. The second list has many structures
that nearly are others: RQ is SE where its α is large, and a factor that hardly varies is none.

The gap is the mean belief in the structure believed most, less how often it is the true one, with
the standard error of the latter. A belief that knows nothing has no gap either, so the log score is
beside it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Canvas

import vbks
from benchmarks.door.figure import Context, Figure
from benchmarks.door.record import Line, newest
from benchmarks.door.telling import tell
from benchmarks.door.workers import one_for_each_core
from vbks.arrays import Array, Mask
from vbks.data.signals.summaries import measure_inputs
from vbks.data.training import TrainingData, prepare
from vbks.data.warps import Identity, Warp
from vbks.grammar.canonical import structures
from vbks.grammar.expression import Expression
from vbks.grammar.space import space
from vbks.inference.evaluator import Evaluator
from vbks.inference.proposal import pairs_of
from vbks.inference.result import LocalFit
from vbks.inference.settings import FitSettings, FitStage
from vbks.kernels.bank.bank import Bank
from vbks.kernels.layout import lay_out
from vbks.kernels.parameters import NormalPrior
from vbks.kernels.priors import slot_priors
from vbks.policies import ChoicePolicy, SearchPolicy
from vbks.search.budget import Budget, BudgetTracker
from vbks.search.final_fits import FinalFits
from vbks.selection.selection import Selection

TENTHS = 10

ASKED_GAP = 0.03
"""Or two standard errors, if that is more."""

LEAST_BELIEF = 1e-3
"""Beliefs below count as this in the log score: a candidate that was left out of the last fits has
none, though it may hold up to a hundredth."""

BELIEFS = ("bayes", "vbks", "stacking", "bayes by bounds", "vbks by bounds")

DEFAULT, *_ = BELIEFS

RIVALS = ("stacking", "bayes by bounds", "vbks by bounds")
"""Beliefs whose log score the default's is not to be worse than."""


BOUNDS = FitStage("exact", "full")


@dataclass(frozen=True)
class Case:
    """A list of structures, how many data sets are drawn from it, and rows in each.

    The first ``compared`` of them have beliefs by bounds, too.
    """

    name: str
    structures: tuple[Expression, ...]
    data_sets: int
    compared: int
    rows: int


NEAR_COPIES = tuple(structures(space(level=3, families=("SE", "RQ", "PER"))))

FULL = (
    Case("K12", vbks.K12, data_sets=1000, compared=300, rows=40),
    Case("near copies", NEAR_COPIES, data_sets=300, compared=40, rows=32),
)
PARTS = tuple(case.name.replace(" ", "-") for case in FULL)

QUICK = (Case("K12", vbks.K12[:3], data_sets=3, compared=2, rows=40),)


@dataclass(frozen=True)
class Outcome:
    """What was true of one data set, and what was believed: [K] by each belief."""

    truth: int
    beliefs: dict[str, Array]
    errors: tuple[float, ...]
    seconds: float
    num_last: int


@dataclass(frozen=True)
class Tenth:
    """Beliefs between two multiples of a tenth: mean, number and the share that is true."""

    mean: float
    count: int
    share: float


def run(context: Context) -> list[Figure]:
    """Calibration over data sets drawn from the prior, on as many cores as there are."""
    figures: list[Figure] = []
    for part, case in zip(PARTS, QUICK if context.quick else FULL, strict=False):
        if context.part in (None, part):
            figures += _figures(case, list(_outcomes(case, context)))
    return figures


def draw(lines: Sequence[Line], path: Path) -> None:
    """The newest record of each case: the share of beliefs that is true, against their mean."""
    cases = {case.name: newest(lines, (f"{case.name}, ",)) for case in FULL}
    cases = {name: figures for name, figures in cases.items() if figures}
    canvas = Canvas(figsize=(5.0 * len(cases), 5.2), layout="constrained")
    panels = np.ravel(canvas.subplots(1, len(cases)))
    for panel, (case, figures) in zip(panels, cases.items(), strict=True):
        panel.plot([0, 1], [0, 1], ":", color="tab:gray", label="as often as believed")
        for belief, marker in zip(BELIEFS, "os^vD", strict=True):
            start = _place_on_curve(case, belief, "")
            points = [f for f in figures if f.name.startswith(start)]
            means = [float(figure.name.removeprefix(start)) for figure in points]
            panel.plot(means, [f.value for f in points], f"{marker}-", label=belief, ms=4, lw=1)
        panel.set_title(case)
        panel.set_xlabel("belief in a structure, mean of each tenth")
        panel.set_ylabel("share of cases in which it is the true one")
        panel.legend(loc="upper left", fontsize="small")
    canvas.suptitle(f"Calibration of beliefs, {lines[-1].date[:10]}")
    canvas.savefig(path, dpi=120)


def draw_rows(expression: Expression, num_rows: int, rng: np.random.Generator) -> TrainingData:
    """Rows of the model that is fitted: θ and noise from their priors, inputs of variance one."""
    return draw_model(expression, num_rows, rng)[0]


def draw_model(
    expression: Expression, num_rows: int, rng: np.random.Generator
) -> tuple[TrainingData, Array]:
    """Rows of the model that is fitted, and the θ [H] that they are drawn with."""
    X = np.arange(num_rows, dtype=float)[:, np.newaxis]
    X = (X - X.mean()) / X.std()
    theta = _draw_theta(expression, X, rng)
    bank = Bank([expression])
    covariance = bank(theta[np.newaxis], X)[0].numpy()
    noise = bank.noise(theta[np.newaxis], X)[0].numpy()
    factor = np.linalg.cholesky(covariance + np.diag(noise))
    return prepare((X, factor @ rng.normal(size=num_rows)), standardise_targets=False), theta


def tenths(beliefs: Array, hits: Mask) -> list[Tenth]:
    """The tenths in which there are beliefs, the lowest first, from beliefs and truths [n]."""
    place = np.minimum((beliefs * TENTHS).astype(int), TENTHS - 1)
    return [
        Tenth(float(beliefs[own].mean()), int(own.sum()), float(hits[own].mean()))
        for own in (place == k for k in range(TENTHS))
        if own.any()
    ]


def _draw_theta(expression: Expression, X: Array, rng: np.random.Generator) -> Array:
    priors = slot_priors(lay_out(expression), summaries=measure_inputs(X))
    normals = [prior for prior in priors if isinstance(prior, NormalPrior)]
    if len(normals) < len(priors):
        raise RuntimeError(f"a prior of '{expression}' is not normal, which is not foreseen here.")
    return np.array([rng.normal(prior.mean, prior.sd) for prior in normals])


def _outcomes(case: Case, context: Context) -> Iterator[Outcome]:
    """Outcomes of all data sets of a case, in order, by a process for each core."""
    task = partial(_one, case, context.seed)
    if context.quick:
        yield from map(task, range(case.data_sets))
        return
    with one_for_each_core() as pool:
        outcomes: list[Outcome] = []
        for outcome in pool.map(task, range(case.data_sets)):
            outcomes.append(outcome)
            if len(outcomes) % 20 == 0:
                _tell(case, outcomes)
            yield outcome


def _one(case: Case, seed: int, number: int) -> Outcome:
    rng = np.random.default_rng([seed, number])
    truth = int(rng.integers(len(case.structures)))
    rows = draw_rows(case.structures[truth], case.rows, rng)
    began = time.perf_counter()
    fits = fit_structures(rows, case.structures)
    seconds = time.perf_counter() - began
    last = [fit for fit in fits if fit.status == "fitted"]
    beliefs = _beliefs(fits, rows)
    if number < case.compared:
        beliefs |= _beliefs_by_bounds(fits, rows)
    errors = tuple(fit.log_evidence_error for fit in last)
    return Outcome(truth, beliefs, errors, seconds, len(last))


def fit_structures(rows: TrainingData, candidates: Sequence[Expression]) -> list[LocalFit]:
    """Fits of a space as `vbks.fit` makes them, of targets that stay as they are."""
    data: dict[Warp, TrainingData] = {Identity(): rows}
    evaluator = Evaluator(data, FitSettings(restarts=ChoicePolicy().restarts_for(rows.num_rows)))
    fits = evaluator.fit(pairs_of(candidates, (Identity(),)), FitStage("exact", "laplace"))
    stage = FitStage("exact", "laplace", importance=True)
    final = FinalFits(evaluator, stage, SearchPolicy().slack, posteriors=BOUNDS)
    done, _ = final.finish(fits, BudgetTracker(Budget()))
    return done


def _beliefs(fits: Sequence[LocalFit], rows: TrainingData) -> dict[str, Array]:
    """Probabilities, or weights of stacking."""
    selection = Selection(tuple(fits), {Identity(): rows})
    return {
        "bayes": selection.probabilities,
        "vbks": selection.with_belief("vbks").probabilities,
        "stacking": selection.with_belief(weights="stacking").weights,
    }


def _beliefs_by_bounds(fits: Sequence[LocalFit], rows: TrainingData) -> dict[str, Array]:
    """The same from bounds with full q(θ) of all that were fitted to the end."""
    evaluator = Evaluator({Identity(): rows})
    last = [k for k, fit in enumerate(fits) if fit.status == "fitted"]
    bounded = dict(zip(last, evaluator.go_on([fits[k] for k in last], BOUNDS), strict=True))
    own = tuple(bounded.get(k, fit) for k, fit in enumerate(fits))
    selection = Selection(own, {Identity(): rows})
    return {
        "bayes by bounds": selection.probabilities,
        "vbks by bounds": selection.with_belief("vbks").probabilities,
    }


def _all_beliefs(belief: str, outcomes: Sequence[Outcome]) -> tuple[Array, Mask]:
    outcomes = _with(belief, outcomes)
    beliefs = np.stack([outcome.beliefs[belief] for outcome in outcomes])
    truths = np.array([[outcome.truth] for outcome in outcomes])
    return beliefs, np.arange(beliefs.shape[1]) == truths


def _with(belief: str, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Outcomes that have a belief."""
    return [outcome for outcome in outcomes if belief in outcome.beliefs]


def _gap(belief: str, outcomes: Sequence[Outcome]) -> tuple[float, float, float, float]:
    """Mean belief in the first less how often it is right, its standard error, and both."""
    beliefs, hits = _all_beliefs(belief, outcomes)
    first = beliefs.argmax(axis=1)
    believed = beliefs.max(axis=1)
    right = hits[np.arange(len(hits)), first]
    error = float(np.std(believed - right, ddof=1) / np.sqrt(len(right)))
    return float(np.mean(believed - right)), error, float(believed.mean()), float(right.mean())


def _log_score(belief: str, outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """Mean negative log belief in the true structure, and its standard error."""
    scores = _log_scores(belief, outcomes)
    return float(scores.mean()), float(scores.std() / np.sqrt(len(scores)))


def _log_scores(belief: str, outcomes: Sequence[Outcome]) -> Array:
    beliefs, hits = _all_beliefs(belief, outcomes)
    return np.asarray(-np.log(np.maximum(beliefs[hits], LEAST_BELIEF)))


def _tell(case: Case, outcomes: Sequence[Outcome]) -> None:
    parts = []
    for belief in BELIEFS:
        gap, error, *_ = _gap(belief, outcomes)
        parts.append(f"{belief} {gap:+.3f} ± {error:.3f}, {_log_score(belief, outcomes)[0]:.3f}")
    seconds = np.mean([outcome.seconds for outcome in outcomes])
    tell(f"{case.name}, {len(outcomes)} sets, {seconds:.1f} s each: {'; '.join(parts)}")


def _figures(case: Case, outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    for belief in BELIEFS:
        yield from _summary(case, belief, outcomes)
    yield _beside_rivals(case, outcomes)
    errors = [error for outcome in outcomes for error in outcome.errors]
    yield Figure(
        f"{case.name}: standard error of a log evidence, median",
        float(np.median(errors)),
        "nats",
        others=f"90th percentile {np.quantile(errors, 0.9):.2f}",
    )
    num_last = [outcome.num_last for outcome in outcomes]
    yield Figure(
        f"{case.name}: candidates fitted to the end, mean",
        float(np.mean(num_last)),
        "",
        others=f"of {len(case.structures)}, at most {max(num_last)}",
    )
    seconds = float(np.mean([outcome.seconds for outcome in outcomes]))
    yield Figure(f"{case.name}: time for a data set on one core", seconds, "s")
    for belief in BELIEFS:
        yield from _curve(case, belief, outcomes)


def _summary(case: Case, belief: str, outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    gap, error, believed, right = _gap(belief, outcomes)
    limit = max(ASKED_GAP, 2.0 * error)
    is_asked = belief == DEFAULT
    yield Figure(
        f"{case.name}, {belief}: belief in the first less how often it is right",
        gap,
        "",
        f"at most {limit:.3f} from zero" if is_asked else None,
        others=f"standard error {error:.3f}; believed {100 * believed:.1f} %, right "
        f"{100 * right:.1f} % of {len(_with(belief, outcomes))}",
        met=abs(gap) <= limit if is_asked else None,
    )
    score, score_error = _log_score(belief, outcomes)
    yield Figure(
        f"{case.name}, {belief}: log score of the true structure",
        score,
        "nats",
        others=f"standard error {score_error:.3f}; to know nothing has "
        f"{np.log(len(case.structures)):.2f}; lower is better",
    )


def _beside_rivals(case: Case, outcomes: Sequence[Outcome]) -> Figure:
    """The log score of the default less that of the best rival, on the same data sets."""
    same = outcomes[: case.compared]
    own = _log_scores(DEFAULT, same)
    scores = {rival: _log_scores(rival, same) for rival in RIVALS}
    best = min(scores, key=lambda rival: float(scores[rival].mean()))
    differences = own - scores[best]
    error = float(np.std(differences, ddof=1) / np.sqrt(len(differences)))
    return Figure(
        f"{case.name}, {DEFAULT}: log score less that of the best of {', '.join(RIVALS)}",
        float(differences.mean()),
        "nats",
        "at most 0",
        others=f"standard error {error:.3f}; on {len(same)} data sets, of which {best} has "
        f"{scores[best].mean():.3f}",
        met=bool(differences.mean() <= 0.0),
    )


def _curve(case: Case, belief: str, outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    beliefs, hits = _all_beliefs(belief, outcomes)
    for part in tenths(beliefs.ravel(), hits.ravel()):
        name = _place_on_curve(case.name, belief, f"{part.mean:.4f}")
        yield Figure(name, part.share, "", others=f"{part.count} beliefs")


def _place_on_curve(case: str, belief: str, mean: str) -> str:
    return f"{case}, {belief}: share that is true where the mean belief is {mean}"

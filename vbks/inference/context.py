"""What all candidates of one comparison share: rows, bound, inducing inputs, priors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vbks.arrays import Array
from vbks.data.signals.input_summary import InputSummary
from vbks.data.signals.summaries import summarise_inputs
from vbks.data.training import TrainingData
from vbks.grammar.expression import Expression
from vbks.inference.inducing import choose_inducing
from vbks.inference.likelihoods.likelihood import Likelihood
from vbks.inference.objectives.evidence import CollapsedEvidence, ExactEvidence
from vbks.inference.objectives.log_posterior import ELEMENTS_AT_ONCE, Evidence, LogPosterior
from vbks.inference.result import Ascent, Bound, Posterior
from vbks.inference.screening import ScreeningPolicy
from vbks.inference.svgp.policy import SvgpPolicy
from vbks.kernels.given import GivenValues
from vbks.kernels.layout import Layout
from vbks.kernels.parameters import NormalPrior, Prior
from vbks.kernels.priors import Priors, slot_priors
from vbks.kernels.starts.policy import StartPolicy

SUMMARY_ROWS = 20_000
"""Rows in which periods are sought: a periodogram of 20,000 rows takes a fraction of a second."""

LOOK_ROWS = 500
"""Rows of a sparse first look at a large data set: a candidate then costs a few milliseconds for
each step."""

LOOK_INDUCING = 50
"""Inducing points of the first look of stochastic fits, with `LOOK_ROWS` rows: a candidate then
costs a few milliseconds for each step."""

LOOK_ELEMENTS = 300**2
"""Numbers in the kernel matrices of a sparse first look of collapsed fits, which set its inducing
points. With few inducing points short lengthscales look worse than they are, and their starts are
lost."""

EXACT_LOOK_ROWS = (150, 250)
"""Rows of an exact look: half of all, or four for each inducing point, within these limits. An
evaluation of half the rows takes a fifth of the time. If fits are exact, too, rows along one input
are in runs of neighbours."""

FEW_INDUCING = 64
"""Inducing points below which looks at collapsed fits are exact: with few, climbs do not reach
optima that their bound has, while it is easily climbed from where the exact one has them."""

LARGEST_LOOK = 500**2
"""Numbers in the kernel matrices of a candidate up to which collapsed looks need no short cut."""

MIDDLE_ELEMENTS = 1_000_000
"""Numbers in the kernel matrices of a collapsed fit to the intermediate subset of rows, which is
optimised before all rows. The subset shows at less cost which of several optima is the best."""

MIDDLE_ROWS = 400
"""Rows of the intermediate subset of exact fits, which is optimised before all rows. It shows at
less cost which of several optima is the best."""

LARGE = 2.0
"""Use the intermediate subset only if N exceeds this many times its size: else it saves little."""

CHUNK = 48
"""Up to this many candidates are worked on together: enough to fill a device."""

CHUNK_ELEMENTS = 1_200_000
"""Up to this many numbers are in the kernel matrices of the candidates of a chunk. Chunks are then
small enough to distribute, and take less than a minute in most cases, which is what an interruption
may cost."""

IMPORTANCE_SAMPLES = (128, 4096)
"""Fewest and most samples of θ by which an evidence is estimated."""

IMPORTANCE_ELEMENTS = 20_000_000
"""Numbers in the kernel matrices of all samples of θ together by which an evidence is estimated:
about a second of work. The number of samples stays within `IMPORTANCE_SAMPLES`."""

IMPORTANCE_LIMIT = 1_000_000
"""Evidences are not estimated by samples of θ if the kernel matrices of one sample have more
numbers than this: q(θ) is close to Gaussian there anyway."""

PARAMETER_SD = 1.0
"""Prior standard deviation of the logarithm of a likelihood's parameter around the value it came
with."""

POSTERIOR_SAMPLES = 8
"""Samples of q(θ) over which a stochastic bound is averaged."""

SMALL = 100 * 2000
"""Numbers in the kernel matrices of one candidate up to which stochastic fits take all rows."""

WORK_ARRAYS = 12
"""Arrays as large as the kernel matrices that an evaluation with gradient holds at most."""

Batch = tuple[Array, Array]


@dataclass(frozen=True)
class FitContext:
    """Rows and settings under which candidates are compared.

    ``jitter`` is added to the diagonal of Kuu, or of the covariance of all rows in exact fits.
    ``inducing`` [M, D], if given, are the inducing inputs; else they are chosen. Where fits are to
    a part of the rows, ``whole`` are all of them, which starts know. ``given`` are values of θ of
    some expressions, to be held or to start from.
    """

    data: TrainingData
    likelihood: Likelihood
    bound: Bound
    posterior: Posterior
    num_inducing: int
    batch_size: int
    ascent: Ascent
    restarts: int
    prior: str
    ard: bool
    jitter: float
    memory: int
    seed: int
    inducing: Array | None = None
    whole: TrainingData | None = None
    given: Mapping[Expression, GivenValues] = field(default_factory=dict)
    importance: bool = False
    """Whether evidences are estimated by importance sampling, where that is affordable."""
    screening: ScreeningPolicy = field(default_factory=ScreeningPolicy)
    """What trades time for quality in the stages of a fit."""
    starts: StartPolicy = field(default_factory=StartPolicy)
    """What trades time for quality in starts."""
    svgp: SvgpPolicy = field(default_factory=SvgpPolicy)
    """What trades time for quality in stochastic fits."""

    @property
    def num_importance_samples(self) -> int:
        """Samples of θ for the evidence of a candidate; none where an evaluation is expensive."""
        if not self.importance or self.posterior == "point" or self.bound == "stochastic":
            return 0
        if self._elements > IMPORTANCE_LIMIT:
            return 0
        return int(np.clip(IMPORTANCE_ELEMENTS // self._elements, *IMPORTANCE_SAMPLES))

    @property
    def num_rows(self) -> int:
        """Number N of rows."""
        return self.data.num_rows

    @property
    def num_inputs(self) -> int:
        """Number D of inputs."""
        return self.data.num_inputs

    @property
    def bounds_theta(self) -> bool:
        """Whether q(θ) is part of the bound."""
        return self.posterior in ("full", "diagonal")

    @property
    def chunk_size(self) -> int:
        """Candidates that are worked on together, as many as time and memory allow."""
        elements, most = self._elements, CHUNK
        if self.bound == "stochastic":
            elements = self._batch_elements
            most = min(most, self.memory // self._bytes_of(self._samples * elements))
        return max(1, min(most, CHUNK_ELEMENTS // elements))

    def look_bytes(self) -> int:
        """Bytes at most that first looks at a chunk of candidates take."""
        return self._bytes_of(self._elements_at_once)

    def fit_bytes(self, num_candidates: int) -> int:
        """Bytes that fits of ``num_candidates`` candidates at once take, roughly.

        Exact and collapsed fits evaluate as many matrices at once as `log_posterior` allows.
        """
        if self.bound == "stochastic":
            return self._bytes_of(num_candidates * self._samples * self._batch_elements)
        at_once = min(num_candidates * self._elements, self._elements_at_once)
        return self._bytes_of(max(self._elements, at_once))

    @staticmethod
    def _bytes_of(elements: int) -> int:
        """Bytes of an evaluation with gradient of kernel matrices with ``elements`` numbers."""
        return 8 * WORK_ARRAYS * elements

    @property
    def _samples(self) -> int:
        return POSTERIOR_SAMPLES if self.bounds_theta else 1

    @property
    def _batch_elements(self) -> int:
        return self.num_inducing * (self.num_inducing + self.batch_size)

    @property
    def _elements_at_once(self) -> int:
        return min(ELEMENTS_AT_ONCE, self.memory // (8 * WORK_ARRAYS))

    @cached_property
    def Z(self) -> Array:
        """Inducing inputs: [M, D], the same for all candidates."""
        if self.inducing is not None:
            return self.inducing
        X, _ = self.data.sample(SUMMARY_ROWS, self.rng("sample"))
        return choose_inducing(X, self.num_inducing, self.rng("inducing"))

    @cached_property
    def summaries(self) -> tuple[InputSummary, ...]:
        """What starts need to know of the inputs."""
        X, y = self.some_rows(SUMMARY_ROWS, "sample")
        return summarise_inputs(X, self.likelihood.pseudo_targets(y))

    def some_rows(self, num: int, purpose: str) -> Batch:
        """Rows at random for one purpose, of all there are: ``num`` of them, or all."""
        return self.some_data(num, purpose).arrays()

    def some_data(self, num: int, purpose: str) -> TrainingData:
        """The same with the noise that is known of them."""
        return (self.whole or self.data).sampled(num, self.rng(purpose))

    def prior_of(self, layout: Layout) -> tuple[Prior, ...]:
        """The priors of an expression's slots."""
        priors = slot_priors(layout, self.prior, self.summaries, self.num_rows)
        given = self.given.get(layout.expression)
        return priors if given is None else given.priors(priors)

    def log_prior(self, layout: Layout, theta: Array) -> float:
        """log p(θ) of an expression at θ [H]."""
        priors = Priors([self.prior_of(layout)], len(theta))
        density, _ = priors.log_density(np.zeros(1, np.intp), theta[np.newaxis])
        return float(density[0])

    def final_priors(self, layout: Layout) -> tuple[Prior, ...]:
        """The same where the likelihood is not Gaussian: slot 0 is then its own parameter."""
        priors = self.prior_of(layout)
        if self.likelihood.is_gaussian:
            return priors
        return (NormalPrior(self.likelihood.parameter_start, PARAMETER_SD), *priors[1:])

    def final_theta(self, theta: Array) -> Array:
        """θ [H] of a look as the start of a fit: looks take all noise as Gaussian."""
        if self.likelihood.is_gaussian:
            return theta
        return np.concatenate([[self.likelihood.parameter_start], theta[1:]])

    def rng(self, purpose: str) -> np.random.Generator:
        """A generator for one purpose, whatever was drawn for others."""
        return np.random.default_rng([self.seed, *purpose.encode()])

    def final_evidence(self, jitter: float) -> Evidence:
        """The objective of exact and collapsed fits."""
        if self.bound == "exact":
            return _exact(self.data, jitter)
        return CollapsedEvidence(*self.data.arrays(), self.Z, jitter, self.data.known_noise)

    @property
    def has_middle(self) -> bool:
        """Whether a fit to some of the rows is much cheaper than one to all."""
        return self.bound != "stochastic" and self.num_rows > LARGE * self.num_middle_rows

    @property
    def num_middle_rows(self) -> int:
        """Rows of fits that are half way from a look to the end."""
        if self.bound == "exact":
            return MIDDLE_ROWS
        M = self.num_inducing
        return max(M, MIDDLE_ELEMENTS // M - M)

    def middle_evidence(self, jitter: float) -> Evidence:
        """The objective of an exact or collapsed fit to some of the rows."""
        num = self.num_middle_rows
        if self.bound == "exact":
            return _exact(self._in_runs(num, "rows of the middle"), jitter)
        rows = self.data.sampled(num, self.rng("rows of the middle"))
        return CollapsedEvidence(*rows.arrays(), self.Z, jitter, rows.known_noise)

    def _in_runs(self, num: int, purpose: str) -> TrainingData:
        """A sample of ``num`` rows, along one input in runs of neighbours."""
        if self.data.is_in_order:
            return self.data.in_runs(num)
        return self.data.sampled(num, self.rng(purpose))

    def look_evidence(self, jitter: float) -> Evidence:
        """A cheap objective: the final one if that is cheap, else one of few rows."""
        if self.looks_at_all:
            return self.final_evidence(jitter)
        rows = self.look_rows
        if self.looks_exactly:
            return _exact(rows, jitter)
        X, y = rows.arrays()
        Z = choose_inducing(X, self._look_inducing(len(X)), self.rng("look"))
        targets = self.likelihood.pseudo_targets(y)
        return CollapsedEvidence(X, targets, Z, max(jitter, self.look_jitter), rows.known_noise)

    def _look_inducing(self, num_rows: int) -> int:
        if self.bound == "stochastic":
            return min(self.num_inducing, LOOK_INDUCING)
        affordable = int(0.5 * (math.sqrt(num_rows**2 + 4 * LOOK_ELEMENTS) - num_rows))
        return min(self.num_inducing, affordable)

    @property
    def look_jitter(self) -> float:
        """Of sparse looks."""
        return 1e-6

    @cached_property
    def look_rows(self) -> TrainingData:
        """Rows of a first look."""
        num = self.num_look_rows
        if self.bound == "exact":
            return self._in_runs(num, "rows of the look")
        return self.data.sampled(num, self.rng("rows of the look"))

    @property
    def is_small(self) -> bool:
        """Whether all rows together cost no more than the minibatches of a step."""
        fits = self._elements <= SMALL
        return fits and self.likelihood.is_gaussian

    @property
    def num_look_rows(self) -> int:
        """Rows that a first look sees, about."""
        if self.looks_at_all:
            return self.num_rows
        if self.looks_exactly:
            enough = self.num_rows // 2 if self.bound == "exact" else 4 * self.num_inducing
            return min(int(np.clip(enough, *EXACT_LOOK_ROWS)), self.num_rows)
        return min(LOOK_ROWS, self.num_rows)

    def seen_by(self, stage: str) -> int:
        """Rows that a stage of the race sees, about."""
        if stage in ("glance", "look"):
            return self.num_look_rows
        if stage == "first climb" and self.has_middle:
            return self.num_middle_rows
        return self.num_rows

    @property
    def looks_at_all(self) -> bool:
        """Whether a first look has the objective of the fit, as that is cheap."""
        if self.bound == "exact":
            return self.num_rows <= EXACT_LOOK_ROWS[0]
        cheap = self.bound == "collapsed" and self._elements <= LARGEST_LOOK
        return cheap and not self.looks_exactly

    @property
    def looks_exactly(self) -> bool:
        """Whether a first look integrates the function out exactly."""
        few = self.bound == "collapsed" and self.num_inducing < FEW_INDUCING
        return self.bound == "exact" or few

    @property
    def looks_closely(self) -> bool:
        """Whether a first look has the bound of the fit, be it of all rows or of a part."""
        return self.looks_at_all or self.bound == "exact"

    def log_posterior(self, expressions: list[Expression], evidence: Evidence) -> LogPosterior:
        """The log posterior of θ of some expressions, for a number of kernel matrices that fits."""
        return LogPosterior(
            expressions,
            self.num_inputs,
            evidence,
            ard=self.ard,
            prior_of=self.prior_of,
            prior_share=self._prior_share(evidence.num_rows),
            elements=self._elements_at_once,
        )

    def _prior_share(self, num_rows: int) -> float:
        """How much priors count where some rows stand for all.

        Those of SKC are so strong that few rows would end in other optima than all do.
        """
        return num_rows / self.num_rows if self.prior == "skc" else 1.0

    @property
    def _elements(self) -> int:
        N, M = self.num_rows, self.num_inducing
        return N * N if self.bound == "exact" else M * (M + N)


def _exact(rows: TrainingData, jitter: float) -> ExactEvidence:
    """The evidence of rows, with the noise that is known of them."""
    return ExactEvidence(*rows.arrays(), jitter, rows.known_noise)

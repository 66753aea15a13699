"""What all candidates that are compared share: rows, bound, inducing inputs, priors."""

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
from vbks.inference.screening import Rung, RungRows, ScreeningPolicy
from vbks.inference.seeds import Seed
from vbks.inference.svgp.policy import SvgpPolicy
from vbks.kernels.given import GivenValues
from vbks.kernels.layout import Layout
from vbks.kernels.parameters import NormalPrior, Prior
from vbks.kernels.priors import Priors, slot_priors
from vbks.kernels.starts.policy import StartPolicy

PARAMETER_SD = 1.0
"""The logarithm of a likelihood's parameter has this prior standard deviation around the value it
came with: a part of the model."""

WORK_ARRAYS = 12
"""An evaluation with gradient holds at most this many arrays as large as its kernel matrices: a
measured fact of the implementation."""

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
        policy = self.screening
        if self._elements > policy.importance_limit:
            return 0
        num = policy.importance_elements // self._elements
        return int(np.clip(num, *policy.importance_samples))

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
        elements, most = self._elements, self.screening.chunk_candidates
        if self.bound == "stochastic":
            elements = self._batch_elements
            most = min(most, self.memory // self._bytes_of(self._samples * elements))
        return max(1, min(most, self.screening.chunk_elements // elements))

    def screening_bytes(self) -> int:
        """Bytes at most that the screening of a chunk of candidates takes."""
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
        return self.svgp.samples if self.bounds_theta else 1

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
        X, _ = self.data.sample(self.screening.summary_rows, self.rng(Seed.SUMMARY_ROWS))
        rng = self.rng(Seed.INDUCING)
        return choose_inducing(X, self.num_inducing, rng, self.screening.inducing)

    @cached_property
    def summaries(self) -> tuple[InputSummary, ...]:
        """What starts need to know of the inputs."""
        X, y = self.some_rows(self.screening.summary_rows, Seed.SUMMARY_ROWS)
        return summarise_inputs(X, self.likelihood.pseudo_targets(y), self.starts.signals)

    def some_rows(self, num: int, purpose: Seed) -> Batch:
        """Rows at random for one purpose, of all there are: ``num`` of them, or all."""
        return self.some_data(num, purpose).arrays()

    def some_data(self, num: int, purpose: Seed) -> TrainingData:
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
        """θ [H] of a screening as the start of a fit: a screening takes all noise as Gaussian."""
        if self.likelihood.is_gaussian:
            return theta
        return np.concatenate([[self.likelihood.parameter_start], theta[1:]])

    def rng(self, purpose: Seed, detail: str = "") -> np.random.Generator:
        """A generator for one purpose, or a detail of it, whatever was drawn for others."""
        return np.random.default_rng([self.seed, *f"{purpose.value}{detail}".encode()])

    def evidence(self, rows: RungRows, jitter: float) -> Evidence:
        """The objective of a rung that sees these rows."""
        if rows == "screening":
            return self.screening_evidence(jitter)
        if rows == "intermediate":
            return self.intermediate_evidence(jitter)
        return self.final_evidence(jitter)

    def num_rows_of(self, rung: Rung) -> int:
        """Rows that a rung sees, about."""
        if rung.rows == "screening":
            return self.num_screening_rows
        return self.num_intermediate_rows if rung.rows == "intermediate" else self.num_rows

    def final_evidence(self, jitter: float) -> Evidence:
        """The objective of exact and collapsed fits."""
        if self.bound == "exact":
            return _exact(self.data, jitter)
        return CollapsedEvidence(*self.data.arrays(), self.Z, jitter, self.data.known_noise)

    @property
    def has_intermediate(self) -> bool:
        """Whether a fit to some of the rows is much cheaper than one to all."""
        most = self.screening.intermediate_factor * self.num_intermediate_rows
        return self.bound != "stochastic" and self.num_rows > most

    @property
    def num_intermediate_rows(self) -> int:
        """Rows of fits that are half way from a screening to the end."""
        if self.bound == "exact":
            return self.screening.intermediate_rows
        M = self.num_inducing
        return max(M, self.screening.intermediate_elements // M - M)

    def intermediate_evidence(self, jitter: float) -> Evidence:
        """The objective of an exact or collapsed fit to some of the rows."""
        num = self.num_intermediate_rows
        if self.bound == "exact":
            return _exact(self._in_runs(num, Seed.INTERMEDIATE_ROWS), jitter)
        rows = self.data.sampled(num, self.rng(Seed.INTERMEDIATE_ROWS))
        return CollapsedEvidence(*rows.arrays(), self.Z, jitter, rows.known_noise)

    def _in_runs(self, num: int, purpose: Seed) -> TrainingData:
        """A sample of ``num`` rows, along one input in runs of neighbours."""
        if self.data.is_in_order:
            return self.data.in_runs(num)
        return self.data.sampled(num, self.rng(purpose))

    def screening_evidence(self, jitter: float) -> Evidence:
        """A cheap objective: the final one if that is cheap, else one of few rows."""
        if self.screens_all_rows:
            return self.final_evidence(jitter)
        rows = self.screening_rows
        if self.screens_exactly:
            return _exact(rows, jitter)
        X, y = rows.arrays()
        num, rng = self._screening_inducing(len(X)), self.rng(Seed.SCREENING_INDUCING)
        Z = choose_inducing(X, num, rng, self.screening.inducing)
        targets = self.likelihood.pseudo_targets(y)
        jitter = max(jitter, self.screening_jitter)
        return CollapsedEvidence(X, targets, Z, jitter, rows.known_noise)

    def _screening_inducing(self, num_rows: int) -> int:
        policy = self.screening
        if self.bound == "stochastic":
            return min(self.num_inducing, policy.screening_inducing)
        total = math.sqrt(num_rows**2 + 4 * policy.screening_elements)
        return min(self.num_inducing, int(0.5 * (total - num_rows)))

    @property
    def screening_jitter(self) -> float:
        """The least jitter of sparse screenings."""
        return 1e-6

    @cached_property
    def screening_rows(self) -> TrainingData:
        """The rows of a screening."""
        num = self.num_screening_rows
        if self.bound == "exact":
            return self._in_runs(num, Seed.SCREENING_ROWS)
        return self.data.sampled(num, self.rng(Seed.SCREENING_ROWS))

    @property
    def is_small(self) -> bool:
        """Whether all rows together cost no more than the minibatches of a step."""
        fits = self._elements <= self.svgp.small_elements
        return fits and self.likelihood.is_gaussian

    @property
    def num_screening_rows(self) -> int:
        """Rows that a screening sees, about."""
        if self.screens_all_rows:
            return self.num_rows
        if self.screens_exactly:
            enough = self.num_rows // 2 if self.bound == "exact" else 4 * self.num_inducing
            limits = self.screening.exact_screening_rows
            return min(int(np.clip(enough, *limits)), self.num_rows)
        return min(self.screening.screening_rows, self.num_rows)

    @property
    def screens_all_rows(self) -> bool:
        """Whether a screening has the objective of the fit, as that is cheap."""
        if self.bound == "exact":
            return self.num_rows <= self.screening.exact_screening_rows[0]
        cheap = self.bound == "collapsed" and self._elements <= self.screening.cheap_elements
        return cheap and not self.screens_exactly

    @property
    def screens_exactly(self) -> bool:
        """Whether a screening integrates the function out exactly."""
        few = self.num_inducing < self.screening.few_inducing
        return self.bound == "exact" or (self.bound == "collapsed" and few)

    @property
    def screens_closely(self) -> bool:
        """Whether a screening has the bound of the fit, be it of all rows or of a part."""
        return self.screens_all_rows or self.bound == "exact"

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

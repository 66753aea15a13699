"""How a belief and the weights of predictions are formed from fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from vbks.arrays import Array
from vbks.errors import DataError, SettingsError, check_one_of
from vbks.grammar.canonical import arrange
from vbks.grammar.expression import Expression
from vbks.grammar.parser import parse
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.result import Correction, LocalFit
from vbks.weights.belief import check_positive
from vbks.weights.gaussian import PRIOR_VARIANCE, Form
from vbks.weights.policy import AveragingPolicy, LayerPolicy
from vbks.weights.prior import KernelPrior, as_weights, check_prior

BeliefKind = Literal["bayes", "vbks"]
"""Bayes' posterior over candidates, or the layer of the VBKS paper."""

Weighting = Literal["auto", "belief", "stacking"]
"""What predictions are averaged with: probabilities, the weights that predict left-out rows best,
or these where they are clearly better."""

DEFAULT_BELIEF: BeliefKind = "bayes"
"""p(k) exp(Lₖ): the layer of the paper under a free q(g) as its prior variance grows."""

PriorMean = Mapping[str, float] | Callable[[Expression], float]
"""Means of g by expressions; those that a mapping does not name have log p(k)."""

PriorCovariance = (
    Mapping[tuple[str, str], float] | Callable[[Expression, Expression], float] | Array
)
"""Covariances of g by pairs of expressions: those that a mapping does not name have the prior
variance or zero; or a matrix in the order of the expressions."""


@dataclass(frozen=True)
class BeliefSettings:
    """How a belief and the weights of predictions are formed from fits.

    Args:
        kind: "bayes" for p(k) exp(Lₖ/T), or "vbks" for the layer of the VBKS paper.
        temperature: log evidences are divided by it.
        prior: p(k): "uniform" over structures, "grammar", under which small ones are likelier, a
            mapping from expressions to relative probabilities, or a function of an expression.
        prior_variance: that of each g in the layer of the paper.
        correction: what makes an evidence of a point estimate.
        max_candidates: how many of the best take part; all by default.
        form: of q(g) in the layer: "gaussian", "mixture" or "free".
        prior_mean: means of g in the layer, by expression; log p(k) by default.
        prior_covariance: covariances of g in the layer, by pairs of expressions; of candidates
            under different warps there is none.
        weights: what predictions are averaged with: "belief", "stacking", or "auto" for the latter
            where it is clearly better.
        averaging_variance: prior variance of each g in the layer whose probabilities are the
            weights "belief"; that of the belief by default.
        max_averaged: how many of the best predictions are averaged over; all of those in the
            belief by default.
        seed: samples follow from it.
        layer: numbers that trade time for quality in the layer of the paper.
        averaging: which candidates predictions are averaged over, and when they are stacked.
    """

    kind: BeliefKind = DEFAULT_BELIEF
    temperature: float = 1.0
    prior: KernelPrior = "uniform"
    prior_variance: float = PRIOR_VARIANCE
    correction: Correction = "laplace"
    max_candidates: int | None = None
    form: Form = "gaussian"
    prior_mean: PriorMean | None = None
    prior_covariance: PriorCovariance | None = None
    weights: Weighting = "auto"
    seed: int = 0
    averaging_variance: float | None = None
    max_averaged: int | None = None
    layer: LayerPolicy = field(default_factory=LayerPolicy)
    averaging: AveragingPolicy = field(default_factory=AveragingPolicy)

    def __post_init__(self) -> None:
        for name, value, known in (
            ("belief", self.kind, get_args(BeliefKind)),
            ("correction", self.correction, get_args(Correction)),
            ("form", self.form, get_args(Form)),
            ("weights", self.weights, get_args(Weighting)),
        ):
            check_one_of(name, value, known)
        check_positive(temperature=self.temperature, prior_variance=self.prior_variance)
        check_positive(averaging_variance=self.averaging_variance or 1.0)
        check_prior(self.prior)
        for name in ("max_candidates", "max_averaged"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise SettingsError(f"{name} is {number}, expected 1 or more.")
        has_layer_prior = self.prior_mean is not None or self.prior_covariance is not None
        if self.kind != "vbks" and (has_layer_prior or self.form != "gaussian"):
            raise SettingsError(
                "form, prior_mean and prior_covariance are about q(g) and p(g), which only the "
                "belief 'vbks' has."
            )

    def changed(self, kind: str | None, **settings: Any) -> BeliefSettings:
        """The same with other settings; "stacking" as a kind means weights by stacking."""
        unknown = [name for name in settings if name not in self.__dataclass_fields__]
        if unknown:
            known = ", ".join(self.__dataclass_fields__)
            raise SettingsError(f"unknown setting {unknown[0]!r}. Known: {known}.")
        return replace(self, **belief_fields(kind), **settings)

    @property
    def for_averages(self) -> BeliefSettings:
        """The settings of the belief that predictions are averaged with."""
        most = [n for n in (self.max_candidates, self.max_averaged) if n is not None]
        return replace(
            self,
            prior_variance=self.averaging_variance or self.prior_variance,
            max_candidates=min(most, default=None),
            averaging_variance=None,
            max_averaged=None,
        )

    def resolved(self, fits: Sequence[LocalFit]) -> BeliefSettings:
        """The same as plain values for the candidates there are, so that it can be saved."""
        expressions = list(dict.fromkeys(fit.expression for fit in fits))
        return replace(
            self,
            prior=as_weights(self.prior, expressions),
            prior_mean=_plain_mean(self.prior_mean, expressions),
            prior_covariance=_plain_covariance(self.prior_covariance, expressions),
        )


def belief_fields(kind: str | None) -> dict[str, Any]:
    """The settings that the name of a belief stands for."""
    if kind is None:
        return {}
    if kind == "stacking":
        return {"kind": DEFAULT_BELIEF, "weights": "stacking"}
    check_one_of("belief", kind, (*get_args(BeliefKind), "stacking"))
    return {"kind": kind}


def paper_settings(
    settings: PaperSettings,
    num_rows: int,
    batch_size: int,
    prior: KernelPrior = "uniform",
    seed: int = 0,
) -> BeliefSettings:
    """The belief of the VBKS paper: bounds are divided by half the number of minibatches."""
    return BeliefSettings(
        "vbks",
        temperature=settings.temperature_of(num_rows, batch_size),
        prior=prior,
        prior_variance=settings.belief_variance,
        correction="none",
        weights="belief",
        seed=seed,
        averaging_variance=settings.averaging_variance,
        max_averaged=settings.max_averaged,
    )


def layer_mean(fits: Sequence[LocalFit], mean: PriorMean, log_prior: Array) -> Array:
    """Means of g [K] in the layer of the paper."""
    plain = _plain_mean(mean, [fit.expression for fit in fits])
    assert plain is not None
    return np.array(
        [plain.get(_key(fit.expression), own) for fit, own in zip(fits, log_prior, strict=True)]
    )


def layer_covariance(
    fits: Sequence[LocalFit], covariance: PriorCovariance, variance: float
) -> Array:
    """Covariances of g [K, K] in the layer of the paper; of different warps there are none."""
    plain = _plain_covariance(covariance, list(dict.fromkeys(fit.expression for fit in fits)))
    assert plain is not None
    keys = [_key(fit.expression) for fit in fits]
    return np.array(
        [
            [
                plain.get((a, b), plain.get((b, a), variance * (a == b)))
                if one.warp == other.warp
                else 0.0
                for b, other in zip(keys, fits, strict=True)
            ]
            for a, one in zip(keys, fits, strict=True)
        ]
    )


def _key(expression: Expression | str) -> str:
    return str(arrange(parse(expression)))


def _plain_mean(
    mean: PriorMean | None, expressions: Sequence[Expression]
) -> dict[str, float] | None:
    if mean is None:
        return None
    if isinstance(mean, Mapping):
        return {_key(text): float(value) for text, value in mean.items()}
    return {_key(expression): float(mean(expression)) for expression in expressions}


def _plain_covariance(
    covariance: PriorCovariance | None, expressions: Sequence[Expression]
) -> dict[tuple[str, str], float] | None:
    if covariance is None:
        return None
    if isinstance(covariance, Mapping):
        return {(_key(a), _key(b)): float(value) for (a, b), value in covariance.items()}
    pairs = [(i, j) for i in range(len(expressions)) for j in range(i + 1)]
    if callable(covariance):
        values = [covariance(expressions[i], expressions[j]) for i, j in pairs]
    else:
        matrix = np.asarray(covariance, float)
        if matrix.shape != (len(expressions),) * 2:
            raise DataError(
                f"prior_covariance has shape {matrix.shape}, expected "
                f"{(len(expressions),) * 2}: a row and a column for each expression."
            )
        values = [matrix[i, j] for i, j in pairs]
    keys = [_key(expression) for expression in expressions]
    return {(keys[i], keys[j]): float(v) for (i, j), v in zip(pairs, values, strict=True)}

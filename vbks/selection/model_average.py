"""`vbks.average`: trained GPflow models become a belief and an averaged model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from gpflow.models import GPModel

from vbks.arrays import Array
from vbks.errors import DataError, VbksError, check_one_of
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.predict.model_mixture import ModelMixture
from vbks.predict.models.evidences import Correction, common_data, log_evidence
from vbks.weights.belief import KernelBelief, bayes_belief
from vbks.weights.gaussian import vbks_belief
from vbks.weights.settings import BeliefSettings

SETTINGS = ("kind", "temperature", "prior_variance", "max_candidates", "form", "seed")
"""Settings of `BeliefSettings` that count here."""

ModelPrior = Sequence[float] | Mapping[str, float]
"""Relative probabilities of the models, in their order or by their names."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Models, what each is called, its log evidence, and why it takes no part if it does not."""

    models: tuple[GPModel, ...]
    names: tuple[str, ...]
    log_evidences: Array
    reasons: tuple[str, ...]
    log_prior: Array

    def belief(self, settings: BeliefSettings) -> KernelBelief:
        """The belief over the best ``settings.max_candidates`` candidates, or over all."""
        values = np.where([not reason for reason in self.reasons], self.log_evidences, -math.inf)
        if settings.max_candidates is not None:
            left_out = np.argsort(-values, kind="stable")[settings.max_candidates :]
            values[left_out] = -math.inf
        if settings.kind == "bayes":
            return bayes_belief(values, self.log_prior, temperature=settings.temperature)
        return vbks_belief(
            values,
            self.log_prior,
            prior_variance=settings.prior_variance,
            temperature=settings.temperature,
            form=settings.form,
            seed=settings.seed,
            policy=settings.layer,
        )


class ModelAverage(ModelMixture):
    """GPflow models, the belief over them, and predictions averaged over it.

    It is a GPflow model itself: predictions have the shapes, units and gradients of those of the
    models. It does not change: `with_belief` and `top` give new ones.
    """

    def __init__(self, candidates: Candidates, settings: BeliefSettings) -> None:
        self._candidates, self.settings = candidates, settings
        self.kernel_belief = candidates.belief(settings)
        super().__init__(candidates.models, self.kernel_belief.probabilities, seed=settings.seed)

    def __repr__(self) -> str:
        place = int(np.argmax(self.probabilities))
        return (
            f"<ModelAverage: {len(self.models)} models, best '{self.names[place]}' with "
            f"probability {self.probabilities[place]:.2f}>"
        )

    @property
    def models(self) -> tuple[GPModel, ...]:
        """All models, in the order that they were given in."""
        return self._candidates.models

    @property
    def names(self) -> tuple[str, ...]:
        """What the table calls them."""
        return self._candidates.names

    @property
    def log_evidences(self) -> Array:
        """Log evidences of the models: [K]."""
        return self._candidates.log_evidences

    @property
    def probabilities(self) -> Array:
        """The belief in each of `models`, which is also its weight in predictions: [K]."""
        return self.kernel_belief.probabilities

    @property
    def best(self) -> GPModel:
        """The model with the highest probability."""
        return self.models[int(np.argmax(self.probabilities))]

    @property
    def failures(self) -> dict[str, str]:
        """Names of models that take no part, and the reasons."""
        pairs = zip(self.names, self._candidates.reasons, strict=True)
        return {name: reason for name, reason in pairs if reason}

    @cached_property
    def belief(self) -> pd.DataFrame:
        """A table of the models, best first, with what both kinds of belief say."""
        kinds = {
            kind: self._candidates.belief(replace(self.settings, kind=kind, form="gaussian"))
            for kind in ("bayes", "vbks")
            if kind != self.settings.kind
        }
        kinds[self.settings.kind] = self.kernel_belief
        columns: dict[str, Any] = {
            "model": self.names,
            "probability": self.probabilities,
            "log_evidence": self.log_evidences,
            **{kind: kinds[kind].probabilities for kind in ("bayes", "vbks")},
            "status": ["failed" if reason else "fitted" for reason in self._candidates.reasons],
            "reason": self._candidates.reasons,
        }
        table = pd.DataFrame(columns)
        by = ["status", "probability", "log_evidence"]
        order = table.sort_values(by, ascending=[False, False, False], kind="stable").index
        return table.loc[order].reset_index(drop=True)

    def with_belief(self, kind: str | None = None, **settings: Any) -> ModelAverage:
        """The same models under another belief: "bayes" or "vbks", with settings of it."""
        return ModelAverage(self._candidates, _settings(self.settings, kind, settings))

    def top(self, num_candidates: int) -> ModelAverage:
        """The belief over the best ``num_candidates`` models, formed again."""
        return self.with_belief(max_candidates=num_candidates)

    def correlations(self) -> pd.DataFrame:
        """Correlations in q(g) of the VBKS belief: a diagnostic, not a likeness of models."""
        belief = self._candidates.belief(replace(self.settings, kind="vbks"))
        kept = np.flatnonzero(belief.probabilities > 0.0)
        names = [self.names[k] for k in kept]
        return pd.DataFrame(belief.correlations[np.ix_(kept, kept)], names, names)


def average(
    models: Sequence[GPModel],
    log_evidences: Sequence[float] | None = None,
    prior: ModelPrior | None = None,
    *,
    data: Any = None,
    names: Sequence[str] | None = None,
    correction: Correction = "none",
    belief: str | BeliefSettings = "bayes",
    **settings: Any,
) -> ModelAverage:
    """A belief over trained GPflow models of the same data, and their averaged predictions.

    Args:
        models: `GPR`, `SGPR`, `SVGP`, `vbks.predict.VariationalSVGP` or others, however they were
            trained, with any kernels, mean functions and likelihoods of one kind.
        log_evidences: those of the models; by default what their own
            `maximum_log_likelihood_objective` says.
        prior: relative probabilities of the models, in their order or by name; all alike by
            default.
        data: the rows (X, Y), which models that do not keep them, as `SVGP`, are compared on.
        names: what tables call the models; by default their types and kernels.
        correction: "bic" takes ½ log N off for every parameter of a point estimate. Without it,
            of nested models the larger one is never the less likely.
        belief: "bayes", Bayes' posterior, or "vbks", the layer of the paper; or
            `vbks.BeliefSettings`.
        settings: ``temperature``, ``prior_variance``, ``max_candidates``, ``form`` and ``seed`` of
            these.
    """
    found = tuple(models)
    _check_models(found)
    check_one_of("correction", correction, ("none", "bic"))
    labels = _names(found, names)
    rows = common_data(found, labels, data)
    if log_evidences is None:
        pairs = [_evidence_of(model, rows, correction) for model in found]
        values, reasons = np.array([v for v, _ in pairs]), tuple(reason for _, reason in pairs)
    else:
        values = _given(log_evidences, len(found))
        reasons = tuple(map(_reason, values))
    failed = [f"{name}: {reason}" for name, reason in zip(labels, reasons, strict=True) if reason]
    if len(failed) == len(found):
        raise VbksError(f"none of {len(found)} models has an evidence. {'; '.join(failed[:5])}")
    start = belief if isinstance(belief, BeliefSettings) else BeliefSettings()
    kind = None if isinstance(belief, BeliefSettings) else belief
    candidates = Candidates(found, labels, values, reasons, _log_prior(prior, labels))
    return ModelAverage(candidates, _settings(start, kind, settings))


def _check_models(models: Sequence[Any]) -> None:
    if not models:
        raise DataError("there are no models to average. Give at least one.")
    for place, model in enumerate(models, start=1):
        if not isinstance(model, GPModel):
            raise DataError(
                f"model {place} is a {type(model).__name__}, expected a GPflow model such as GPR."
            )
    outputs = {model.num_latent_gps for model in models}
    if len(outputs) > 1:
        raise DataError(f"models have {sorted(outputs)} latent functions, expected one number.")


def _evidence_of(
    model: GPModel, rows: tuple[Array, Array] | None, correction: Correction
) -> tuple[float, str]:
    """The log evidence of a model, and why there is none if it is not finite."""
    try:
        value = log_evidence(model, rows, correction)
    except DataError:
        raise
    except Exception as error:  # what a model that is the user's own says
        lines = str(error).strip().splitlines()
        return math.nan, f"its objective failed: {lines[0] if lines else type(error).__name__}"
    return value, _reason(value)


def _reason(value: float) -> str:
    return "" if math.isfinite(value) else f"its log evidence is {value}"


def _given(log_evidences: Sequence[float], num: int) -> Array:
    values = np.asarray(log_evidences, np.float64)
    if values.shape != (num,):
        raise DataError(
            f"log_evidences have the shape {list(values.shape)}, expected [{num}]: one for each "
            "model."
        )
    return values


def _log_prior(prior: ModelPrior | None, names: Sequence[str]) -> Array:
    if prior is None:
        return np.full(len(names), -math.log(len(names)))
    if isinstance(prior, Mapping):
        missing = [name for name in names if name not in prior]
        if missing:
            raise DataError(f"the prior has no number for '{missing[0]}'. Name every model.")
        prior = [prior[name] for name in names]
    values = np.asarray(prior, np.float64)
    wrong = values.shape != (len(names),) or not np.all(np.isfinite(values) & (values >= 0.0))
    if wrong or not values.sum() > 0.0:
        raise DataError(
            f"the prior is {prior}, expected a number for each of {len(names)} models, none below "
            "zero and one above."
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values / values.sum()))


def _names(models: Sequence[GPModel], names: Sequence[str] | None) -> tuple[str, ...]:
    if names is not None:
        found = tuple(map(str, names))
        if len(found) != len(models) or len(set(found)) < len(found):
            raise DataError(
                f"names are {list(found)}, expected {len(models)} different ones, one for each "
                "model."
            )
        return found
    own = [f"{type(model).__name__}, {_kernel_name(model.kernel)}" for model in models]
    counts, seen = Counter(own), Counter[str]()
    for place, name in enumerate(own):
        seen[name] += 1
        own[place] = name if counts[name] == 1 else f"{name} ({seen[name]})"
    return tuple(own)


def _kernel_name(kernel: Any) -> str:
    """The expression of a kernel that vbks can read, or its own name."""
    try:
        return str(from_gpflow(kernel).expression)
    except VbksError:
        return str(getattr(kernel, "name", type(kernel).__name__))


def _settings(
    settings: BeliefSettings, kind: str | None, changes: Mapping[str, Any]
) -> BeliefSettings:
    """Changed settings, of which all but a few are about the fits of a selection."""
    unknown = [name for name in changes if name not in SETTINGS]
    if unknown or kind == "stacking":
        word = "belief 'stacking'" if kind == "stacking" else f"setting {unknown[0]!r}"
        raise DataError(
            f"{word} is not known for models that were trained elsewhere. Known: belief 'bayes' "
            f"or 'vbks', {', '.join(SETTINGS[1:])}."
        )
    return settings.changed(kind, **changes)

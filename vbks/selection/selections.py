"""The result of a fit of several targets: a selection for each, with one belief or one each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from vbks.arrays import Array
from vbks.data.columns import read_columns, read_noise_columns
from vbks.errors import DataError
from vbks.grammar.expression import Expression
from vbks.inference.result import LocalFit
from vbks.selection.selection import Selection
from vbks.selection.several_files import save_several
from vbks.weights.belief import KernelBelief
from vbks.weights.forming import form_belief, log_evidences, without_far_behind
from vbks.weights.settings import BeliefSettings

NOT_STACKED = "a shared belief is averaged by its probabilities. Leave out stacking."
"""Why weights of stacking, which are those of one target, are refused."""


@dataclass(frozen=True, eq=False)
class Selections(Mapping[str, Selection]):
    """Selections of P targets of the same rows, by the names of their columns.

    Targets are independent: each has its own fits of the kernels. They have a belief each, or, if
    they are ``shared``, one in which the log evidences of a kernel add up over the targets; then
    all are predicted with its weights, over the candidates that were fitted for every target.
    Results have a column for each target; those of one alone are in ``selections[name]``, whose
    own belief stays its own.
    """

    by_name: Mapping[str, Selection]
    shared: bool = False

    def __post_init__(self) -> None:
        if not self.by_name:
            raise DataError("there are no selections. Give at least one target.")
        if self.shared and not self._first:
            raise DataError(
                "no candidate was fitted for every target, so that there is no shared belief. "
                "Give a space, or a larger budget."
            )
        weightings = {own.belief_settings.weights for own in self.by_name.values()}
        if self.shared and "stacking" in weightings:
            raise DataError(NOT_STACKED)

    # A mapping

    def __getitem__(self, name: str) -> Selection:
        if name not in self._predicting:
            raise KeyError(f"there is no target '{name}', but {', '.join(self.names)}")
        return self._predicting[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def __repr__(self) -> str:
        best = "; ".join(f"'{name}' {own!r}" for name, own in self.by_name.items())
        return f"<Selections of {len(self)} targets{', shared' if self.shared else ''}: {best}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the targets, in the order of their columns."""
        return tuple(self.by_name)

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences about data and searches, each with its target where they differ."""
        told: dict[str, list[str]] = {}
        for name, own in self.by_name.items():
            for notice in own.notices:
                told.setdefault(notice, []).append(name)
        return tuple(
            notice if len(names) == len(self) else f"{', '.join(names)}: {notice}"
            for notice, names in told.items()
        )

    # Belief

    @cached_property
    def shared_candidates(self) -> tuple[str, ...]:
        """The candidates that were fitted for every target, which a shared belief is over."""
        fitted = [[str(fit.expression) for fit in _fitted(own)] for own in self.by_name.values()]
        return tuple(
            name for name in dict.fromkeys(fitted[0]) if all(name in own for own in fitted)
        )

    @cached_property
    def log_evidences(self) -> pd.DataFrame:
        """Log evidences of the `shared_candidates`, a row each, for every target."""
        columns = {}
        for name, own in self.by_name.items():
            fits = _of(own, self.shared_candidates)
            columns[name] = log_evidences(fits, replace(own.belief_settings, max_candidates=None))
        return pd.DataFrame(columns, index=pd.Index(self.shared_candidates, name="expression"))

    @cached_property
    def shared_belief(self) -> KernelBelief:
        """The belief in `shared_candidates` by the sum of their log evidences over the targets."""
        return form_belief(self._first, self._settings, self._totals)

    @property
    def belief(self) -> pd.DataFrame:
        """A table of the candidates, best first: one for all targets, or one below the other."""
        if not self.shared:
            tables = [own.belief.assign(target=name) for name, own in self.by_name.items()]
            whole = pd.concat(tables, ignore_index=True)
            return whole[["target", *whole.columns.drop("target")]]
        table = pd.DataFrame(
            {
                "expression": self.shared_candidates,
                "probability": self.shared_belief.probabilities,
                "log_evidence": self._totals,
                **{f"log_evidence of {name}": self.log_evidences[name].to_numpy() for name in self},
            }
        )
        order = ["probability", "log_evidence"]
        return table.sort_values(order, ascending=False, kind="stable").reset_index(drop=True)

    def with_belief(self, kind: str | None = None, **settings: Any) -> Selections:
        """The same fits under another belief, with the settings of `vbks.BeliefSettings`."""
        return self._changed(lambda own: own.with_belief(kind, **settings))

    @property
    def best(self) -> dict[str, Expression]:
        """The kernel with the highest probability, for each target."""
        if not self.shared:
            return {name: own.best.expression for name, own in self.by_name.items()}
        place = int(np.argmax(self.shared_belief.probabilities))
        return dict.fromkeys(self.names, self._first[place].expression)

    def model(self, expression: Expression | str | None = None) -> dict[str, Any]:
        """A candidate, or the best, as a trained GPflow model of each target."""
        best = self.best
        return {name: own.model(expression or best[name]) for name, own in self.by_name.items()}

    # Predictions

    def predict_f(self, Xnew: Any, full_cov: bool = False) -> tuple[Array, Array]:
        """Means [N, P] and variances [N, P], or covariances [P, N, N], of the functions."""
        found = [own.predict_f(Xnew, full_cov=full_cov) for own in self._predicting.values()]
        means, spreads = zip(*found, strict=True)
        return np.stack(means, axis=1), np.stack(spreads, axis=0 if full_cov else 1)

    def predict_y(self, Xnew: Any, *, noise_variance: Any = None) -> tuple[Array, Array]:
        """Means and variances [N, P] of new targets; known noise is [N] or [N, P]."""
        noises = self._noises(noise_variance)
        found = [
            own.predict_y(Xnew, noise_variance=noise)
            for own, noise in zip(self._predicting.values(), noises, strict=True)
        ]
        means, variances = zip(*found, strict=True)
        return np.stack(means, axis=1), np.stack(variances, axis=1)

    def predict_log_density(self, data: tuple[Any, Any], *, noise_variance: Any = None) -> Array:
        """Log densities [N, P] of new targets [N, P], the sum of which is that of a row."""
        Xnew, Ynew = data
        parts = zip(
            self._predicting.values(),
            self._columns(Ynew),
            self._noises(noise_variance),
            strict=True,
        )
        found = [own.predict_log_density((Xnew, y), noise_variance=n) for own, y, n in parts]
        return np.stack(found, axis=1)

    def predict_quantiles(
        self,
        Xnew: Any,
        quantiles: float | Sequence[float] = (0.05, 0.5, 0.95),
        *,
        noise_variance: Any = None,
    ) -> Array:
        """Quantiles of new targets: [N, P, Q]."""
        parts = zip(self._predicting.values(), self._noises(noise_variance), strict=True)
        found = [own.predict_quantiles(Xnew, quantiles, noise_variance=n) for own, n in parts]
        return np.stack(found, axis=1)

    def predict_f_samples(self, Xnew: Any, num_samples: int = 10) -> Array:
        """Functions drawn from the averaged posteriors: [S, N, P]."""
        found = [own.predict_f_samples(Xnew, num_samples) for own in self._predicting.values()]
        return np.stack(found, axis=-1)

    # More rows, files

    def update(self, X: Any, Y: Any, noise_variance: Any = None) -> Selections:
        """The selections after more rows, and what becomes of a shared belief."""
        parts = zip(
            self.by_name.items(), self._columns(Y), self._noises(noise_variance), strict=True
        )
        updated = {name: own.update(X, y, noise) for (name, own), y, noise in parts}
        return replace(self, by_name=updated)

    def save(self, folder: Any) -> None:
        """Write everything to a folder; `vbks.load` reads it."""
        save_several(self.by_name, self.shared, folder)

    # Own work

    @cached_property
    def _predicting(self) -> dict[str, Selection]:
        """The selections with the weights that predictions are averaged with."""
        if not self.shared:
            return dict(self.by_name)
        probabilities = self.shared_belief.probabilities
        kept = without_far_behind(self._first, self._settings, probabilities, self._totals)
        weight = dict(zip(self.shared_candidates, kept, strict=True))
        return {
            name: replace(own, given_weights=np.array([_weight(fit, weight) for fit in own.fits]))
            for name, own in self.by_name.items()
        }

    @property
    def _settings(self) -> BeliefSettings:
        return next(iter(self.by_name.values())).belief_settings

    @property
    def _first(self) -> list[LocalFit]:
        """The `shared_candidates` as fits of the first target: they are the same for all."""
        return _of(next(iter(self.by_name.values())), self.shared_candidates)

    @property
    def _totals(self) -> Array:
        return np.asarray(self.log_evidences.to_numpy().sum(axis=1))

    def _changed(self, change: Callable[[Selection], Selection]) -> Selections:
        return replace(self, by_name={name: change(own) for name, own in self.by_name.items()})

    def _columns(self, Y: Any) -> list[Any]:
        columns = read_columns(Y)
        if len(columns) != len(self):
            raise DataError(f"Y has {len(columns)} columns, expected {len(self)}: one a target.")
        return list(columns.values())

    def _noises(self, values: Any) -> list[Any]:
        return read_noise_columns(values, len(self))


def _fitted(selection: Selection) -> list[LocalFit]:
    return [fit for fit in selection.fits if fit.status == "fitted"]


def _of(selection: Selection, candidates: Sequence[str]) -> list[LocalFit]:
    """The fits of some candidates, in their order."""
    fits = {str(fit.expression): fit for fit in _fitted(selection)}
    return [fits[name] for name in candidates]


def _weight(fit: LocalFit, weights: Mapping[str, float]) -> float:
    return weights.get(str(fit.expression), 0.0) if fit.status == "fitted" else 0.0

"""Candidates that are trained together: their states as tensors, and steps by one graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

from vbks.arrays import Array
from vbks.inference.context import FitContext
from vbks.inference.paper.objective import Earlier, Fixed, Kind, Variables
from vbks.inference.paper.settings import PaperSettings
from vbks.inference.paper.state import CandidateState, Learned
from vbks.inference.paper.steps import (
    BaseSamples,
    Progress,
    Rows,
    ascent,
    evaluation,
    mean_precision,
    prior_factor,
)
from vbks.inference.seeds import Seed
from vbks.kernels.bank.bank import Bank
from vbks.kernels.priors import Priors

AT_ONCE = 50
"""One call of a graph takes this many steps, or minibatches of a mean, which leaves Python little
to do: a constant of the implementation."""

PRECISION_SAMPLES = 64
"""Kuu⁻¹ is averaged over this many samples of an earlier q(θ): a constant of the method."""


class Group:
    """States of some candidates as tensors, all after as many steps."""

    def __init__(
        self, members: Sequence[CandidateState], context: FitContext, settings: PaperSettings
    ) -> None:
        self.members, self.context, self.settings = tuple(members), context, settings
        self.bank = Bank([m.expression for m in members], context.num_inputs, ard=context.ard)
        self.kind = Kind(
            context.posterior, settings.sample_inducing, members[0].earlier is not None
        )
        self.fixed = self._fixed()
        parts = ([m.learned for m in members], [m.first for m in members])
        variables, first = (self._stacked(part) for part in parts)
        second = self._stacked([m.second for m in members])
        self.steps = members[0].steps
        self.progress = Progress(variables, first, second, _tensor(float(self.steps)))
        self.earlier = self._earlier()
        self.values: list[Array] = []

    def take(self, num: int, batches: Iterable[tuple[Array, Array]]) -> None:
        """Take ``num`` steps in one call of the graph."""
        self.progress, values = self.bank.run(
            ascent(self.kind, self.settings.optimiser),
            self.progress,
            self.fixed,
            self.earlier,
            _stacked_rows(islice(batches, num)),
            self._base_samples(self.steps, num),
            _tensor(self.settings.rate),
        )
        self.values.append(values.numpy())
        self.steps += num

    def evaluated(self) -> list[CandidateState]:
        """The members as they are now, with their local ELBOs."""
        kind, settings = self.kind, self.settings
        values = self._values(kind, settings.value_samples)
        at_mean = values if kind.is_point else self._values(kind._replace(posterior="point"), 1)
        elbo, error = values.mean(axis=(0, 1)), self._error(values)
        trail = np.concatenate([np.zeros((0, len(self.members))), *self.values])
        return [
            replace(
                member,
                learned=self._unstacked(self.progress.variables, k),
                first=self._unstacked(self.progress.first, k),
                second=self._unstacked(self.progress.second, k),
                values=np.concatenate([member.values, trail[:, k]]),
                elbo=float(elbo[k]) + (member.earlier.elbo if member.earlier else 0.0),
                standard_error=float(error[k]),
                log_likelihood=float(at_mean[..., k].mean())
                + (member.earlier.log_likelihood if member.earlier else 0.0),
            )
            for k, member in enumerate(self.members)
        ]

    def state(self) -> dict[str, Array]:
        """All that the steps to come depend on."""
        groups = (self.progress.variables, self.progress.first, self.progress.second)
        tensors = {f"{g}{i}": part for g, own in enumerate(groups) for i, part in enumerate(own)}
        return {
            **{name: part.numpy() for name, part in tensors.items()},
            "values": np.concatenate([np.zeros((0, len(self.members))), *self.values]),
        }

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from such a state."""
        groups = (self.progress.variables, self.progress.first, self.progress.second)
        restored = [
            Variables(
                *(
                    _tensor(state[f"{g}{i}"].reshape(part.shape.as_list()))
                    for i, part in enumerate(own)
                )
            )
            for g, own in enumerate(groups)
        ]
        values = state["values"].reshape(-1, len(self.members))
        self.values, self.steps = [values], self.members[0].steps + len(values)
        self.progress = Progress(restored[0], restored[1], restored[2], _tensor(float(self.steps)))

    def _values(self, kind: Kind, num_samples: int) -> Array:
        """Bounds on minibatches that are the same for all candidates, and each time: [G, T, K].

        Samples of θ come in G groups.
        """
        c, settings = self.context, self.settings
        num = settings.value_batches_of(c.num_rows, c.batch_size)
        rng = c.rng(Seed.LOCAL_ELBO_ROWS)
        batches = islice(c.data.minibatches(c.batch_size, int(rng.integers(2**31))), num)
        groups = self._value_samples(kind, num_samples)
        found = []
        for some in iter(lambda: list(islice(batches, AT_ONCE)), []):
            rows = _stacked_rows(some)
            run = evaluation(kind)
            own = [
                self.bank.run(run, self.progress.variables, self.fixed, self.earlier, rows, eta)
                for eta in groups
            ]
            found.append(np.stack([values.numpy() for values in own]))
        return np.concatenate(found, axis=1)

    def _error(self, values: Array) -> Array:
        """What rows that were left out and samples of θ leave uncertain in a mean: [K]."""
        c = self.context
        groups, batches = values.mean(axis=1), values.mean(axis=0)
        left_out = max(1.0 - len(batches) * c.batch_size / c.num_rows, 0.0)
        return np.sqrt(_squared_error(groups) + left_out * _squared_error(batches))

    def _value_samples(self, kind: Kind, num: int) -> list[tf.Tensor]:
        """η of θ, not more at once than in a step, so that they need no more memory."""
        H, at_once = self.bank.num_slots, self.settings.num_samples
        if kind.is_point:
            return [_tensor(np.zeros((1, H)))]
        sizes = [min(at_once, num - start) for start in range(0, num, at_once)]
        rngs = [self.context.rng(Seed.LOCAL_ELBO_THETA, str(group)) for group in range(len(sizes))]
        pairs = zip(rngs, sizes, strict=True)
        return [_tensor(rng.normal(size=(H, size)).T) for rng, size in pairs]

    def _base_samples(self, first: int, num: int) -> BaseSamples:
        """η of steps, the same for all candidates and however these are grouped."""
        S, M, H = self.settings.num_samples, len(self.context.Z), self.bank.num_slots
        drawn = [draw_base_samples(self.context.seed, first + t, S, M, H) for t in range(num)]
        theta, inducing = zip(*drawn, strict=True)
        return BaseSamples(_tensor(np.stack(theta)), _tensor(np.stack(inducing)))

    def _fixed(self) -> Fixed:
        c = self.context
        priors = Priors([c.prior_of(layout) for layout in self.bank.layouts], self.bank.num_slots)
        used = priors.used & self._learns_theta
        precision = np.where(priors.precision > 0, priors.precision, 1.0)
        return Fixed(
            _tensor(c.Z),
            _tensor(np.array([m.jitter for m in self.members])[:, np.newaxis, np.newaxis]),
            _tensor(float(c.num_rows)),
            _tensor(priors.mean),
            _tensor(1.0 / np.sqrt(precision)),
            _tensor(used.astype(float)),
        )

    @property
    def _learns_theta(self) -> bool:
        """A point does not say how sure earlier rows were of θ, so it stays where they led it."""
        return not (self.kind.is_point and self.kind.has_earlier)

    def _earlier(self) -> Earlier:
        """The earlier fits, or nothing of the same shapes."""
        K, M, H = len(self.members), len(self.context.Z), self.bank.num_slots
        if not self.kind.has_earlier:
            none = (np.zeros((K, M)), np.zeros((K, M, M)), np.zeros((K, H)), np.zeros((K, H, H)))
            return Earlier(*map(_tensor, (*none, np.zeros((K, M, M)))))
        fits = [m.earlier for m in self.members]
        stacked = self._stacked([Learned(f.mean, f.root, f.theta, f.factor) for f in fits if f])
        if self.kind.is_point:
            return Earlier(*stacked, tf.zeros_like(stacked.root))
        rng = self.context.rng(Seed.EARLIER_THETA)
        eta = _tensor(rng.normal(size=(H, PRECISION_SAMPLES)).T)
        theta = stacked.theta[:, tf.newaxis] + tf.einsum("khj,sj->ksh", stacked.spread, eta)
        return Earlier(*stacked, self.bank.run(mean_precision, theta, self.fixed))

    def _stacked(self, parts: Sequence[Learned]) -> Variables:
        """Numbers of all members as tensors, θ filled up with zeros."""
        K, H = len(parts), self.bank.num_slots
        theta, spread = np.zeros((K, H)), np.zeros((K, H, H))
        for k, part in enumerate(parts):
            own = len(part.theta)
            theta[k, :own], spread[k, :own, :own] = part.theta, part.spread
        mean, root = (np.stack([getattr(p, n) for p in parts]) for n in ("mean", "root"))
        return Variables(*map(_tensor, (mean, root, theta, spread)))

    def _unstacked(self, variables: Variables, k: int) -> Learned:
        H = len(self.bank.layouts[k])
        mean, root, theta, spread = (part[k].numpy() for part in variables)
        return Learned(mean, root, theta[:H], spread[:H, :H])


def draw_base_samples(
    seed: int, step: int, num_samples: int, num_inducing: int, num_slots: int
) -> tuple[Array, Array]:
    """η of θ [S, H] and of u [S, M] of one step; more slots have the same first ones."""
    rng = np.random.default_rng([seed, step])
    inducing = rng.normal(size=(num_samples, num_inducing))
    return rng.normal(size=(num_slots, num_samples)).T, inducing


def prior_factors(bank: Bank, theta: Array, Z: Array, jitter: Sequence[float]) -> Array:
    """L with L Lᵀ = Kuu at θ [K, H]: [K, M, M]."""
    none = _tensor(np.zeros_like(theta))
    own = _tensor(np.asarray(jitter)[:, np.newaxis, np.newaxis])
    fixed = Fixed(_tensor(Z), own, _tensor(1.0), none, none, none)
    found = bank.run(prior_factor, _tensor(theta[:, np.newaxis]), fixed)
    return np.asarray(found.numpy()[:, 0])


def _squared_error(values: Array) -> Array:
    """The variance of the mean of rows [n, K], zero for a single row: [K]."""
    if len(values) < 2:
        return np.zeros(values.shape[1])
    return np.asarray(values.var(axis=0, ddof=1) / len(values))


def _stacked_rows(batches: Iterable[tuple[Array, Array]]) -> Rows:
    X, y = zip(*batches, strict=True)
    return Rows(_tensor(np.stack(X)), _tensor(np.stack(y)))


def _tensor(values: Any) -> tf.Tensor:
    return tf.constant(values, gpflow.default_float())

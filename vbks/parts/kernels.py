"""Kernels of the terms of one expression, at many θ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import tensorflow as tf
from scipy.special import expit, i0e, log_softmax

from vbks.arrays import Array
from vbks.grammar.expression import Leaf
from vbks.kernels.bank.terms import family_at
from vbks.kernels.gpflow.bank import KernelBank, bank_of
from vbks.kernels.layout import Layout, Node, lay_out
from vbks.parts.long_waves import long_waves
from vbks.parts.terms import Limits, TermGate, TermLeaf, terms_of


class TermKernels:
    """Kernels of the terms of an expression at samples θ [S, H], added up as groups say.

    Inputs are standardised [N, D]. Without groups, which are places of terms, each term is one of
    its own; the kernels of all terms add up to that of the expression without white noise.
    """

    def __init__(
        self,
        layout: Layout,
        theta: Array,
        groups: Sequence[Sequence[int]] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.layout, self.theta = layout, np.asarray(theta, np.float64)
        self.limits = limits or {}
        self.terms = terms_of(layout, limits)
        singles = [[place] for place in range(len(self.terms))]
        self.groups = [list(group) for group in (singles if groups is None else groups)]

    def __call__(self, X1: Array, X2: Array) -> Array:
        """Kernel matrices of the groups: [S, G, n1, n2]."""

        def leaf(node: Node) -> Array:
            if family_at(node).evaluation_path == "opaque":
                bank, theta = self._opaque_leaf(node)
                return np.asarray(bank(theta[np.newaxis], X1, X2)[0])
            return self._formula(node, X1[:, np.newaxis], X2[np.newaxis])

        def gate(own: TermGate) -> Array:
            return self.gate(own, X1)[:, :, np.newaxis] * self.gate(own, X2)[:, np.newaxis, :]

        def long(own: TermLeaf) -> Array:
            dim = own.leaf.dim - 1 if own.leaf.dim else 0
            return self._long(own, np.abs(X1[:, np.newaxis, dim] - X2[np.newaxis, :, dim]))

        return self._sums(leaf, gate, long, (len(X1), len(X2)))

    def diag(self, X: Array) -> Array:
        """Diagonals of the kernel matrices of the groups: [S, G, n]."""

        def leaf(node: Node) -> Array:
            if family_at(node).evaluation_path == "opaque":
                bank, theta = self._opaque_leaf(node)
                return np.asarray(bank.diag(theta[np.newaxis], X)[0])
            columns = X[:, np.newaxis, np.newaxis]
            return self._formula(node, columns, columns)[..., 0, 0]

        def long(own: TermLeaf) -> Array:
            return self._long(own, np.zeros(len(X)))

        return self._sums(leaf, lambda own: self.gate(own, X) ** 2, long, (len(X),))

    def scales(self, number: int) -> Array:
        """What multiplies the leaves of a term: [S]."""
        term = self.terms[number]
        logs = self.theta[:, list(term.scales)].sum(axis=1)
        for slots, place in term.shares:
            odds = np.column_stack([self.theta[:, list(slots)], np.zeros(len(self.theta))])
            logs = logs + log_softmax(odds, axis=1)[:, place]
        return np.asarray(np.exp(logs))

    def gate(self, gate: TermGate, X: Array) -> Array:
        """What multiplies a function on one side of a change: [S, n]."""
        location, steepness, *width = (self.theta[:, slot, np.newaxis] for slot in gate.slots)
        distance = X[np.newaxis, :, gate.dim] - location
        if not width:
            sign = 1.0 if gate.side == "after" else -1.0
            return np.asarray(expit(sign * np.exp(steepness) * distance))
        half = 0.5 * np.exp(width[0])
        inside = expit(np.exp(steepness) * (half + distance))
        inside = inside * expit(np.exp(steepness) * (half - distance))
        return np.asarray(inside if gate.side == "inside" else 1.0 - inside)

    def level_share(self, node: Node) -> Array:
        """The mean of a periodic kernel over a period, e^(−1/ℓ²) I₀(1/ℓ²): [S]."""
        (slot,) = node.slots["lengthscales"]
        return np.asarray(i0e(np.exp(-2.0 * self.theta[:, slot])))

    def _sums(
        self,
        leaf_values: Callable[[Node], Array],
        gate_values: Callable[[TermGate], Array],
        long_values: Callable[[TermLeaf], Array],
        shape: tuple[int, ...],
    ) -> Array:
        """The groups at points of some shape: [S, G, ...]."""
        leaves = {id(node): leaf_values(node) for node in self._nodes}
        waves = {id(own.node): long_values(own) for own in self._parted}
        found = np.zeros((len(self.theta), len(self.groups), *shape))
        for place, group in enumerate(self.groups):
            for number in group:
                term = self.terms[number]
                values = np.broadcast_to(
                    self.scales(number).reshape(-1, *[1] * len(shape)), (len(self.theta), *shape)
                )
                for own in term.leaves:
                    whole = leaves[id(own.node)]
                    values = values * self._aspect(own, whole, waves.get(id(own.node), whole))
                for gate in term.gates:
                    values = values * gate_values(gate)
                found[:, place] += values
        return found

    def _aspect(self, own: TermLeaf, values: Array, long: Array) -> Array:
        if own.aspect == "whole":
            return values
        if own.aspect in ("long", "short"):
            return long if own.aspect == "long" else values - long
        level = self.level_share(own.node).reshape(-1, *[1] * (values.ndim - 1))
        return level if own.aspect == "level" else values - level

    def _long(self, own: TermLeaf, distances: Array) -> Array:
        """The long waves of a leaf at unit scale: [S, ...]."""
        return long_waves(own.leaf.family, distances, own.values(self.theta), own.limit)

    @cached_property
    def _parted(self) -> list[TermLeaf]:
        """Every leaf once of which long and short waves are apart."""
        asked = [self.terms[number] for group in self.groups for number in group]
        leaves = [own for term in asked for own in term.leaves]
        return list({id(own.node): own for own in leaves if own.number in self.limits
                     and own.aspect in ("long", "short")}.values())  # fmt: skip

    @cached_property
    def _nodes(self) -> list[Node]:
        """Every leaf once."""
        asked = [self.terms[number] for group in self.groups for number in group]
        nodes = {id(own.node): own.node for term in asked for own in term.leaves}
        return list(nodes.values())

    def _formula(self, node: Node, X1: Array, X2: Array) -> Array:
        """A leaf at unit scale, element by element of inputs [..., d]: [S, ...]."""
        assert isinstance(node.expression, Leaf)
        family, dim = family_at(node), node.expression.dim
        dims = slice(None) if dim is None else slice(dim - 1, dim)
        values = {}
        for parameter in family.parameters:
            own = self.theta[:, list(node.slots[parameter.name])]
            own = np.exp(own) if parameter.positive else own
            ones = [1] * (np.ndim(X1) - 1)
            shape = (len(own), *ones, -1) if parameter.per_input else (len(own), *ones)
            values[parameter.name] = tf.constant(own.reshape(shape), tf.float64)
        pair = (tf.constant(X[np.newaxis, ..., dims], tf.float64) for X in (X1, X2))
        found = np.asarray(family.formula(*pair, **values))
        return np.broadcast_to(found, (len(self.theta), *found.shape[1:]))

    def _opaque_leaf(self, node: Node) -> tuple[KernelBank, Array]:
        """A bank of a leaf that has no formula, and its θ [S, h] at unit scale."""
        own = lay_out(node.expression, self.layout.num_inputs, self.layout.ard)
        theta = np.zeros((len(self.theta), len(own)))
        for name, slots in own.root.slots.items():
            theta[:, list(slots)] = self.theta[:, list(node.slots[name])]
        return bank_of([node.expression], self.layout.num_inputs, ard=self.layout.ard), theta

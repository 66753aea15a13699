"""Naive twins of the kernels: one pair of inputs at a time, in plain Python."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, ive, softmax

from vbks.arrays import Array
from vbks.grammar.expression import ChangePoint, ChangeWindow, Leaf, Product, Sum
from vbks.kernels.layout import Layout, Node


def kernel_matrix(layout: Layout, theta: Array, X1: Array, X2: Array | None = None) -> Array:
    """The kernel of a laid-out expression at θ [H] for all pairs of rows.

    White noise is on the diagonal when X2 is left out, and nowhere when it is given, even if equal.
    """
    rows = X1 if X2 is None else X2
    return np.array(
        [
            [_value(layout.root, theta, x1, x2, X2 is None and i == j) for j, x2 in enumerate(rows)]
            for i, x1 in enumerate(X1)
        ]
    )


def _value(node: Node, theta: Array, x1: Array, x2: Array, same: bool) -> float:
    values = [_value(operand, theta, x1, x2, same) for operand in node.operands]
    match node.expression:
        case Leaf():
            scale = 1.0 if node.scale is None else math.exp(theta[node.scale])
            return scale * _unit_leaf(node.expression, node, theta, x1, x2, same)
        case Product():
            return math.prod(values)
        case Sum():
            gates = [1.0] * len(values)
        case ChangePoint(dim=dim):
            a1, a2 = _after(node, theta, x1[dim - 1]), _after(node, theta, x2[dim - 1])
            gates = [(1 - a1) * (1 - a2), a1 * a2]
        case ChangeWindow(dim=dim):
            a1, a2 = _inside(node, theta, x1[dim - 1]), _inside(node, theta, x2[dim - 1])
            gates = [(1 - a1) * (1 - a2), a1 * a2]
    weights = [1.0] * len(values)
    if node.weights is not None:
        weights = softmax([*(theta[slot] for slot in node.weights), 0.0])
    return sum(w * g * value for w, g, value in zip(weights, gates, values, strict=True))


def _after(node: Node, theta: Array, x: float) -> float:
    location, steepness = _own(node, theta, "location"), math.exp(_own(node, theta, "steepness"))
    return float(expit(steepness * (x - location)))


def _inside(node: Node, theta: Array, x: float) -> float:
    location, steepness = _own(node, theta, "location"), math.exp(_own(node, theta, "steepness"))
    half = math.exp(_own(node, theta, "width")) / 2
    return float(
        expit(steepness * (x - location + half)) * expit(steepness * (location + half - x))
    )


def _own(node: Node, theta: Array, name: str, input_index: int = 0) -> float:
    slots = node.slots[name]
    return float(theta[slots[input_index if len(slots) > 1 else 0]])


def _unit_leaf(leaf: Leaf, node: Node, theta: Array, x1: Array, x2: Array, same: bool) -> float:
    dims = range(len(x1)) if leaf.dim is None else [leaf.dim - 1]
    pairs = [(i, x1[dim], x2[dim]) for i, dim in enumerate(dims)]

    def lengthscale(i: int) -> float:
        return math.exp(_own(node, theta, "lengthscales", i))

    def sine(i: int, x: float, y: float) -> float:
        return math.sin(math.pi * (x - y) / math.exp(_own(node, theta, "period", i)))

    match leaf.family:
        case "SE":
            return math.exp(-0.5 * sum(((x - y) / lengthscale(i)) ** 2 for i, x, y in pairs))
        case "RQ":
            alpha = math.exp(_own(node, theta, "alpha"))
            square = sum(((x - y) / lengthscale(i)) ** 2 for i, x, y in pairs)
            return float((1 + square / (2 * alpha)) ** -alpha)
        case "OU":
            return math.exp(-sum(abs(x - y) / lengthscale(i) for i, x, y in pairs))
        case "M32" | "M52":
            r = math.sqrt(sum(((x - y) / lengthscale(i)) ** 2 for i, x, y in pairs))
            s = math.sqrt(float(leaf.family[1])) * r
            return (1 + s + (s**2 / 3 if leaf.family == "M52" else 0.0)) * math.exp(-s)
        case "PER":
            return math.exp(-2 * sum((sine(i, x, y) / lengthscale(i)) ** 2 for i, x, y in pairs))
        case "PER0":
            return math.prod(
                _wave_without_mean(sine(i, x, y), lengthscale(i) ** -2) for i, x, y in pairs
            )
        case "LIN":
            origin = [_own(node, theta, "location", i) for i, _, _ in pairs]
            return float(sum((x - origin[i]) * (y - origin[i]) for i, x, y in pairs))
        case "C":
            return 1.0
        case "WN":
            return float(same)
    raise NotImplementedError(f"no twin of family {leaf.family}")


def _wave_without_mean(sine: float, sharpness: float) -> float:
    mean = ive(0, sharpness)
    return float((math.exp(-2 * sharpness * sine**2) - mean) / (1 - mean))

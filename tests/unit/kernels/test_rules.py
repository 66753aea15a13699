"""Expressions of the same structure are the same kernels, shown by parameters in closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpflow
import numpy as np
import pytest
from gpflow.kernels import Kernel

from vbks.grammar.canonical import canonical
from vbks.grammar.parser import parse
from vbks.kernels.gpflow.conversion import to_gpflow
from vbks.kernels.layout import lay_out

NUM_INPUTS = 3
X = np.random.default_rng(0).normal(size=(6, NUM_INPUTS))
X2 = np.random.default_rng(1).normal(size=(5, NUM_INPUTS))

Match = Callable[[Any, Any], None]
"""Gives the kernel on the right the parameters with which it equals the kernel on the left."""


def random_kernel(text: str, num_inputs: int = NUM_INPUTS) -> Kernel:
    layout = lay_out(parse(text), num_inputs)
    theta = layout.prior_mean + np.random.default_rng(2).normal(size=len(layout)) * 0.7
    return to_gpflow(text, num_inputs, theta=theta)


def shorten(right: Any, *leaves: Any) -> None:
    """Multiply SE or OU: inverse lengthscales, squared for SE, add, and variances multiply."""
    power = 2.0 if isinstance(right, gpflow.kernels.SquaredExponential) else 1.0
    relevance = sum(np.asarray(leaf.lengthscales.numpy()) ** -power for leaf in leaves)
    right.lengthscales.assign(relevance ** (-1.0 / power))
    right.variance.assign(np.prod([leaf.variance.numpy() for leaf in leaves]))


def copy_to(right: Kernel, left: Kernel, scale: float = 1.0) -> None:
    """The same kernel, its variance multiplied."""
    gpflow.utilities.multiple_assign(right, gpflow.utilities.read_values(left))
    scale_of(right).assign(scale * scale_of(left).numpy())


def scale_of(kernel: Any) -> gpflow.Parameter:
    variance: gpflow.Parameter = getattr(kernel, "base_kernel", kernel).variance
    return variance


def merge_smooth(left: Any, right: Any) -> None:
    shorten(right, *left.kernels)


def absorb_constant(left: Any, right: Any) -> None:
    constant, other = left.kernels
    copy_to(right, other, constant.variance.numpy())


def add_variances(left: Any, right: Any) -> None:
    right.variance.assign(sum(leaf.variance.numpy() for leaf in left.kernels))


def scale_noise(left: Any, right: Any) -> None:
    """A stationary kernel is a number where its inputs are equal."""
    right.variance.assign(left(X[:1], full_cov=False).numpy().item())


def merge_lines(left: Any, right: Any) -> None:
    """v₁(x−a)(x'−a) + v₂(x−b)(x'−b) = v(x−m)(x'−m) + v₁v₂(a−b)²/v, v = v₁+v₂, m = (v₁a+v₂b)/v."""
    (first, second), (constant, line) = left.kernels, right.kernels
    v1, v2 = first.variance.numpy(), second.variance.numpy()
    a, b = first.location.numpy(), second.location.numpy()
    line.variance.assign(v1 + v2)
    line.location.assign((v1 * a + v2 * b) / (v1 + v2))
    constant.variance.assign(v1 * v2 / (v1 + v2) * np.sum(np.square(a - b)))


def merge_constants_beside_line(left: Any, right: Any) -> None:
    line, *constants = left.kernels
    copy_to(right.kernels[1], line)
    right.kernels[0].variance.assign(sum(leaf.variance.numpy() for leaf in constants))


def shorten_terms(left: Any, right: Any) -> None:
    terms, smooth = left.kernels
    for term, target in zip(terms.kernels, right.kernels, strict=True):
        if isinstance(term, gpflow.kernels.White):
            target.variance.assign(term.variance.numpy() * smooth.variance.numpy())
        else:
            shorten(target, term, smooth)


def shorten_change(left: Any, right: Any) -> None:
    right.location.assign(left.kernels[0].location)
    right.steepness.assign(left.kernels[0].steepness)
    shorten_terms(left, right)


def shorten_factor(left: Any, right: Any) -> None:
    smooth, terms = left.kernels
    wave, shortened = terms.kernels[1].kernels
    shorten(right.kernels[0], terms.kernels[0], smooth)
    copy_to(right.kernels[1].kernels[0], wave)
    shorten(right.kernels[1].kernels[1], shortened, smooth)


RULES: list[tuple[str, str, Match]] = [
    ("SE * SE", "SE", merge_smooth),
    ("SE[2] * SE[2] * SE[2]", "SE[2]", merge_smooth),
    ("OU * OU", "OU", merge_smooth),
    ("OU[2] * OU[2] * OU[2]", "OU[2]", merge_smooth),
    ("C * SE", "SE", absorb_constant),
    ("C * PER", "PER", absorb_constant),
    ("C * LIN[2]", "LIN[2]", absorb_constant),
    ("C * WN", "WN", absorb_constant),
    ("C * C", "C", absorb_constant),
    ("C + C", "C", add_variances),
    ("C[1] + C[3]", "C", add_variances),
    ("WN + WN", "WN", add_variances),
    ("WN[1] + WN + WN", "WN", add_variances),
    ("WN * SE", "WN", scale_noise),
    ("WN * PER[2]", "WN", scale_noise),
    ("WN * PER0", "WN", scale_noise),
    ("WN * RQ", "WN", scale_noise),
    ("WN * OU", "WN", scale_noise),
    ("WN * WN", "WN", scale_noise),
    ("WN * (SE + C * PER)", "WN", scale_noise),
    ("LIN + LIN", "C + LIN", merge_lines),
    ("LIN[2] + LIN[2]", "C + LIN[2]", merge_lines),
    ("LIN + C + C", "C + LIN", merge_constants_beside_line),
    ("LIN[2] + C + C", "C + LIN[2]", merge_constants_beside_line),
    ("(SE + SE) * SE", "SE + SE", shorten_terms),
    ("(SE[2] + SE[2]) * SE[2]", "SE[2] + SE[2]", shorten_terms),
    ("(SE + WN) * SE", "SE + WN", shorten_terms),
    ("(OU + OU) * OU", "OU + OU", shorten_terms),
    ("(OU + WN) * OU", "OU + WN", shorten_terms),
    ("CP[2](SE, SE) * SE", "CP[2](SE, SE)", shorten_change),
    ("SE * (SE + PER * SE)", "SE + PER * SE", shorten_factor),
]


@pytest.mark.parametrize("num_inputs", [1, NUM_INPUTS], ids=["one_input", "three_inputs"])
@pytest.mark.parametrize(("left", "right", "match"), RULES, ids=[rule[0] for rule in RULES])
def test_same_structure__is_the_same_kernel_for_some_parameters(
    left: str, right: str, match: Match, num_inputs: int
) -> None:
    assert canonical(parse(left)) == canonical(parse(right))
    if num_inputs == 1:
        left, right = (without_dims(text) for text in (left, right))
    given, found = random_kernel(left, num_inputs), to_gpflow(right, num_inputs)
    match(given, found)
    A, B = X[:, :num_inputs], X2[:, :num_inputs]
    np.testing.assert_allclose(found(A), given(A), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found(A, B), given(A, B), rtol=1e-10, atol=1e-10)


def without_dims(text: str) -> str:
    for dim in ("[1]", "[2]", "[3]"):
        text = text.replace(dim, "")
    return text

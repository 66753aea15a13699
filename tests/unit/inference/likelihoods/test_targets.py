"""Tests of the targets that likelihoods take, and of links."""

import numpy as np
import pytest
import tensorflow as tf
from gpflow.likelihoods.utils import inv_probit

from vbks.inference.likelihoods.targets import (
    CLASSES,
    COUNTS,
    POSITIVE_NUMBERS,
    SHARES,
    Domain,
    link_of,
)

TARGETS = np.array([-1.0, 0.0, 0.3, 1.0, 2.0, 1e300, np.inf])


@pytest.mark.parametrize(
    ("domain", "inside"),
    [
        (CLASSES, [0, 1, 0, 1, 0, 0, 0]),
        (COUNTS, [0, 1, 0, 1, 1, 1, 0]),
        (POSITIVE_NUMBERS, [0, 0, 1, 1, 1, 1, 0]),
        (SHARES, [0, 0, 1, 0, 0, 0, 0]),
    ],
)
def test_domain__contains_what_its_words_say(domain: Domain, inside: list[int]) -> None:
    np.testing.assert_array_equal(domain.contains(TARGETS), np.array(inside, bool))


@pytest.mark.parametrize("inverse", [tf.exp, inv_probit, tf.sigmoid])
def test_link__undoes_the_inverse_link(inverse: object) -> None:
    link = link_of(inverse)
    assert link is not None
    f = np.array([-1.5, 0.0, 0.7])
    np.testing.assert_allclose(link(inverse(tf.constant(f)).numpy()), f, atol=2e-2)  # type: ignore[operator]
    assert np.all(np.isfinite(link(np.array([0.0, 1.0]))))


def test_link__of_an_unknown_inverse_is_none() -> None:
    assert link_of(tf.math.softplus) is None

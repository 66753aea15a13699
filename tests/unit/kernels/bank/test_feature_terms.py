import numpy as np
import pytest
import tensorflow as tf
from support.banks import X1, X2, make_kernels

from vbks.kernels.bank.evaluation import _values
from vbks.kernels.bank.feature_terms import FeatureTerms

TEXTS = {
    "plain and lines": ("SE * PER[1] + LIN", "PER[2]"),
    "rational": ("RQ * SE[1]", "RQ[2] + SE"),
    "rank one": ("SE * LIN[1]", "CP[2](SE, PER[1])", "CW[1](SE, LIN[2])"),
    "mixed": ("PER[1] * PER[2] * LIN[1]", "OU * M52[1]", "RQ * LIN[2] * M32"),
    "taken off": ("PER0[1] * SE", "PER0[1] * PER0[2]"),
}


@pytest.fixture(params=TEXTS, ids=lambda name: name.replace(" ", "_"))
def kernels(request):
    return make_kernels(*TEXTS[request.param])


def terms_of(kernels, slot_values):
    return FeatureTerms(kernels.structure, slot_values, tf.constant(X1), tf.constant(X2))


def slot_values(kernels):
    return tf.gather(
        _values(kernels.structure, tf.constant(kernels.theta)), kernels.structure.slots
    )


def test_sums__are_the_naive_twins_of_the_kernels(kernels):
    found = terms_of(kernels, slot_values(kernels)).add_up(len(kernels.layouts))
    np.testing.assert_allclose(found, kernels.matrices(X1, X2), rtol=1e-9, atol=1e-12)


def test_pull__is_the_slope_of_the_sums(kernels):
    at, num = slot_values(kernels).numpy(), len(kernels.layouts)
    rng = np.random.default_rng(3)
    upstream, direction = rng.normal(size=(num, 2, 4, 3)), rng.normal(size=at.shape)
    pulled = terms_of(kernels, tf.constant(at)).pull(tf.constant(upstream))
    up, down = (
        terms_of(kernels, tf.constant(at + step * direction)).add_up(num) for step in (1e-5, -1e-5)
    )
    expected = np.sum(upstream * (up - down)) / 2e-5
    assert np.sum(pulled * direction) == pytest.approx(expected, rel=1e-7)

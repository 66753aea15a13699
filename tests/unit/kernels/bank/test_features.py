"""Features against the functions that they are of, and their pulls against automatic gradients."""

import numpy as np
import pytest
import tensorflow as tf
from scipy.special import expit

from vbks.kernels.bank.features import PeriodicFeatures, Quadratics, RankOnes
from vbks.kernels.bank.structure import structure_of
from vbks.kernels.bank.terms import RANK_ONE_KINDS
from vbks.kernels.layout import lay_out

RNG = np.random.default_rng(0)
X1, X2 = RNG.normal(size=(4, 2)), RNG.normal(size=(3, 2))
S = 2


def automatic(function, *values):
    """A function's value, a random gradient of it, and what that is for the values."""
    variables = [tf.constant(value) for value in values]
    with tf.GradientTape() as tape:
        tape.watch(variables)
        value = function(*variables)
    upstream = RNG.normal(size=value.shape)
    return upstream, tape.gradient(value, variables, tf.constant(upstream))


def test_quadratics__are_constants_less_half_of_scaled_squares():
    relevance, constant = RNG.uniform(size=(3, 2, S)), RNG.normal(size=(3, S))
    features = Quadratics(tf.constant(X1), tf.constant(X2))
    found = tf.einsum("tsrn,rm->tsnm", features.left(relevance, constant), features.right)
    squares = np.square(X1[:, None] - X2[None])
    expected = constant[..., None, None] - 0.5 * np.einsum("tds,nmd->tsnm", relevance, squares)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_quadratics__pull_gradients_of_relevances_and_constants():
    features = Quadratics(tf.constant(X1), tf.constant(X2))
    upstream, expected = automatic(
        features.left, RNG.uniform(size=(3, 2, S)), RNG.normal(size=(3, S))
    )
    for found, own in zip(features.pull(tf.constant(upstream)), expected, strict=True):
        np.testing.assert_allclose(found, own, rtol=1e-12)


def structure_for(*texts):
    layouts = [lay_out(text, 2) for text in texts]
    return structure_of(layouts, max(map(len, layouts)))[0]


WAVES = structure_for("PER[1] * PER[2]", "PER[1]")
PLACES = WAVES.term_periodics
KAPPA, OMEGA = RNG.uniform(size=(3, S)), RNG.uniform(1, 3, size=(3, S))


def periodic_features(weight, frequency):
    return PeriodicFeatures(weight, frequency, WAVES, PLACES, tf.constant(X1), tf.constant(X2))


def cosines(weight, frequency):
    """Σ κ cos ω(x−x') of each term, by formula."""
    x1, x2 = (tf.gather(X, WAVES.periodic_dim, axis=1) for X in (X1, X2))
    gap = tf.transpose(x1[:, None] - x2[None], [2, 0, 1])[:, None]
    waves = weight[..., None, None] * tf.cos(frequency[..., None, None] * gap)
    none = tf.zeros_like(waves[:1])
    return tf.reduce_sum(tf.gather(tf.concat([none, waves], axis=0), PLACES), axis=1)


def test_periodic_features__are_weighted_cosines_of_distances():
    features = periodic_features(tf.constant(KAPPA), tf.constant(OMEGA))
    found = tf.einsum("tsrn,tsrm->tsnm", features.left, features.right)
    np.testing.assert_allclose(found, cosines(KAPPA, OMEGA), rtol=1e-10, atol=1e-12)


def test_periodic_features__pull_gradients_of_weights_and_frequencies():
    """The constants of the terms hold −κ, whose gradient is taken along."""
    upstream, (weight, frequency) = automatic(cosines, KAPPA, OMEGA)
    features = periodic_features(tf.constant(KAPPA), tf.constant(OMEGA))
    of_constant = RNG.normal(size=(2, S))
    found_weight, found_frequency = features.pull(
        tf.einsum("tsnm,tsrm->tsrn", upstream, features.right),
        tf.einsum("tsnm,tsrm->tsrn", upstream, features.right_tangent),
        tf.constant(of_constant),
    )
    terms = np.array([[k + 1 in row for row in PLACES] for k in range(3)], float)
    np.testing.assert_allclose(found_weight, weight - terms @ of_constant, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found_frequency, frequency, rtol=1e-9, atol=1e-12)


GATES = structure_for("LIN[1] * LIN[2]", "CP[2](LIN[1], C)", "CW[1](C, LIN[2])")
NUM_GATES = len(GATES.rank_one_kind)
SHAPE = (NUM_GATES, S)
LOCATION, LOG_STEEPNESS, LOG_WIDTH = (RNG.normal(size=SHAPE) for _ in range(3))


def rank_ones(location, log_steepness, log_width):
    return RankOnes(
        location,
        tf.exp(log_steepness),
        tf.exp(log_width),
        GATES,
        GATES.term_rank_ones,
        tf.constant(X1),
    )


def naive_rank_one(kind, x, location, steepness, width):
    after = expit(steepness * (x - location))
    inside = expit(steepness * (x - location + width / 2)) * expit(
        steepness * (location + width / 2 - x)
    )
    return {
        "line": x - location,
        "before": 1 - after,
        "after": after,
        "outside": 1 - inside,
        "inside": inside,
    }[kind]


def test_rank_ones__are_products_of_lines_and_gates():
    found = rank_ones(LOCATION, LOG_STEEPNESS, LOG_WIDTH).value
    for t, places in enumerate(GATES.term_rank_ones):
        for s in range(S):
            expected = np.ones(len(X1))
            for k in places[places > 0] - 1:
                expected *= naive_rank_one(
                    RANK_ONE_KINDS[GATES.rank_one_kind[k]],
                    X1[:, GATES.rank_one_dim[k]],
                    LOCATION[k, s],
                    np.exp(LOG_STEEPNESS[k, s]),
                    np.exp(LOG_WIDTH[k, s]),
                )
            np.testing.assert_allclose(found[t, s], expected, rtol=1e-10)


@pytest.mark.parametrize("which", range(3), ids=["location", "steepness", "width"])
def test_rank_ones__pull_gradients(which):
    upstream, expected = automatic(
        lambda *values: rank_ones(*values).value, LOCATION, LOG_STEEPNESS, LOG_WIDTH
    )
    features = rank_ones(*map(tf.constant, (LOCATION, LOG_STEEPNESS, LOG_WIDTH)))
    found = features.pull(tf.constant(upstream))[:, which]
    np.testing.assert_allclose(found, expected[which], rtol=1e-9, atol=1e-12)

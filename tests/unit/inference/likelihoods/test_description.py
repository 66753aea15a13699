"""Tests of what is known of likelihoods beside what GPflow says."""

import gpflow
import numpy as np
import tensorflow as tf
from gpflow.likelihoods import Bernoulli, Ordinal, Poisson, StudentT

from vbks.inference.likelihoods.description import Description, description_of
from vbks.inference.likelihoods.targets import CLASSES, COUNTS


class OwnPoisson(Poisson):
    """What derives from a class is described as it."""


def test_description__is_that_of_the_class_or_of_its_bases() -> None:
    assert description_of(OwnPoisson()) == description_of(Poisson())
    assert description_of(Poisson()).domain(Poisson()) == COUNTS
    assert description_of(Bernoulli()).targets == CLASSES
    assert description_of(StudentT()) == Description()


def test_description__of_ordinal_depends_on_its_classes() -> None:
    likelihood = Ordinal(np.array([-0.5, 0.8, 2.0]))
    domain = description_of(likelihood).domain(likelihood)
    assert domain is not None
    assert domain.words == "whole numbers from 0 to 3"
    np.testing.assert_array_equal(domain.contains(np.array([0.0, 3.0, 4.0])), [True, True, False])


def test_functions__are_targets_where_nothing_else_is_known() -> None:
    y = np.array([0.3, 2.0])
    assert Description().functions(StudentT(), y) is y
    unknown = Poisson(invlink=tf.math.softplus)
    assert description_of(unknown).functions(unknown, y) is y


def test_functions__have_means_near_the_targets() -> None:
    y, likelihood = np.array([40.0, 200.0]), Poisson(binsize=0.5)
    f = description_of(likelihood).functions(likelihood, y)[:, np.newaxis]
    means = likelihood.conditional_mean(f, tf.constant(f, gpflow.default_float()))
    np.testing.assert_allclose(np.ravel(means), y, rtol=0.02)

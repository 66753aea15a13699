import numpy as np
import pytest
from support.svgp_steps import N, in_minibatches, stochastic_context

from vbks.inference.svgp import minibatches
from vbks.inference.svgp.minibatches import StepBatches
from vbks.inference.svgp.policy import SvgpPolicy


@pytest.fixture
def context():
    return in_minibatches(stochastic_context())


def test_batches__make_up_the_rows_of_half_a_step(context):
    batches = StepBatches(context, 2)
    assert (batches.size, batches.count) == (250, 2)  # 500 rows at least
    assert batches.excess == pytest.approx(N / 500 - 1)
    taken = list(batches.take())
    assert sum(len(y) for _, y in taken) == 500
    assert all(X.shape == (len(y), 1) for X, y in taken)


def test_batches__are_joined_where_noise_is_gaussian(context, monkeypatch):
    together = list(StepBatches(context, 2).take())
    monkeypatch.setattr(minibatches, "ELEMENTS_AT_ONCE", 2 * 20 * 250)
    apart = list(StepBatches(context, 2).take())
    assert [len(y) for _, y in together] == [500]
    assert [len(y) for _, y in apart] == [250, 250]
    for joined, parts in zip(together[0], zip(*apart, strict=True), strict=True):
        np.testing.assert_array_equal(joined, np.concatenate(parts))


def test_batches__go_on_where_the_last_half_ended(context):
    batches = StepBatches(context, 2)
    halves = [np.concatenate([X[:, 0] for X, _ in batches.take()]) for _ in range(N // 500)]
    X, _ = context.data.arrays()
    np.testing.assert_array_equal(np.sort(np.concatenate(halves)), np.sort(X[:, 0]))


def test_batches__take_all_rows_when_that_is_no_more():
    context = stochastic_context(400)
    batches = StepBatches(context, 2)
    assert batches.takes_all
    assert batches.excess == 0.0
    for _ in range(2):
        (batch,) = batches.take()
        for part, whole in zip(batch, context.data.arrays(), strict=True):
            np.testing.assert_array_equal(part, whole)


def test_batches__grow_with_the_number_of_inducing_points():
    context = stochastic_context(num_inducing=50)
    assert StepBatches(context, 1).count == 50 * SvgpPolicy().rows_per_inducing // 250

import numpy as np
import pytest

from vbks.inference.bounds.covariance import ExpressionCovariance
from vbks.inference.bounds.kernel_products import (
    MOST_ELEMENTS,
    KernelMatrix,
    block_elements,
    cross_covariance,
    row_blocks,
)
from vbks.kernels.layout import lay_out


@pytest.fixture
def covariance():
    return ExpressionCovariance("SE * PER + LIN", lay_out("SE * PER + LIN").prior_mean)


class Counting:
    """A covariance that counts the numbers it is asked for."""

    def __init__(self, covariance):
        self.covariance, self.count = covariance, 0

    def matrix(self, X1, X2):
        self.count += len(X1) * len(X2)
        return self.covariance.matrix(X1, X2)


@pytest.mark.parametrize("memory", [0, 2**12, 2**15, 2**30])
def test_product__equals_that_with_the_whole_matrix(covariance, memory):
    rng = np.random.default_rng(0)
    X, v = rng.uniform(-2, 2, size=(50, 1)), rng.normal(size=50)
    K = KernelMatrix(covariance, X, memory)
    expected = covariance.matrix(X, X).numpy() @ v
    for _ in range(2):
        np.testing.assert_allclose(K @ v, expected, atol=1e-12)


@pytest.mark.parametrize("num_rows", [1, 7, 100])
@pytest.mark.parametrize("elements", [0, 1, 30, 250, 10**6])
def test_row_blocks__are_all_rows_once_and_small(num_rows, elements):
    blocks = row_blocks(num_rows, elements)
    rows = [row for block in blocks for row in range(block.start, block.stop)]
    assert rows == list(range(num_rows))
    for block in blocks:
        size = block.stop - block.start
        assert size == 1 or size * (num_rows - block.start) <= elements


def test_blocks__are_computed_once_where_memory_allows_and_half_of_the_matrix_then(covariance):
    X, v = np.linspace(-2, 2, 64)[:, None], np.ones(64)
    everything, nothing = Counting(covariance), Counting(covariance)
    keeps, forgets = KernelMatrix(everything, X, 2**18), KernelMatrix(nothing, X, 0)
    for _ in range(3):
        keeps @ v, forgets @ v
    assert nothing.count == 3 * 64 * 65 // 2
    assert keeps.num_kept == len(keeps.blocks) > 1
    assert everything.count < 0.7 * 64**2
    assert forgets.num_kept == 0


def test_kept_blocks__take_no_more_than_the_memory(covariance):
    X = np.linspace(-2, 2, 200)[:, None]
    K = KernelMatrix(covariance, X, 2**17)
    kept = sum((b.stop - b.start) * (200 - b.start) for b in K.blocks[: K.num_kept])
    assert 0 < K.num_kept < len(K.blocks)
    assert 8 * kept <= 0.75 * 2**17


def test_block_elements__are_fewer_with_more_inputs_and_never_many():
    assert block_elements(2**20, 1) == 4 * block_elements(2**20, 4) > 0
    assert block_elements(2**40, 1) == MOST_ELEMENTS


def test_cross_covariance__equals_that_in_one_piece(covariance):
    X = np.linspace(-2, 2, 23)[:, None]
    Kuf = cross_covariance(covariance, X[::5], X, elements=12)
    np.testing.assert_allclose(Kuf, covariance.matrix(X[::5], X), atol=1e-14)

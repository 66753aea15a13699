"""Tests of what tells rows from others."""

import numpy as np

from vbks.data.training import prepare
from vbks.execution.fingerprint import fingerprint

X, Y = np.linspace(0, 1, 9), np.cos(np.linspace(0, 7, 9))


def test_fingerprint__is_the_same_for_the_same_rows_however_they_are_given() -> None:
    whole = fingerprint(prepare((X, Y)))
    assert fingerprint(prepare((X.tolist(), Y))) == whole
    assert fingerprint(prepare((X[:, np.newaxis], list(Y)))) == whole


def test_fingerprint__differs_for_other_rows_orders_and_noise() -> None:
    changed = Y.copy()
    changed[3] += 1e-12
    rows = [
        prepare((X, Y)),
        prepare((X, changed)),
        prepare((X[::-1], Y[::-1])),
        prepare((X[:-1], Y[:-1])),
        prepare((np.column_stack([X, X]), Y)),
        prepare((X, Y), noise_variance=0.1),
    ]
    assert len({fingerprint(own) for own in rows}) == len(rows)

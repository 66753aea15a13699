"""What tells one call of `vbks.fit` from another: its rows, and the settings of its fits."""

from __future__ import annotations

import hashlib

import numpy as np

from vbks.data.training import TrainingData

BLOCK = 65_536
"""Rows that are read together."""


def fingerprint(rows: TrainingData) -> str:
    """A text that is the same for the same rows in the same order, and for no others."""
    digest = hashlib.sha256(f"{rows.num_rows} {rows.num_inputs}".encode())
    for X, y in rows.source.blocks(BLOCK):
        digest.update(np.ascontiguousarray(X, "<f8").tobytes())
        digest.update(np.ascontiguousarray(y, "<f8").tobytes())
    if rows.known_noise is not None:
        digest.update(np.ascontiguousarray(rows.known_noise, "<f8").tobytes())
    return digest.hexdigest()

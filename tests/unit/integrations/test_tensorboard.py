from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from support.paper_selections import SPACE, select

from vbks.errors import VbksError
from vbks.integrations.tensorboard import TensorBoard


def test_tensorboard__is_named_if_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("vbks.integrations.tensorboard.find_spec", lambda name: None)
    with pytest.raises(VbksError, match="pip install tensorboard"):
        TensorBoard(tmp_path)


def test_tensorboard__has_elbos_and_probabilities(tmp_path, monkeypatch):
    found = {}

    def keep(name, value, step):
        found[name, int(step)] = value

    monkeypatch.setattr(tf.summary, "scalar", keep)
    monkeypatch.setattr("vbks.integrations.tensorboard.find_spec", lambda name: name)
    selection = select(space=SPACE[:2], callback=TensorBoard(tmp_path))
    assert len(found) == 2 * 2 * 3
    np.testing.assert_allclose(found["elbo/SE", 120], selection.fits[0].elbo, rtol=1e-6)
    np.testing.assert_allclose(found["belief/SE", 120], selection.probabilities[0], rtol=1e-6)

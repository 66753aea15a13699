"""The precision that all fits and predictions are made in."""

from __future__ import annotations

import gpflow
import tensorflow as tf

from vbks.errors import VbksError


def check_precision() -> None:
    """Refuse a default float of GPflow's other than 64 bits, which kernel matrices need.

    A setting that holds for the whole process is not ours to change, not even for the time of a
    call.
    """
    own = tf.as_dtype(gpflow.default_float())
    if own != tf.float64:
        raise VbksError(
            f"GPflow's default float is {own.name}, and vbks works in 64 bits. Call it inside of "
            "`with gpflow.config.as_context(gpflow.config.Config(float=np.float64)):`, or call "
            "gpflow.config.set_default_float(np.float64) first."
        )

"""Tests of the precision that kernels need."""

import gpflow
import numpy as np
import pytest

from vbks.errors import VbksError
from vbks.kernels.precision import check_precision


def test_precision__of_64_bits_is_accepted_and_32_are_refused_with_a_remedy() -> None:
    check_precision()
    config = gpflow.config.Config(float=np.float32)
    with (
        gpflow.config.as_context(config),
        pytest.raises(VbksError, match=r"default float is float32.*set_default_float"),
    ):
        check_precision()
    assert gpflow.default_float() == np.float64

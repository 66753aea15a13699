import numpy as np
import pandas as pd
import pytest

from vbks.data.ranges import range_notice
from vbks.data.training import prepare

RNG = np.random.default_rng(0)
X = np.arange(50.0)


def notice(values, name="y"):
    return range_notice(prepare((X, pd.Series(values, name=name))))


@pytest.mark.parametrize(
    ("values", "name", "words"),
    [
        (np.r_[0, 1, 2, RNG.poisson(3, 47)], "visits", "likelihood='poisson'"),
        (np.r_[0, 1, RNG.integers(0, 2, 48)], "rain", "likelihood='bernoulli'"),
        (np.linspace(2, 97.5, 50), "y", "target_range=(0, 100) with warps='logit'"),
        (np.linspace(0, 100, 50), "y", "target_range=(-0.5, 100.5) with warps='logit'"),
        (np.linspace(0.02, 0.95, 50), "y", "target_range=(0, 1) with warps='logit'"),
        (np.linspace(40, 60, 50), "humidity (%)", "target_range=(0, 100) with warps='logit'"),
        (np.r_[0, np.arange(49)], "percent", "target_range=(-0.5, 100) with warps='logit'"),
    ],
)
def test_targets_with_a_range__have_a_notice_that_names_the_setting(values, name, words):
    assert words in notice(values, name)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.linspace(-1, 99, 50), "share"),
        (np.linspace(1, 400, 50), "y"),
        (np.linspace(40, 60, 50), "y"),
        (np.arange(1, 51), "y"),
        (np.linspace(0, 5000.5, 50), "rain"),
        (np.linspace(1, 101, 50), "share"),
    ],
)
def test_other_targets__have_none(values, name):
    assert notice(values, name) == ""

from typing import get_args

import vbks
from vbks.ui import options


def test_methods__are_those_of_the_library():
    assert get_args(options.MethodName) == tuple(vbks.search.METHODS)


def test_likelihoods_and_presets__are_those_of_the_package():
    from vbks.api import Preset
    from vbks.inference.likelihoods.registry import likelihood_names

    assert {*get_args(options.LikelihoodName)} == {*likelihood_names()}
    assert get_args(options.PresetName) == get_args(Preset)


def test_step_of__reads_numbers():
    assert [options.step_of(text) for text in (None, "0.25", "15min")] == [None, 0.25, "15min"]

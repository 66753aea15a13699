from typing import get_args

import vbks
from vbks.ui import options


def test_spaces__have_names():
    assert options.space_of("grow") == "grow"
    assert options.space_of("K12") == vbks.K12
    assert options.space_of("K144") == vbks.K144


def test_methods__are_those_of_the_library():
    assert get_args(options.MethodName) == tuple(vbks.search.METHODS)

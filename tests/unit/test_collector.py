import gc

import pytest

from vbks.collector import held_collector


def test_collector__is_held_and_then_as_before():
    assert gc.isenabled()
    with pytest.raises(ImportError), held_collector():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()


def test_collector__stays_off_where_somebody_has_stopped_it():
    gc.disable()
    try:
        with held_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()

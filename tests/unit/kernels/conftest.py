import pytest

from vbks.grammar import families
from vbks.kernels import registry


@pytest.fixture(autouse=True)
def _forget_own_families(monkeypatch):
    """Families that a test registers are gone after it, and so is what was remembered of them."""
    known = dict(registry._FAMILIES)
    monkeypatch.setattr(registry, "_FAMILIES", dict(known))
    monkeypatch.setattr(families, "_RULES", dict(families._RULES))
    yield
    if known != registry._FAMILIES:
        for clear_cache in registry._CACHES:
            clear_cache()

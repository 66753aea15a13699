import pytest


@pytest.fixture(autouse=True)
def _forget_own_families(scoped_registries: None) -> None:
    """Families that a test registers are gone after it."""

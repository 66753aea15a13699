import pytest


@pytest.fixture(autouse=True, scope="module")
def _only_built_in_families(only_built_in_families: None) -> None:
    """Messages list the known families."""

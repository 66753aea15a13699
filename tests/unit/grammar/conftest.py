from collections.abc import Iterator

import pytest
from support.strategies import BUILT_IN

from vbks.grammar import families
from vbks.grammar.families import rules_of


@pytest.fixture(autouse=True, scope="module")
def _only_built_in_families() -> Iterator[None]:
    """Messages list the known families, whatever other tests have declared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families, "_RULES", {name: rules_of(name) for name in BUILT_IN})
        yield

"""What tests register is gone after them: families, warps, likelihoods, acquisitions, methods."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from support.strategies import BUILT_IN
from vbks.data import warp_registry
from vbks.grammar import families
from vbks.grammar.families import rules_of
from vbks.inference.likelihoods import registry as likelihoods
from vbks.kernels import registry as kernels
from vbks.search import methods
from vbks.search.strategies import acquisition

REGISTRIES = (
    (kernels, "_FAMILIES"),
    (families, "_RULES"),
    (warp_registry, "_NAMED"),
    (likelihoods, "_NAMED"),
    (acquisition, "_ACQUISITIONS"),
    (methods, "METHODS"),
)
"""Modules and the names under which they hold what is registered."""


@contextmanager
def registries_restored() -> Iterator[None]:
    """Restore all registries in the end, and forget what was remembered of families."""
    before = dict(kernels._FAMILIES)
    with pytest.MonkeyPatch.context() as patch:
        for module, name in REGISTRIES:
            patch.setattr(module, name, dict(getattr(module, name)))
        yield
        changed = before != kernels._FAMILIES
    if changed:
        for clear_cache in kernels._CACHES:
            clear_cache()


@pytest.fixture
def scoped_registries() -> Iterator[None]:
    """What the test registers is gone after it."""
    with registries_restored():
        yield


@pytest.fixture(scope="module")
def scoped_registries_of_module() -> Iterator[None]:
    """What the tests of a module register is gone after all of them: what is compiled is kept."""
    with registries_restored():
        yield


@pytest.fixture(scope="module")
def only_built_in_families() -> Iterator[None]:
    """The grammar knows the families of vbks alone, whatever other tests have declared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families, "_RULES", {name: rules_of(name) for name in BUILT_IN})
        yield

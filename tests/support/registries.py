"""What tests register is gone after them: families, warps, likelihoods, acquisitions, methods."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from vbks.data import warp_registry
from vbks.grammar import families
from vbks.inference.likelihoods import registry as likelihoods
from vbks.kernels import registry as kernels
from vbks.search.strategies import acquisition

REGISTRIES = (
    (kernels, "_FAMILIES"),
    (families, "_RULES"),
    (warp_registry, "_NAMED"),
    (likelihoods, "_NAMED"),
    (acquisition, "_ACQUISITIONS"),
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

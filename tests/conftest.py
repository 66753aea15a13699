"""Fixtures of all tests."""

from support.registries import (
    only_built_in_families,
    scoped_registries,
    scoped_registries_of_module,
)

__all__ = ["only_built_in_families", "scoped_registries", "scoped_registries_of_module"]

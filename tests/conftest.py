"""Fixtures of all tests."""

from support.registries import scoped_registries

__all__ = ["scoped_registries"]

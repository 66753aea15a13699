"""The ways of weighing candidates that benchmarks compare, by their settings."""

from __future__ import annotations

from typing import Any

DEFAULT = "auto"
"""What `vbks.fit` does."""

WEIGHINGS: dict[str, dict[str, Any]] = {
    DEFAULT: {"kind": "bayes", "weights": "auto"},
    "bayes": {"kind": "bayes", "weights": "belief"},
    "vbks": {"kind": "vbks", "weights": "belief"},
    "stacking": {"kind": "bayes", "weights": "stacking"},
}

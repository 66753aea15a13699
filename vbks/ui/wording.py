"""Sentences about settings of `vbks.fit` in the words of the command line."""

from __future__ import annotations

import re

OPTIONS = {
    "date_format": "--date-format",
    "decimal": "--decimal",
    "encoding": "--encoding",
    "sep": "--sep",
    "missing": "--missing",
    "baselines": "--baselines",
    "belief": "--belief",
    "budget": "--budget",
    "checkpoint": "--checkpoint",
    "folds": "--folds",
    "freq": "--freq",
    "horizon": "--horizon",
    "inference": "--inference",
    "levels": "--level",
    "likelihood": "--likelihood",
    "mean_function": "--mean",
    "method": "--method",
    "noise_variance": "--noise-column",
    "num_inducing": "--inducing",
    "periods": "--periods",
    "preset": "--preset",
    "season": "--season",
    "seed": "--seed",
    "space": "--space",
    "step": "--step",
    "target_range": "--target-range",
    "warps": "--warps",
    "weights": "--weights",
}
"""Options by the arguments that they are passed on as."""

VALUE = r"(?:'(?P<text>[^']*)'|\((?P<several>[^()]*)\)|(?P<word>-?[\w.]*\w))?"
"""What stands after the sign of equality: a text, several numbers, a word, or nothing."""

ARGUMENT = re.compile(rf"\b(?P<name>{'|'.join(OPTIONS)})={VALUE}")
"""An argument as Python has it."""

BARE = re.compile(rf"\b({'|'.join(name for name in OPTIONS if '_' in name)})\b")
"""Names of arguments that are no words."""

AT_START = re.compile(r"^(freq|horizon|folds|step|season|periods|budget|sep|encoding) (is|has) ")
"""A message that begins with the argument that is wrong."""


def in_options(text: str) -> str:
    """The sentence with `--budget` in place of `budget=`, and all other options alike."""
    text = AT_START.sub(lambda found: f"{OPTIONS[found[1]]} {found[2]} ", text)
    text = ARGUMENT.sub(_option, text)
    return BARE.sub(lambda found: OPTIONS[found[1]], text)


def _option(found: re.Match[str]) -> str:
    """An argument as an option, with its value if it has one."""
    several = found["several"]
    value = found["text"] or found["word"] or (several or "").replace(",", "")
    return f"{OPTIONS[found['name']]} {value}".strip()

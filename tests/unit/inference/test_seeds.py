from vbks.inference.seeds import Seed

FROZEN = (
    "sample",
    "inducing",
    "rows of the look",
    "look",
    "rows of the middle",
    "second look",
    "q(θ)",
    "information",
    "plain ascent",
    "residuals",
    "grams",
    "local ELBOs",
    "θ of local ELBOs, ",
    "earlier θ",
)
"""The texts that generators are seeded with: other ones would change the answers of all fits."""


def test_texts_of_seeds__never_change() -> None:
    assert tuple(seed.value for seed in Seed) == FROZEN

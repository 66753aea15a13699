"""Tests of the numbers of the VBKS paper."""

import pytest

from vbks.errors import VbksError
from vbks.inference.paper.settings import LEARNING_RATES, PaperSettings, batch_size_of


def test_numbers__that_follow_from_the_rows() -> None:
    settings = PaperSettings()
    assert settings.temperature_of(1280, 128) == 5.0
    assert settings.temperature_of(100, 128) == 1.0
    assert settings.value_batches_of(1280, 128) == 100
    assert settings.value_batches_of(128_000, 128) == 500
    assert settings.rate == LEARNING_RATES["adam"]
    assert PaperSettings(optimiser="sga").rate == LEARNING_RATES["sga"]


def test_numbers__that_the_user_gives_count() -> None:
    settings = PaperSettings(temperature=3.0, value_batches=7, learning_rate=0.5)
    assert settings.temperature_of(10**6, 1) == 3.0
    assert settings.value_batches_of(10**6, 1) == 7
    assert settings.rate == 0.5


def test_batches__have_fewer_rows_than_there_are() -> None:
    assert batch_size_of(1000, None) == 128
    assert batch_size_of(100, None) == 50
    assert batch_size_of(100, 99) == 99
    with pytest.raises(VbksError, match="batch_size is 100, but there are 100 rows"):
        batch_size_of(100, 100)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps is 0, expected a whole number from 1 on"),
        ({"max_averaged": 1.5}, "max_averaged is 1.5"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0, expected a number above 0"),
        ({"temperature": float("inf")}, "temperature is inf"),
        ({"optimiser": "newton"}, "optimiser is 'newton', expected one of adam, sga"),
    ],
)
def test_numbers__that_cannot_be_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(VbksError, match=message):
        PaperSettings(**settings)

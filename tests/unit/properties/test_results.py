import numpy as np

from vbks.properties.results import Change, Cycle, Dependence, Properties, Spread, Trend
from vbks.words import Estimate


def made(**changes):
    """Properties of which nothing was computed."""
    parts = {
        "cycle": Cycle(
            name="cycle", probability=0.9, sentence="A <cycle>.", input="x", unit="months",
            estimate=Estimate(12.0, 11.0, 13.0),
        ),
        "trend": Trend(
            name="trend", probability=0.5, sentence="A trend.", input="x", up=0.5, down=0.0
        ),
        "swings": Spread(
            name="swings", probability=0.2, sentence="Swings.", input="x", grows=0.2, shrinks=0.0,
            varies=0.0,
        ),
        "change": Change(name="change", probability=0.0, sentence="No change.", input="x"),
        "noise": None,
        "inputs": (
            Dependence(
                name="dependence on x", probability=1.0, sentence="X.", inputs=("x",), share=0.5
            ),
        ),
        "pairs": (),
    }  # fmt: skip
    return Properties(**{**parts, **changes})


def test_property__has_its_median_and_interval():
    cycle = made().cycle
    assert (cycle.median, cycle.interval, str(cycle)) == (12.0, (11.0, 13.0), "A <cycle>.")
    point = Cycle(name="cycle", probability=1.0, sentence="", input="x", estimate=Estimate(12.0))
    assert (point.median, point.interval) == (12.0, None)
    assert made().change.median is None


def test_table__has_a_row_for_each_property():
    table = made().table
    assert list(table["property"]) == ["cycle", "trend", "swings", "change", "dependence on x"]
    assert table["low"][0] == 11.0 and np.isnan(table["low"][1]) and table["unit"][0] == "months"


def test_text_and_page__have_all_sentences_and_run_nothing():
    found = made()
    assert str(found).splitlines() == ["A <cycle>.", "A trend.", "Swings.", "No change.", "X."]
    page = found._repr_html_()
    assert "A &lt;cycle&gt;." in page and "<cycle>" not in page and "90 %" in page


def test_noise__is_one_of_them_where_it_is_known():
    noise = Spread(
        name="noise", probability=0.1, sentence="Noise.", input="x", grows=0.1, shrinks=0.0,
        varies=0.0,
    )  # fmt: skip
    assert [own.name for own in made(noise=noise)][4] == "noise"

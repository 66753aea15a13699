from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.selections import make_dated, make_fit

from vbks.report.labels import labels_of
from vbks.report.sections.belief import belief_of


def test_belief__is_that_of_the_selection(dated):
    selection = make_dated()
    rows = dated.belief.rows
    assert [row.expression for row in rows] == ["SE * PER", "SE"]
    found = selection.belief.set_index("expression")["probability"]
    for row in rows:
        assert row.probability == pytest.approx(found[row.expression])
    assert rows[0].warp == "log"
    assert dated.belief.num_others == 0


@pytest.mark.parametrize(
    ("evidences", "sentence"),
    [
        ((-30.0, -60.0), "No other comes near it."),
        ((-30.0, -30.1), "One more kernel is nearly as good"),
        ((-30.0, -32.0), "Others are clearly less probable"),
    ],
)
def test_sentences__say_what_was_nearly_as_good(evidences, sentence):
    selection = make_dated()
    fits = tuple(
        make_fit(text, 40, evidence=own) for text, own in zip(("SE", "RQ"), evidences, strict=True)
    )
    selection = replace(selection, fits=fits)
    assert sentence in " ".join(belief_of(selection, labels_of(selection)).sentences)


def test_history__is_there_if_the_fit_has_kept_one(dated):
    assert dated.belief.history is None
    names = pd.MultiIndex.from_tuples(
        [("SE", "identity"), ("SE * PER", "log")], names=["expression", "warp"]
    )
    trace = pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], pd.Index([0.5, 1.0], name="proportion"), names)
    selection = make_dated(trace=trace)
    history = belief_of(selection, labels_of(selection)).history
    assert history.names == ("SE", "SE * PER, log")
    np.testing.assert_array_equal(history.values, trace.to_numpy().T)

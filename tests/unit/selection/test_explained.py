import matplotlib.pyplot as plt
from support.selections import make_table

from vbks.selection.explained import ExplainedSelection


def test_selection__explains_itself_and_computes_properties_once():
    selection = make_table()
    assert isinstance(selection, ExplainedSelection)
    assert selection.properties() is selection.properties()
    assert selection.components()[0].inputs == ("age",)


def test_plot_properties__draws_those_that_are_named():
    (ax,) = make_table().plot_properties("inputs")
    names = [label.get_text() for label in ax.get_yticklabels()]
    plt.close(ax.figure)
    assert names == ["age", "other 2", "other 3"]

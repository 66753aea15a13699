import numpy as np
from support.selections import make_dated, make_table

from vbks.report.labels import labels_of
from vbks.report.sections.effects import MOST_INPUTS, effects_of, mean_predictor


def test_effects__find_the_input_that_matters_and_its_direction(table):
    first, *others = table.outlook.effects
    assert first.name == "age" and first.share > 0.8
    assert first.sentence.startswith("strength rises with age, from ")
    assert all(other.share < 0.05 for other in others)
    assert all("hardly depends" in other.sentence for other in others)
    curve = first.curve
    np.testing.assert_array_less(0.0, np.diff(curve.mean))
    # The other inputs do nothing, so rows do not differ.
    np.testing.assert_allclose(curve.low, curve.high, atol=1e-3)


def test_effects__are_those_of_a_naive_loop():
    selection = make_table()
    labels = labels_of(selection)
    effect = effects_of(selection, labels).effects[0]
    X, _ = next(selection.rows.source.blocks(50))
    rows = X[np.linspace(0, 49, 40).astype(int)]
    model, units = selection.model(), selection.units
    for place, expected in list(zip(effect.curve.grid, effect.curve.mean, strict=True))[::8]:
        means = []
        for row in rows:
            changed = np.array([[place, *row[1:]]])
            parts = [
                own.numpy()[:, 0] for own in model.predict_y(units.standardise_inputs(changed))
            ]
            means.append(units.restore_moments(*parts)[0][0])
        np.testing.assert_allclose(np.mean(means), expected, rtol=1e-9)


def test_mean_predictor__averages_over_kernels_and_warps():
    selection = make_dated()
    X = np.array([[17000.0], [17400.0]])
    weights = selection.weights[:2]
    means = []
    for fit in selection.fits[:2]:
        units = selection.data[fit.warp].units
        model = selection.model(fit.expression, fit.warp.name)
        parts = [own.numpy()[:, 0] for own in model.predict_y(units.standardise_inputs(X))]
        means.append(units.restore_moments(*parts)[0])
    expected = weights @ np.array(means) / weights.sum()
    np.testing.assert_allclose(mean_predictor(selection)(X), expected, rtol=1e-9)
    np.testing.assert_allclose(
        selection.predict_y(X.astype("datetime64[D]"))[0], expected, rtol=0.02
    )


def test_effects__of_many_inputs_say_which_were_left_out():
    selection = make_table(MOST_INPUTS + 2)
    effects = effects_of(selection, labels_of(selection))
    assert len(effects.effects) == MOST_INPUTS
    assert effects.left_out == ("other 13", "other 14")


def test_compared__counts_rows_inside_of_their_intervals(table):
    compared = table.outlook.compared
    inside = [
        low <= y <= high
        for y, low, high in zip(compared.observed, compared.low, compared.high, strict=True)
    ]
    assert compared.inside == np.mean(inside)
    assert len(inside) == 50

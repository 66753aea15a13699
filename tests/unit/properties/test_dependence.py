import numpy as np
import pytest

from vbks.properties.dependence import inputs_of, pairs_of

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, (150, 3))
NAMES = ["age", "dose", "luck"]


def both(beliefs):
    inputs = inputs_of(beliefs, 1.0)
    return inputs, pairs_of(beliefs, 1.0, inputs)


def test_inputs__that_a_kernel_has_not_do_not_matter(believe):
    y = 2.0 * X[:, 0] - X[:, 1] + 0.05 * RNG.normal(size=150)
    fits = [("LIN[1] + LIN[2]", {"variance": 0.0, "location": 0.0}, 1.0)]
    inputs, pairs = both(believe(X, y, fits, NAMES))
    assert [own.probability for own in inputs] == [pytest.approx(1.0), pytest.approx(1.0), 0.0]
    shares = [own.share for own in inputs]
    np.testing.assert_allclose(shares, [0.8, 0.2, 0.0], atol=0.15)
    assert pairs == ()
    assert inputs[2].sentence == "Luck hardly matters (less than 1 %)."
    assert inputs[0].sentence.startswith("Age almost certainly matters")


def test_a_product__acts_together_with_the_share_of_the_interaction(believe):
    """Of y = a b with a, b of mean zero all variance is their interaction's."""
    y = 3.0 * X[:, 0] * X[:, 1] + 0.05 * RNG.normal(size=150)
    values = {"location": 0.0, "variance": 1.0}
    _, pairs = both(believe(X, y, [("LIN[1] * LIN[2]", values, 1.0)], NAMES))
    (pair,) = pairs
    assert pair.inputs == ("age", "dose") and pair.probability == pytest.approx(1.0)
    assert pair.share == pytest.approx(1.0, abs=0.35)
    assert "Age and dose almost certainly act together" in pair.sentence


def test_probability__is_the_belief_in_functions_that_depend_on_it(believe):
    y = X[:, 0] + 0.3 * X[:, 1] * X[:, 2]
    fits = [
        ("LIN[1]", {"location": 0.0}, 3.0),
        ("SE", {f"lengthscales[{n}]": 0.5 for n in range(3)}, 1.0),
    ]
    inputs, pairs = both(believe(X, y, fits, NAMES))
    assert inputs[0].probability == pytest.approx(1.0)
    assert inputs[1].probability == pytest.approx(0.25)
    assert pairs[0].inputs == ("dose", "luck")
    assert pairs[0].probability == pytest.approx(0.25)


def test_a_lone_input__matters_as_far_as_the_function_moves(believe):
    x = np.linspace(0.0, 1.0, 40)
    inputs, pairs = both(believe(x, np.sin(5 * x), [("SE", {}, 1.0)]))
    assert inputs[0].share == pytest.approx(1.0, abs=0.3) and pairs == ()
    inputs, _ = both(believe(x, np.sin(40 * x), [("C", {}, 1.0)]))
    assert inputs[0].probability == 0.0

import numpy as np
import pytest
import tensorflow as tf

from vbks.errors import GrammarError
from vbks.grammar.families import FamilyRules
from vbks.kernels.family import BUILT_IN, Family
from vbks.kernels.formula_checks import check_formula
from vbks.kernels.parameters import NormalPrior, Parameter

LENGTH = Parameter("lengthscales", NormalPrior(-0.3, 1.2), per_input=True)
PLACE = Parameter("place", NormalPrior(0.0, 1.0), positive=False)


def smooth(X1, X2, lengthscales):
    return tf.exp(-0.5 * tf.reduce_sum(tf.square((X1 - X2) / lengthscales), axis=-1))


def line(X1, X2, place):
    return tf.reduce_sum((X1 - place[..., tf.newaxis]) * (X2 - place[..., tf.newaxis]), axis=-1)


def family(formula, *parameters, **rules):
    return Family(FamilyRules("OWN", **{"stationary": False, **rules}), formula, parameters)


@pytest.mark.parametrize("name", ["SE", "RQ", "OU", "M32", "M52", "PER", "PER0", "LIN", "C"])
def test_shipped_formulas__are_kernels_that_follow_their_rules(name):
    check_formula(BUILT_IN[name])


def test_kernel__passes_by_the_rules_that_it_follows():
    check_formula(family(line, PLACE))
    check_formula(
        family(smooth, LENGTH, stationary=True, closed_under_products=True, separable="product")
    )


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (family(lambda X1, X2: X1 - X2), r"gives shape \(2, 3, 1\).*add up over the last axis"),
        (family(lambda X1, X2: 1.0), r"gives shape \(\).*each pair of rows"),
        (family(smooth, PLACE), "the formula of family 'OWN' fails: .*unexpected keyword"),
        (family(lambda X1, X2: (X1 + 2 * X2)[..., 0]), "not symmetric"),
        (family(lambda X1, X2: (tf.square(X1 - X2) + 1)[..., 0]), "not positive semi-definite"),
        (family(lambda X1, X2: tf.math.log(X1 * X2)[..., 0]), "not finite, tried on one input"),
        (family(line, PLACE, stationary=True), "changes when all inputs are shifted by 1"),
        (
            family(lambda *given, **own: 3.0 * smooth(*given, **own), LENGTH, stationary=True),
            r"k\(x, x\) is 3, expected 1",
        ),
        (
            family(smooth, LENGTH, stationary=True, separable="sum"),
            "said to be the sum of itself on each input but is not",
        ),
        (
            family(smooth, LENGTH, stationary=True, closed_under_products=True),
            'needs one parameter with per_input=True, and separable="product"',
        ),
    ],
)  # fmt: skip
def test_mistake__is_named(own, message):
    with pytest.raises(GrammarError, match=message):
        check_formula(own)


def test_kernel_on_one_input_alone__is_found_out_on_two():
    """cos|x − x'| is one along a line, and none in the plane."""
    rings = family(lambda X1, X2, lengthscales: tf.cos(tf.norm((X1 - X2) / lengthscales, axis=-1)),
                   LENGTH)  # fmt: skip
    with pytest.raises(GrammarError, match=r"semi-definite: .*tried on 2 inputs"):
        check_formula(rings)


def test_closed_family__is_an_exponential_of_its_parameter():
    """1/(1 + (x − x')²/ℓ²) times another of its kind is none of them."""

    def cauchy(X1, X2, lengthscales):
        return 1.0 / tf.reduce_prod(1.0 + tf.square((X1 - X2) / lengthscales), axis=-1)

    own = family(cauchy, LENGTH, stationary=True, closed_under_products=True, separable="product")
    with pytest.raises(GrammarError, match=r"is not exp\(−λ a\(x, x'\)\)"):
        check_formula(own)


def test_checks__leave_global_random_numbers_alone():
    state = np.random.get_state()[1].copy()
    check_formula(BUILT_IN["SE"])
    np.testing.assert_array_equal(np.random.get_state()[1], state)

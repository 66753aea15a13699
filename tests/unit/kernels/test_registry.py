import gpflow
import numpy as np
import pytest
import tensorflow as tf

import vbks
from vbks.data.signals.input_summary import InputSummary
from vbks.grammar.canonical import canonical
from vbks.grammar.nesting import special_cases
from vbks.inference.bounds.fourier_features import fourier_features
from vbks.kernels.bank.bank import Bank
from vbks.kernels.free_parameters import num_free_parameters
from vbks.kernels.gpflow.conversion import to_gpflow
from vbks.kernels.gpflow.form import GPflowForm
from vbks.kernels.gpflow.kernels import FamilyKernel
from vbks.kernels.layout import lay_out
from vbks.kernels.parameters import NormalPrior, Parameter
from vbks.kernels.starts.moved_periods import moved_periods
from vbks.kernels.starts.starts import draw_starts
from vbks.kernels.starts.suggestions import num_periodic

SCALE = Parameter("scale", NormalPrior(0.0, 1.0), per_input=True)
POWER = Parameter("power", NormalPrior(0.0, 1.0))


def cauchy(X1, X2, scale, power):
    return (1.0 + tf.reduce_sum(tf.square((X1 - X2) / scale), axis=-1)) ** -power


def no_kernel(X1, X2):
    return tf.abs(X1 - X2)[..., 0] ** 2 + 1.0


def no_kernel_of_two_inputs(X1, X2, scale):
    return tf.cos(tf.norm((X1 - X2) / scale, axis=-1))


def test_own_family__is_known_everywhere_after_one_call():
    vbks.register_family("CAUCHY", cauchy, [SCALE, POWER], stationary=True)
    assert str(vbks.parse("CAUCHY[2] * LIN")) == "CAUCHY[2] * LIN"
    assert num_free_parameters("CAUCHY") == 4
    assert len(vbks.space(level=2, families=("CAUCHY", "LIN"))) == 8
    X = np.random.default_rng(0).normal(size=(5, 2))
    bank = Bank(["CAUCHY"], num_inputs=2)
    theta = 0.3 * np.ones((1, bank.num_slots))
    np.testing.assert_allclose(
        bank(theta, X)[0], to_gpflow("CAUCHY", 2, theta=theta[0])(X), atol=1e-12
    )


def test_same_name_again__is_refused_unless_it_replaces():
    vbks.register_family("CAUCHY", cauchy, [SCALE, POWER])
    vbks.register_family("CAUCHY", cauchy, [SCALE, POWER])
    before = Bank(["CAUCHY"])(np.zeros((1, 4)), [[0.0], [1.0]]).numpy()

    def other(X1, X2, scale, power):
        return 3.0 * cauchy(X1, X2, scale, power)

    with pytest.raises(vbks.GrammarError, match=r"already registered.*replace=True"):
        vbks.register_family("CAUCHY", other, [SCALE, POWER])
    vbks.register_family("CAUCHY", other, [SCALE, POWER], replace=True)
    after = Bank(["CAUCHY"])(np.zeros((1, 4)), [[0.0], [1.0]]).numpy()
    np.testing.assert_allclose(after, 3 * before)


def test_built_in_family__cannot_be_replaced():
    with pytest.raises(vbks.GrammarError, match="'SE' is already registered"):
        vbks.register_family("SE", cauchy, [SCALE, POWER], replace=True)


@pytest.mark.parametrize(
    ("formula", "parameters", "message"),
    [
        (cauchy, SCALE, "needs a list of Parameter"),
        (cauchy, [SCALE, SCALE], "cannot have a parameter 'scale'"),
        (cauchy, [Parameter("variance", NormalPrior(0, 1))], "cannot have a parameter 'variance'"),
        (cauchy, [SCALE], "formula of family 'BAD' fails"),
        (lambda X1, X2: X1 - X2, [], r"gives shape \(2, 3, 1\).*add up over the last axis"),
        (lambda X1, X2: 1.0, [], r"gives shape \(\).*each pair of rows.*is the family C"),
        (lambda X1, X2: X1[..., 0] ** 2, [], r"gives shape \(2, 1\).*from X1 and X2 both"),
        (lambda X1, X2: tf.ones([2, 3], X1.dtype), [], r"expected \[8, 2, 3\].*leading axes"),
        (lambda X1, X2: tf.cast(no_kernel(X1, X2), tf.float32), [], "gives float32.*float64"),
        (lambda X1, X2: (X1 + 2.0 * X2)[..., 0], [], "not symmetric: .*Treat X1 and X2 alike"),
        (no_kernel, [], "not positive semi-definite: a matrix of 2 rows has the eigenvalue -"),
        (lambda X1, X2: tf.math.log(X1 * X2)[..., 0], [], "not finite, tried on one input"),
    ],
)
def test_mistake__is_named_when_it_is_registered(formula, parameters, message):
    with pytest.raises(vbks.GrammarError, match=message):
        vbks.register_family("BAD", formula, parameters)
    with pytest.raises(vbks.GrammarError, match="unknown family"):
        vbks.parse("BAD")


def test_formula__is_tried_on_two_inputs_where_parameters_are_per_input():
    with pytest.raises(vbks.GrammarError, match=r"semi-definite: .*tried on 2 inputs"):
        vbks.register_family("RINGS", no_kernel_of_two_inputs, [SCALE])


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (lambda X1, X2: tf.reduce_sum(X1 * X2, axis=-1), "changes when all inputs are shifted"),
        (lambda X1, X2: 2.0 * tf.exp(-tf.abs(X1 - X2))[..., 0], r"k\(x, x\) is 2, expected 1"),
    ],
)
def test_stationary_family__is_a_function_of_differences_at_unit_scale(formula, message):
    with pytest.raises(vbks.GrammarError, match=message):
        vbks.register_family("MOVING", formula, [], stationary=True)
    with pytest.raises(vbks.GrammarError, match="unknown family"):
        vbks.parse("MOVING")


def cosine(X1, X2, turn):
    return tf.reduce_prod(tf.cos(2.0 * np.pi * (X1 - X2) / turn), axis=-1)


def test_own_period__starts_where_the_data_suggest_and_is_tried_elsewhere():
    turn = Parameter("turn", NormalPrior(-1.5, 1.5), per_input=True, role="period")
    vbks.register_family("COS", cosine, [turn], stationary=True)
    layout = lay_out("COS + SE")
    slot = layout.names.index(".kernels[0].turn")
    summaries = (InputSummary(-1.7, 1.7, 0.05, periods=(0.4, 0.9)),)
    starts = draw_starts(layout, summaries, 8, np.random.default_rng(0))
    assert starts[0, slot] == pytest.approx(np.log(0.4))
    assert num_periodic(layout) == 1
    assert len(moved_periods(layout, summaries, starts[0])) == 2


def laplace(X1, X2, lengthscales):
    return tf.exp(-tf.reduce_sum(tf.abs(X1 - X2) / lengthscales, axis=-1))


LENGTH = Parameter("lengthscales", NormalPrior(-0.3, 1.2), per_input=True, role="lengthscale")


def test_family_closed_under_products__is_simplified_and_counted_like_one_that_is_shipped():
    vbks.register_family(
        "LAP", laplace, [LENGTH], stationary=True, closed_under_products=True, separable="product"
    )
    assert canonical("LAP * LAP") == vbks.parse("LAP")
    assert canonical("LAP * (LAP + LAP)") == vbks.parse("LAP + LAP")
    for text in ("OU * (LIN + OU)", "OU * PER + OU", "OU + OU", "OU[1] * OU[2] + OU"):
        own = text.replace("OU", "LAP")
        assert num_free_parameters(own, 2) == num_free_parameters(text, 2)


@pytest.mark.parametrize(
    ("formula", "parameters", "rules", "message"),
    [
        (cauchy, [SCALE, POWER], {"closed_under_products": True}, "needs one parameter with"),
        (laplace, [LENGTH], {"closed_under_products": True}, 'and separable="product"'),
        (
            lambda X1, X2, scale: 1.0 / tf.reduce_prod(1.0 + ((X1 - X2) / scale) ** 2, axis=-1),
            [SCALE],
            {"closed_under_products": True, "separable": "product"},
            r"is not exp\(−λ a\(x, x'\)\)",
        ),
        (cauchy, [SCALE, POWER], {"separable": "product"}, "said to be the product of itself"),
        (laplace, [LENGTH], {"separable": "sum"}, "said to be the sum of itself"),
        (laplace, [LENGTH], {"special_cases": ("NONE",)}, "unknown family 'NONE'"),
    ],
)
def test_rule_that_the_formula_does_not_follow__is_refused(formula, parameters, rules, message):
    with pytest.raises(vbks.GrammarError, match=message):
        vbks.register_family("WRONG", formula, parameters, stationary=True, **rules)
    with pytest.raises(vbks.GrammarError, match="unknown family"):
        vbks.parse("WRONG")


def test_special_cases_of_an_own_family__are_its_relatives():
    vbks.register_family("CAU", cauchy, [SCALE, POWER], stationary=True, special_cases=("SE", "C"))
    assert vbks.parse("LIN + SE") in special_cases("CAU + LIN")


def test_family_without_parameters__is_one_of_itself_with_itself():
    vbks.register_family("RAMP", lambda X1, X2: tf.reduce_sum(X1 * X2, axis=-1), [])
    assert canonical("RAMP + RAMP") == vbks.parse("RAMP")
    assert num_free_parameters("RAMP + RAMP * SE + RAMP") == num_free_parameters("RAMP + RAMP * SE")


def test_own_family_with_a_gpflow_class__is_written_as_it_and_read_from_it():
    vbks.register_family(
        "COSINE",
        lambda X1, X2, lengthscales: tf.cos(
            2.0 * np.pi * tf.reduce_sum((X1 - X2) / lengthscales, axis=-1)
        ),
        [Parameter("lengthscales", NormalPrior(-0.3, 1.2), per_input=True)],
        stationary=True,
        gpflow=GPflowForm(gpflow.kernels.Cosine),
    )
    kernel = gpflow.kernels.Cosine(2.0, [0.5, 1.5]) + gpflow.kernels.SquaredExponential()
    reading = vbks.from_gpflow(kernel)
    assert str(reading.expression) == "COSINE + SE"
    back = vbks.to_gpflow(reading.expression, 2, theta=reading.theta, ard=reading.ard)
    assert type(back.kernels[0]) is gpflow.kernels.Cosine
    X = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_allclose(back(X), kernel(X), rtol=1e-12)
    np.testing.assert_allclose(Bank([reading.expression], 2)(reading.theta[None], X)[0], kernel(X))


def test_own_separable_family__is_read_on_some_of_the_inputs():
    family = vbks.register_family("LAP", laplace, [LENGTH], stationary=True, separable="product")
    kernel = FamilyKernel(family, 2.0, lengthscales=[0.5, 1.5], active_dims=[0, 2])
    assert str(vbks.from_gpflow(kernel, 3).expression) == "LAP[1] * LAP[3]"


def test_own_spectral_density__gives_random_fourier_features():
    vbks.register_family(
        "LAP",
        laplace,
        [LENGTH],
        stationary=True,
        draw_frequencies=lambda rng, size, lengthscales: rng.standard_cauchy(size) / lengthscales,
    )
    X = np.random.default_rng(0).normal(size=(20, 2))
    theta = lay_out("LAP + LIN", 2).prior_mean
    drawn = [
        fourier_features(text, theta, X, 30, np.random.default_rng(1))
        for text in ("LAP + LIN", "OU + LIN")
    ]
    np.testing.assert_allclose(*drawn)

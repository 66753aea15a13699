import random
import re
from concurrent.futures import ThreadPoolExecutor

import gpflow
import numpy as np
import pytest
import tensorflow as tf
from support.reference import kernel_matrix
from support.strategies import random_expression

import vbks
from vbks.grammar.expression import Leaf, Sum
from vbks.grammar.space import K12, K144
from vbks.kernels.bank import bank as bank_module
from vbks.kernels.bank.bank import Bank, _make_compiled, num_traces
from vbks.kernels.bank.terms import is_batchable
from vbks.kernels.gpflow.conversion import _bindings, to_gpflow
from vbks.kernels.parameters import NormalPrior, Parameter

CHANGES = (
    "CP[1](SE, LIN)",
    "CP[1](SE * PER, SE) * LIN + RQ",
    "CW[1](SE, C)",
    "CW[1](PER + LIN, RQ * SE)",
    "CP[1](CW[1](SE, LIN), CP[1](RQ, PER0)) * (SE + LIN)",
    "(SE + CP[1](LIN, C)) * (PER + CW[1](SE, RQ))",
)

EXPONENTIAL = (
    "OU",
    "OU * SE + SE",
    "OU * PER * PER + LIN",
    "LIN * OU * RQ * RQ",
    "CP[1](OU, SE) * OU",
    "(OU + PER0) * (OU + WN)",
)

MATERN = (
    "M32",
    "M52 + LIN",
    "M32 * M52 * SE",
    "M52 * OU * PER * RQ",
    "CW[1](M32, M52 * LIN) * RQ",
    "(M52 + PER0) * (M32 + WN)",
)


def random_expressions(count, max_dim=4, seed=0):
    rng = random.Random(seed)
    return tuple(random_expression(rng, max_leaves=7, max_dim=max_dim) for _ in range(count))


RANDOM = random_expressions(200)


def draw(bank, n1=7, n2=9, seed=0):
    rng = np.random.default_rng(seed)
    theta = 0.5 * rng.normal(size=(len(bank), bank.num_slots))
    X1, X2 = rng.normal(size=(n1, bank.num_inputs)), rng.normal(size=(n2, bank.num_inputs))
    return theta, X1, X2


def gradient(function, theta, upstream):
    theta = tf.constant(theta)
    with tf.GradientTape() as tape:
        tape.watch(theta)
        value = function(theta)
    return tape.gradient(value, theta, output_gradients=upstream).numpy()


def spaces():
    return [
        pytest.param(K144, 1, id="K144"),
        pytest.param(K144[::5], 3, id="K144 on all of three inputs"),
        pytest.param(K144[::9], 5, id="K144 on all of five inputs"),
        pytest.param(RANDOM, 4, id="random"),
        pytest.param(CHANGES, 1, id="changes"),
        pytest.param(EXPONENTIAL, 1, id="exponential"),
        pytest.param(MATERN, 1, id="Matérn"),
        pytest.param((*MATERN, "M32[2] * M52[1] + M32"), 3, id="Matérn on three inputs"),
        pytest.param((*EXPONENTIAL, "OU[2] * SE[1]"), 3, id="exponential on three inputs"),
    ]


@pytest.mark.parametrize(("expressions", "num_inputs"), spaces())
def test_bank__equals_a_naive_evaluation(expressions, num_inputs):
    bank = Bank(expressions, num_inputs)
    theta, X1, X2 = draw(bank, n1=4, n2=3)
    kernels = bank(theta, X1, X2).numpy()
    for k, layout in enumerate(bank.layouts):
        naive = kernel_matrix(layout, theta[k], X1, X2)
        np.testing.assert_allclose(kernels[k], naive, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("expressions", "num_inputs"), spaces())
def test_gradient__equals_automatic_differentiation_of_the_formulas(expressions, num_inputs):
    bank = Bank(expressions, num_inputs)
    by_formula = Bank(expressions, num_inputs, differentiable_inputs=True)
    theta, X1, X2 = draw(bank)
    upstream = np.random.default_rng(1).normal(size=(len(bank), len(X1), len(X2)))
    ours = gradient(lambda t: bank(t, X1, X2), theta, upstream)
    theirs = gradient(lambda t: by_formula(t, X1, X2), theta, upstream)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("expressions", "num_inputs"), spaces())
def test_gradient__equals_finite_differences(expressions, num_inputs):
    bank = Bank(expressions, num_inputs)
    theta, X1, X2 = draw(bank)
    upstream = np.random.default_rng(1).normal(size=(len(bank), len(X1), len(X2)))
    ours = gradient(lambda t: bank(t, X1, X2), theta, upstream)
    step = 1e-5
    for slot in range(bank.num_slots):
        shifted = np.stack([theta, theta], axis=1)
        shifted[:, 0, slot] += step
        shifted[:, 1, slot] -= step
        up, down = np.moveaxis(bank(shifted, X1, X2).numpy(), 1, 0)
        finite = np.sum(upstream * (up - down), axis=(1, 2)) / (2 * step)
        scale = 1 + np.abs(finite)
        np.testing.assert_allclose(ours[:, slot] / scale, finite / scale, atol=1e-6)


@pytest.mark.parametrize(("expressions", "num_inputs"), spaces())
def test_bank__equals_gpflow_in_value_and_gradient(expressions, num_inputs):
    bank = Bank(expressions, num_inputs)
    theta, X1, X2 = draw(bank)
    kernels = bank(theta, X1, X2).numpy()
    upstream = np.random.default_rng(1).normal(size=kernels.shape)
    ours = gradient(lambda t: bank(t, X1, X2), theta, upstream)
    for k, layout in enumerate(bank.layouts):
        kernel = to_gpflow(layout.expression, num_inputs, theta=theta[k, : len(layout)])
        with tf.GradientTape() as tape:
            value = kernel(X1, X2)
        np.testing.assert_allclose(kernels[k], value, rtol=1e-10, atol=1e-10)
        bindings = list(_bindings(kernel, layout.root))
        theirs = tape.gradient(
            value,
            [binding.parameter.unconstrained_variable for binding in bindings],
            output_gradients=upstream[k],
            unconnected_gradients="zero",
        )
        for binding, pulled in zip(bindings, theirs, strict=True):
            difference = ours[k, list(binding.slots)] - np.ravel(pulled)
            np.testing.assert_allclose(difference / (1 + np.abs(np.ravel(pulled))), 0, atol=1e-6)


@pytest.mark.parametrize(("expressions", "num_inputs"), spaces())
def test_bank__is_positive_semi_definite(expressions, num_inputs):
    bank = Bank(expressions, num_inputs)
    theta, X, _ = draw(bank, n1=20)
    kernels = bank(theta, X).numpy()
    np.testing.assert_allclose(kernels, np.swapaxes(kernels, 1, 2), rtol=1e-10, atol=1e-10)
    eigenvalues = np.linalg.eigvalsh(kernels)
    assert (eigenvalues[:, 0] >= -1e-10 * np.maximum(eigenvalues[:, -1], 1)).all()


@pytest.mark.parametrize(("expressions", "num_inputs"), spaces())
def test_diag__is_the_diagonal(expressions, num_inputs):
    bank = Bank(expressions, num_inputs)
    theta, X, _ = draw(bank)
    diagonals = np.diagonal(bank(theta, X).numpy(), axis1=1, axis2=2)
    np.testing.assert_allclose(bank.diag(theta, X), diagonals, rtol=1e-10, atol=1e-10)


def test_noise__and_diag_add_up_to_the_diagonal_of_gpflow():
    noisy = [expression for expression in RANDOM if "WN" in str(expression)][:40]
    bank = Bank(noisy, 4)
    theta, X, _ = draw(bank)
    both = (bank.diag(theta, X) + bank.noise(theta, X)).numpy()
    for k, layout in enumerate(bank.layouts):
        kernel = to_gpflow(layout.expression, 4, theta=theta[k, : len(layout)])
        likelihood = 0.0 if has_outermost_noise(layout.expression) else np.exp(theta[k, 0])
        theirs = kernel(X, full_cov=False) + likelihood
        np.testing.assert_allclose(both[k], theirs, rtol=1e-10, atol=1e-10)


def has_outermost_noise(expression):
    terms = expression.terms if isinstance(expression, Sum) else (expression,)
    return any(isinstance(term, Leaf) and term.family == "WN" for term in terms)


def test_noise__of_white_noise_times_a_line_grows_with_the_square():
    bank = Bank(["WN * LIN + SE"])
    layout = bank.layouts[0]
    theta = np.zeros((1, bank.num_slots))
    theta[0, layout.names.index(".kernels[0].kernels[1].location")] = 1.0
    noise = bank.noise(theta, [[0.0], [1.0], [3.0]]).numpy()
    np.testing.assert_allclose(noise, [[2.0, 1.0, 5.0]], atol=1e-12)


def test_white_noise__is_not_in_the_kernel():
    bank = Bank(["WN", "SE + WN", "SE"])
    theta, X, _ = draw(bank)
    theta[2] = theta[1]
    kernels = bank(theta, X).numpy()
    np.testing.assert_array_equal(kernels[0], 0)
    np.testing.assert_allclose(kernels[1], kernels[2], atol=1e-14)


def test_samples__are_further_rows():
    bank = Bank(CHANGES)
    rng = np.random.default_rng(0)
    theta = 0.5 * rng.normal(size=(len(bank), 3, bank.num_slots))
    X1, X2 = rng.normal(size=(5, 1)), rng.normal(size=(4, 1))
    upstream = rng.normal(size=(len(bank), 3, 5, 4))
    together = bank(theta, X1, X2).numpy()
    pulled = gradient(lambda t: bank(t, X1, X2), theta, upstream)
    for s in range(3):
        alone = bank(theta[:, s], X1, X2)
        np.testing.assert_allclose(together[:, s], alone, atol=1e-12)
        one = gradient(lambda t: bank(t, X1, X2), theta[:, s], upstream[:, s])
        np.testing.assert_allclose(pulled[:, s], one, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(bank.diag(theta, X1)[:, 1], bank.diag(theta[:, 1], X1), atol=1e-12)
    np.testing.assert_allclose(bank.noise(theta, X1)[:, 1], bank.noise(theta[:, 1], X1), atol=1e-12)


@pytest.mark.parametrize("differentiable_inputs", [False, True])
def test_pieces__change_nothing(monkeypatch, differentiable_inputs):
    bank = Bank(K12, differentiable_inputs=differentiable_inputs)
    theta, X1, X2 = draw(bank)
    upstream = np.random.default_rng(1).normal(size=(len(bank), len(X1), len(X2)))
    whole = bank(theta, X1, X2).numpy()
    whole_gradient = gradient(lambda t: bank(t, X1, X2), theta, upstream)
    monkeypatch.setattr(bank_module, "CHUNK_ELEMENTS", 5 * len(X1) * len(X2))
    assert len(bank.split(bank._num_pieces(*map(tf.constant, (theta[:, None], X1, X2))))) > 3
    np.testing.assert_allclose(bank(theta, X1, X2), whole, atol=1e-13)
    pieces_gradient = gradient(lambda t: bank(t, X1, X2), theta, upstream)
    np.testing.assert_allclose(pieces_gradient, whole_gradient, rtol=1e-12, atol=1e-12)


def test_split__keeps_candidates_and_their_order():
    bank = Bank(K144)
    pieces = bank.split(7)
    assert [e for piece in pieces for e in piece.expressions] == list(K144)
    assert max(len(piece) for piece in bank.split(10_000)) <= 3


def test_differentiable_inputs__give_the_gradient_of_inputs():
    bank = Bank(CHANGES, differentiable_inputs=True)
    theta, X1, X2 = draw(bank)
    with tf.GradientTape() as tape:
        inputs = tf.constant(X1)
        tape.watch(inputs)
        total = tf.reduce_sum(bank(theta, inputs, X2))
    pulled = tape.gradient(total, inputs).numpy()
    step = np.zeros_like(X1)
    step[2] = 1e-5
    finite = np.sum(bank(theta, X1 + step, X2) - bank(theta, X1 - step, X2)) / 2e-5
    np.testing.assert_allclose(pulled[2], finite, rtol=1e-6)


def test_inputs_far_from_zero__lose_no_digits():
    bank = Bank(["SE * PER", "RQ"])
    theta, X1, X2 = draw(bank)
    near = bank(theta, X1, X2).numpy()
    np.testing.assert_allclose(bank(theta, X1 + 4096.0, X2 + 4096.0), near, atol=1e-10)


def test_another_list__runs_without_a_new_trace():
    first = Bank(K144)
    theta, X1, X2 = draw(first)
    gradient(lambda t: first(t, X1, X2), theta, np.ones((len(first), len(X1), len(X2))))
    before = num_traces()
    others = [
        (K12, 1),
        (K144[3:50], 3),
        (["LIN"], 2),
        (["C"], 1),
        (["WN"], 1),
        (["CP[1](SE, RQ)", "CW[2](PER[2], LIN[1])"], 2),
    ]
    for expressions, num_inputs in others:
        bank = Bank(expressions, num_inputs)
        theta, X1, X2 = draw(bank, n1=5, n2=11)
        gradient(lambda t: bank(t, X1, X2), theta, np.ones((len(bank), 5, 11)))  # noqa: B023
    assert num_traces() == before


def test_whole_bank__is_one_trace():
    _make_compiled.cache_clear()
    before = num_traces()
    bank = Bank(K144)
    theta, X1, X2 = draw(bank)
    gradient(lambda t: bank(t, X1, X2), theta, np.ones((len(bank), len(X1), len(X2))))
    assert num_traces() == before + 1


def test_own_family__is_batched():
    def laplace(X1, X2, lengthscales):
        return tf.exp(-tf.reduce_sum(tf.abs(X1 - X2) / lengthscales, axis=-1))

    own = (Parameter("lengthscales", NormalPrior(-0.3, 1.2), per_input=True),)
    vbks.register_family("EXP", laplace, own, stationary=True)
    bank = Bank(["EXP", "EXP[2] * SE[1] + LIN[1]", "EXP * EXP"], num_inputs=2)
    theta, X1, X2 = draw(bank)
    kernels = bank(theta, X1, X2).numpy()
    variance, *lengthscales = np.exp(theta[0, 1:4])
    distance = np.abs(X1[:, None] - X2[None]) / lengthscales
    np.testing.assert_allclose(kernels[0], variance * np.exp(-distance.sum(-1)), atol=1e-12)
    gpflow_kernel = to_gpflow("EXP[2] * SE[1] + LIN[1]", 2, theta=theta[1, : len(bank.layouts[1])])
    np.testing.assert_allclose(kernels[1], gpflow_kernel(X1, X2), atol=1e-10)
    np.testing.assert_allclose(
        bank.diag(theta, X1), np.diagonal(bank(theta, X1), axis1=1, axis2=2), atol=1e-12
    )


def test_one_lengthscale_for_all_inputs__when_ard_is_off():
    expressions = ["SE * PER", "RQ + LIN"]
    bank, ard = Bank(expressions, 3, ard=False), Bank(expressions, 3)
    theta, X1, X2 = draw(bank)
    wide = np.zeros((2, ard.num_slots))
    for k in range(2):
        shared = list(bank.layouts[k].names)
        for slot, name in enumerate(ard.layouts[k].names):
            first = re.sub(r"\[\d\]$", "", name)
            wide[k, slot] = theta[k, shared.index(name if name in shared else first)]
    np.testing.assert_allclose(bank(theta, X1, X2), ard(wide, X1, X2), atol=1e-12)


def test_float32_and_lists__are_converted():
    bank = Bank(["SE"])
    assert bank(np.zeros((1, 3), np.float32), [[0], [1]]).dtype == gpflow.default_float()


def test_wrong_shapes__are_named():
    bank = Bank(["SE", "LIN"], num_inputs=2)
    with pytest.raises(ValueError, match=r"θ must be \[2, 4\] or \[2, S, 4\], got \(3, 4\)"):
        bank(np.zeros((3, 4)), np.zeros((5, 2)))
    with pytest.raises(ValueError, match=r"inputs must be \[N, 2\] .*, got \(5, 1\)"):
        bank(np.zeros((2, 4)), np.zeros((5, 1)))
    with pytest.raises(vbks.GrammarError, match="at least one expression"):
        Bank([])


def test_input_that_is_not_there__is_named():
    with pytest.raises(
        vbks.GrammarError, match=r"'SE\[3\]' uses input 3, but the number of inputs is 2"
    ):
        Bank(["SE[3]"], num_inputs=2)


def test_too_many_terms__are_refused():
    huge = " * ".join(["(SE + RQ)"] * 10)
    with pytest.raises(vbks.GrammarError, match="1024 terms, more than the 512"):
        Bank([huge])


def test_bank_first_split_in_a_graph__works_outside_it(monkeypatch):
    bank = Bank(K12)
    theta, X1, X2 = draw(bank)
    whole = bank(theta, X1, X2).numpy()
    monkeypatch.setattr(bank_module, "CHUNK_ELEMENTS", 5 * len(X1) * len(X2))
    for call in (tf.function(bank.__call__), bank, tf.function(lambda *a: bank(*a))):
        np.testing.assert_allclose(call(theta, X1, X2), whole, atol=1e-13)


def test_shapes_unknown_while_tracing__are_checked_when_run():
    bank = Bank(["SE", "RQ"])
    unknown = tf.TensorSpec([None, None], tf.float64)
    call = tf.function(lambda theta, X: bank(theta, X), input_signature=[unknown, unknown])
    theta, X, _ = draw(bank)
    np.testing.assert_allclose(call(theta, X), bank(theta, X), atol=1e-14)
    with pytest.raises(tf.errors.InvalidArgumentError):
        call(np.zeros((5, bank.num_slots)), X)
    with pytest.raises(tf.errors.InvalidArgumentError):
        call(theta, np.zeros((4, 3)))


@pytest.mark.parametrize("text", ["SE", "SE + PER0", "PER0"])
def test_gradient_of_inputs__is_none_unless_asked_for(text):
    bank = Bank([text])
    theta, X1, X2 = draw(bank)
    X1 = tf.constant(X1)
    with tf.GradientTape() as tape:
        tape.watch(X1)
        value = bank(theta, X1, X2)
    assert tape.gradient(value, X1) is None


def test_is_batchable__agrees_with_the_bank():
    lines = "LIN * LIN * LIN * LIN * LIN"
    assert is_batchable(lines)
    assert not is_batchable(lines, num_inputs=4)
    with pytest.raises(vbks.GrammarError, match="1024 terms"):
        Bank([lines], 4)


def test_values_that_are_not_finite__stay_with_their_candidate():
    bank = Bank(["SE * PER", "RQ + LIN", "PER0"])
    theta, X1, X2 = draw(bank)
    upstream = np.ones((3, len(X1), len(X2)))
    good = bank(theta, X1, X2).numpy()
    good_gradient = gradient(lambda t: bank(t, X1, X2), theta, upstream)
    for bad in (np.nan, np.inf, 800.0):
        broken = theta.copy()
        broken[1] = bad
        np.testing.assert_array_equal(bank(broken, X1, X2).numpy()[[0, 2]], good[[0, 2]])
        pulled = gradient(lambda t: bank(t, X1, X2), broken, upstream)
        np.testing.assert_allclose(pulled[[0, 2]], good_gradient[[0, 2]], atol=1e-12)


def test_threads__share_one_graph():
    bank = Bank(K12)
    theta, X1, X2 = draw(bank)
    whole = bank(theta, X1, X2).numpy()
    before = num_traces()
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: Bank(K12)(theta, X1, X2).numpy(), range(16)))
    for result in results:
        np.testing.assert_allclose(result, whole, atol=1e-13)
    assert num_traces() == before


def test_family_without_parameters__is_batched():
    def cosine(X1, X2):
        return tf.reduce_prod(tf.cos(X1 - X2), axis=-1)

    vbks.register_family("COS", cosine, (), stationary=True)
    bank = Bank(["COS", "COS * SE + LIN"])
    theta, X1, X2 = draw(bank)
    kernels = bank(theta, X1, X2).numpy()
    expected = np.exp(theta[0, 1]) * np.cos(X1 - X2.T)
    np.testing.assert_allclose(kernels[0], expected, atol=1e-12)


@pytest.mark.parametrize(("first", "num_inputs"), [("SE", 1), ("PER0", 2)])
def test_centred_waves__need_a_graph_once(first, num_inputs):
    """Along one input the usual graph serves, along several that of their formula."""
    Bank([first], num_inputs)(*draw(Bank([first], num_inputs)))
    before = num_traces()
    bank = Bank(["PER0 * SE + LIN", "CP[1](PER0, RQ)", "SE"], num_inputs)
    bank(*draw(bank))
    assert num_traces() == before


@pytest.mark.parametrize("differentiable_inputs", [False, True])
@pytest.mark.parametrize("log_lengthscale", [-3.0, 2.0, 4.0, 9.0])
def test_centred_wave__equals_its_formula_for_all_lengthscales(
    log_lengthscale, differentiable_inputs
):
    bank = Bank(["PER0 * SE + PER0"], differentiable_inputs=differentiable_inputs)
    theta, X1, X2 = draw(bank)
    theta[0, ["lengthscales" in name for name in bank.layouts[0].names]] = log_lengthscale
    kernel = to_gpflow("PER0 * SE + PER0", theta=theta[0])
    np.testing.assert_allclose(bank(theta, X1, X2)[0], kernel(X1, X2), atol=1e-9)
    np.testing.assert_allclose(bank.diag(theta, X1)[0], kernel(X1, full_cov=False), atol=1e-9)


def test_text_in_place_of_a_list__is_refused():
    with pytest.raises(vbks.GrammarError, match="takes a list of expressions"):
        Bank("SE + LIN")


@pytest.mark.parametrize("text", ["M32", "M52"])
def test_matern__is_gpflows_and_has_a_gradient_where_points_are_equal(text):
    bank = Bank([text], 2)
    X = np.random.default_rng(0).normal(size=(6, 2))
    X[3] = X[0]
    theta = np.array([[-2.0, 0.3, -3.0, 0.4]])
    kernel = to_gpflow(text, 2, theta=theta[0])
    np.testing.assert_allclose(bank(theta, X)[0], kernel(X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(bank.diag(theta, X)[0], kernel(X, full_cov=False))
    assert np.isfinite(gradient(lambda t: bank(t, X), theta, np.ones((1, 6, 6)))).all()


def test_matern_families__share_the_graphs_of_others():
    X = np.linspace(-1.0, 1.0, 5)[:, None]
    for _ in range(2):
        before = num_traces()
        for text in ("SE", "M32 + SE", "M52 * LIN"):
            bank = Bank([text])
            bank(np.zeros((1, bank.num_slots)), X)
    assert num_traces() == before

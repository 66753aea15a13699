import numpy as np
import pytest

import vbks
from vbks.grammar.space import K144
from vbks.kernels.layout import NOISE_SLOT, lay_out


def scales_and_weights(text, num_inputs=1):
    names = [slot.parameter.name for slot in lay_out(text, num_inputs).slots]
    return names.count("variance"), names.count("weights")


@pytest.mark.parametrize(
    ("text", "scales", "weights"),
    [
        ("SE", 1, 0),
        ("SE + PER", 2, 0),
        ("SE * PER * LIN", 1, 0),
        ("SE * PER + LIN", 2, 0),
        ("SE * (PER + LIN)", 2, 0),
        ("(SE + RQ) * (PER + LIN)", 2, 1),
        ("(SE + RQ) * (PER + LIN + C) * (SE + LIN)", 2, 3),
        ("CP[1](SE, LIN)", 2, 0),
        ("CP[1](SE, LIN) * PER", 2, 0),
        ("CP[1](SE, LIN) * CW[1](PER, C + RQ)", 2, 2),
        ("SE * CP[1](LIN * (SE + C), PER)", 3, 0),
    ],
)
def test_scales__are_those_that_data_can_determine(text, scales, weights):
    assert scales_and_weights(text) == (scales, weights)


def test_first_slot__is_the_noise_of_every_expression():
    for expression in K144:
        slot = lay_out(expression).slots[NOISE_SLOT]
        assert slot.parameter.name == "noise"


def test_white_noise__of_the_outermost_sum_is_that_slot():
    layout = lay_out("SE + WN")
    assert layout.root.operands[1].scale == NOISE_SLOT
    assert len(layout) == len(lay_out("SE"))
    assert lay_out("WN").root.scale == NOISE_SLOT


@pytest.mark.parametrize("text", ["WN * LIN", "LIN * WN", "(SE + WN) * LIN", "CP[1](WN, SE)"])
def test_white_noise__elsewhere_has_a_scale_of_its_own_with_the_prior_of_noise(text):
    layout = lay_out(text)
    own = [slot for slot in layout.slots[1:] if slot.parameter.name == "noise"]
    assert len(own) == 1


def test_leaf_on_all_inputs__has_a_number_for_each_of_them():
    layout = lay_out("SE * PER + LIN", num_inputs=3)
    names = [name.rpartition(".")[2].partition("[")[0] for name in layout.names]
    assert names.count("lengthscales") == 6
    assert names.count("period") == names.count("location") == 3
    shared = lay_out("SE * PER + LIN", num_inputs=3, ard=False)
    names = [name.rpartition(".")[2].partition("[")[0] for name in shared.names]
    assert names.count("lengthscales") == 2
    assert names.count("period") == 1
    assert names.count("location") == 3


def test_leaf_on_one_input__knows_which():
    layout = lay_out("SE[2] * PER[3]", num_inputs=3)
    dims = {slot.parameter.name: slot.dim for slot in layout.slots if slot.dim is not None}
    assert dims == {"lengthscales": 2, "period": 2}
    assert layout.slots[layout.root.operands[0].slots["lengthscales"][0]].dim == 1


def test_names__are_paths_in_the_gpflow_kernel():
    layout = lay_out("SE + RQ * LIN", num_inputs=2)
    assert layout.names == (
        ".noise",
        ".kernels[0].variance",
        ".kernels[0].lengthscales[0]",
        ".kernels[0].lengthscales[1]",
        ".kernels[1].kernels[0].variance",
        ".kernels[1].kernels[0].lengthscales[0]",
        ".kernels[1].kernels[0].lengthscales[1]",
        ".kernels[1].kernels[0].alpha",
        ".kernels[1].kernels[1].location[0]",
        ".kernels[1].kernels[1].location[1]",
    )


def test_priors__are_proper():
    for expression in (*K144, vbks.parse("CW[1](PER0 * C, WN + SE) * (LIN + C)")):
        layout = lay_out(expression)
        assert np.isfinite(layout.prior_mean).all()
        assert (layout.prior_sd > 0).all()


def test_wrong_inputs__are_named():
    with pytest.raises(
        vbks.GrammarError, match=r"'SE\[2\]' uses input 2, but the number of inputs is 1"
    ):
        lay_out("SE[2]")
    with pytest.raises(vbks.GrammarError, match="at least one input, got 0"):
        lay_out("SE", num_inputs=0)

from __future__ import annotations

from typing import Any

import gpflow
import numpy as np
import pytest
import tensorflow as tf

from vbks.errors import GraphError
from vbks.grammar.parser import parse
from vbks.kernels.bank.bank import Bank
from vbks.kernels.gpflow.bank import GPflowBank
from vbks.kernels.gpflow.reading import from_gpflow
from vbks.predict.graphs.kernels import KernelGraphs, graph_bank_of

X1 = np.random.default_rng(1).uniform(-2, 2, (4, 2))
X2 = np.random.default_rng(2).uniform(-2, 2, (3, 2))


pytestmark = pytest.mark.usefixtures("scoped_registries")


def opaque_expressions() -> list[Any]:
    """A kernel that no expression describes, alone, with others, and with noise inside."""
    name = from_gpflow(gpflow.kernels.ArcCosine()).expression
    kernel = gpflow.kernels.Polynomial() + gpflow.kernels.White(0.2)
    return [parse(f"{name} * SE[1] + PER[2]"), from_gpflow(kernel).expression, parse("SE * WN")]


def test_kernels__are_those_of_gpflow() -> None:
    expressions = opaque_expressions()
    bank, graphs = GPflowBank(expressions, 2), graph_bank_of(expressions, 2, ard=True)
    assert isinstance(graphs, KernelGraphs)
    theta = 0.3 * np.random.default_rng(0).normal(size=(3, bank.num_slots))
    for name, inputs in [("__call__", (X1, X2)), ("diag", (X1,)), ("noise", (X1,))]:
        found = tf.function(getattr(graphs, name))(theta, *inputs)
        np.testing.assert_allclose(found, getattr(bank, name)(theta, *inputs), rtol=1e-12)


def test_kernels_that_can_be_batched__are_those_of_a_bank() -> None:
    assert isinstance(graph_bank_of([parse("SE"), parse("PER + WN")], 2, ard=True), Bank)


class Eager(gpflow.kernels.Constant):
    """It asks for the numbers in its tensors, which those of a graph do not have."""

    def K(self, X: Any, X2: Any = None) -> Any:
        return self.variance * np.ones((len(X.numpy()), len(X2.numpy())))


def test_kernel_without_a_graph__is_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr("vbks.kernels.gpflow.opaque._is_scale", lambda *_: True)
    expression = from_gpflow(Eager()).expression
    graphs = KernelGraphs([expression], 2, ard=True)
    with pytest.raises(GraphError, match=r"'Eager' cannot be .* no graph can be made of its"):
        graphs(np.zeros((1, graphs.num_slots)), X1, X2)

"""Beliefs over fits that are made by hand: nothing is fitted here."""

from dataclasses import replace

import numpy as np
import pytest

from vbks.data.training import prepare
from vbks.data.warps import Identity, Log
from vbks.grammar.parser import parse
from vbks.inference.result import LocalFit, Mode
from vbks.kernels.layout import lay_out
from vbks.parts.axes import axes_of_data
from vbks.predict.mixture import KernelMixture
from vbks.properties.members import beliefs_of


def made_fit(text, data, values, spread=0.0, warp=None, samples=None):
    """A fit with values of parameters by the ends of their names, all others as their priors."""
    layout = lay_out(text, data.num_inputs)
    theta = layout.prior_mean.copy()
    for name, value in {"noise": np.log(0.01), **values}.items():
        slots = [n for n, own in enumerate(layout.names) if own.endswith(name)]
        assert slots, (name, layout.names)
        theta[slots] = value
    H = len(layout)
    mode = Mode(theta, spread * np.eye(H), 1.0, -30.0, 0.0, 0.0)
    posterior = "full" if spread else "point"
    fit = LocalFit(parse(text), data.num_inputs, data.num_rows, "exact", posterior, H, elbo=-30.0)
    return replace(fit, modes=(mode,), warp=warp or Identity(), jitter=1e-8, theta_samples=samples)


@pytest.fixture(scope="session")
def averaged():
    """The average of fits, each a text with values and a weight, with its rows and their axes."""

    def make(X, y, fits, names=None, target=None, time_inputs=(), spread=0.0, likelihood=None):
        own = prepare((X, y))
        data = {Identity(): own}
        if np.min(y) > 0.0:
            data[Log()] = own.warped(Log())
        made, weights = [], []
        for text, values, weight, *warp in fits:
            chosen = warp[0] if warp else Identity()
            made.append(made_fit(text, data[chosen], values, spread, chosen))
            weights.append(weight)
        used = {fit.warp: data[fit.warp] for fit in made}
        mixture = KernelMixture(made, weights, used, likelihood=likelihood, num_samples=16)
        rows = np.reshape(X, (len(y), -1))
        return mixture.average, rows, axes_of_data(rows, names, time_inputs, target)

    return make


@pytest.fixture(scope="session")
def believe(averaged):
    """Beliefs in such fits."""
    return lambda *args, **settings: beliefs_of(*averaged(*args, **settings))

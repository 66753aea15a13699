# %% [markdown]
# # An own kernel among the others
#
# A GPflow user has a kernel that no expression describes. It takes part in a selection like any
# other, and every candidate comes back as a GPflow model to work on with.

# %%
import gpflow
import numpy as np
import tensorflow as tf

import vbks


class Brownian(gpflow.kernels.Kernel):
    """Noise that adds up: variance · min(x, x'), counted from the beginning of the data."""

    def __init__(self, origin: float) -> None:
        super().__init__()
        self.origin = origin
        self.variance = gpflow.Parameter(1.0, transform=gpflow.utilities.positive())

    def K(self, X, X2=None):
        X2 = X if X2 is None else X2
        return self.variance * tf.minimum(X, tf.transpose(X2)) - self.variance * self.origin

    def K_diag(self, X):
        return self.variance * (X[:, 0] - self.origin)


# %% [markdown]
# vbks fits standardised data, so that the first of evenly spaced rows is near -1.73. Reading the
# kernel makes a family of it, which can be added, multiplied and searched.

# %%
own = vbks.from_gpflow(Brownian(origin=-1.8)).expression
print("the kernel is the leaf", own)

# %% [markdown]
# A random walk with a weekly period and some noise: which of these explains it?

# %%
rng = np.random.default_rng(0)
X = np.arange(100.0)
walk = np.cumsum(rng.normal(size=100))
y = 20 + walk + 3 * np.sin(2 * np.pi * X / 7) + rng.normal(0, 0.3, size=100)
periodic = vbks.parse("PER")
space = ["SE + PER", "RQ + PER", "LIN + PER", own, own + periodic, own * periodic]
selection = vbks.fit(X[:90], y[:90], space=space, warps=("identity",))
print(selection.belief[["expression", "probability", "log_evidence"]].to_string())

# %% [markdown]
# A candidate is an ordinary GPflow model, trained, in standardised units. Here ten more rows come
# in, and the model is trained on all of them by GPflow alone.

# %%
model = selection.model(own + periodic)
units = selection.units
rows = (units.standardise_inputs(X[:, None]), units.standardise_targets(y)[:, None])
longer = gpflow.models.GPR(rows, model.kernel, likelihood=model.likelihood)
before = float(longer.log_marginal_likelihood())
gpflow.optimizers.Scipy().minimize(
    longer.training_loss, longer.trainable_variables, options={"maxiter": 50}
)
print(f"log likelihood {before:.1f} before and {longer.log_marginal_likelihood():.1f} after")
mean, variance = longer.predict_f(units.standardise_inputs(np.array([[100.0], [101.0]])))
print(
    "the next two:", np.round(units.restore_moments(mean.numpy(), variance.numpy())[0].ravel(), 1)
)

# %% [markdown]
# The trained kernel can be read back, too.

# %%
print("read back:", vbks.from_gpflow(longer.kernel).expression)

# %% [markdown]
# What this page claims, checked. The kernel that the data came from is the best, its period is a
# week, and more training has not made it worse.

# %%
assert selection.best.expression == own + periodic
assert vbks.from_gpflow(longer.kernel).expression == own + periodic
period = longer.kernel.kernels[1].period.numpy() * units.x_scale[0]
assert abs(period - 7) < 0.1
assert float(longer.log_marginal_likelihood()) >= before

# %% [markdown]
# A walk has its last step as its best forecast, and the periodic part goes on. Without knowing
# either, the model comes near, and it says what k(x, X) (k(X, X) + noise)⁻¹ y does.

# %%
ahead = np.array([[100.0], [101.0]])
expected = 20 + walk[-1] + 3 * np.sin(2 * np.pi * ahead[:, 0] / 7)
assert np.all(np.abs(units.restore_targets(mean.numpy()[:, 0]) - expected) < 1.5)
covariance = longer.kernel(rows[0]) + longer.likelihood.variance * np.eye(len(X))
across = longer.kernel(units.standardise_inputs(ahead), rows[0])
assert np.allclose(mean, across @ np.linalg.solve(covariance, rows[1]), atol=1e-5)

# %% [markdown]
# # A belief over your own models
#
# You have GPflow models of one data set, with kernels, mean functions and training loops of your
# own. `vbks.average` asks each for its evidence and makes one model of them, whose predictions are
# averaged over the belief.

# %%
import gpflow
import numpy as np
from gpflow.models import GPR, SGPR, SVGP
from scipy.special import logsumexp

import vbks

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0.0, 10.0, (60, 1)), axis=0)
Y = 0.5 * X + np.sin(X) + 0.2 * rng.normal(size=X.shape)
Xnew = np.linspace(10.0, 14.0, 5)[:, np.newaxis]

k = gpflow.kernels
models = {
    "smooth": GPR((X, Y), k.SquaredExponential()),
    "line and smooth": GPR((X, Y), k.SquaredExponential(), mean_function=gpflow.functions.Linear()),
    "line and wave": SGPR((X, Y), k.Linear() + k.Periodic(k.SquaredExponential(), 6.0), X[::6]),
    "rough": SVGP(k.Matern12(), gpflow.likelihoods.Gaussian(0.1), X[::3], num_data=len(X)),
}
for name, model in models.items():
    loss = model.training_loss_closure((X, Y)) if name == "rough" else model.training_loss
    gpflow.optimizers.Scipy().minimize(loss, model.trainable_variables, options={"maxiter": 200})

# %% [markdown]
# An `SVGP` does not keep its data, so the rows are given. Evidences of trained parameters favour
# models with many of them; `correction="bic"` takes off what they cost.

# %%
average = vbks.average([*models.values()], data=(X, Y), names=[*models], correction="bic")
print(average.belief[["model", "probability", "log_evidence"]].round(3).to_string(index=False))

# %% [markdown]
# The average is a GPflow model. Where its members disagree, it is less sure than each of them.

# %%
mean, variance = average.predict_y(Xnew)
low, high = average.predict_quantiles(Xnew, (0.05, 0.95)).numpy().T
for x, m, a, b in zip(Xnew[:, 0], mean[:, 0], low, high, strict=True):
    print(f"x = {x:4.1f}: {m:5.2f}, from {a:5.2f} to {b:5.2f}")
layer = average.with_belief("vbks", prior_variance=0.5)
print("by the layer of the paper:", np.round(layer.probabilities, 3))
print("the best two alone:", np.round(average.top(2).probabilities, 3))

# %% [markdown]
# What this page claims, checked: densities are those of the mixture, and a model of the line and
# what varies around it is ahead of those that return to zero.

# %%
Ynew = 0.5 * Xnew + np.sin(Xnew)
terms = [np.asarray(model.predict_log_density((Xnew, Ynew))) for model in models.values()]
expected = logsumexp(terms, axis=0, b=average.probabilities[:, np.newaxis])
np.testing.assert_allclose(average.predict_log_density((Xnew, Ynew)), expected, rtol=1e-6)
assert average.belief["model"][0] in ("line and wave", "line and smooth")
assert set(np.flatnonzero(average.top(2).probabilities)) == set(
    np.argsort(-average.log_evidences)[:2]
)
assert np.all((low < mean.numpy()[:, 0]) & (mean.numpy()[:, 0] < high))

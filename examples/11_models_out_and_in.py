# %% [markdown]
# # Models out and in
#
# A candidate comes out of a selection as a GPflow model, at one θ or with the posterior of θ; you
# train it as you like, and it goes back in, where the belief is formed anew.

# %%
import gpflow
import numpy as np

import vbks
from vbks.predict import VariationalSVGP

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(0.0, 10.0, 80))
y = 100.0 + 10.0 * np.sin(x) + 2.0 * rng.normal(size=80)
Xnew = np.linspace(0.0, 11.0, 5)
selection = vbks.fit(
    x, y, space=["SE", "LIN", "PER"], warps=["identity"], posterior="laplace", progress=False
)
print(selection.belief[["expression", "probability", "log_evidence"]].round(2).to_string())

# %% [markdown]
# With `posterior=True`, an exact fit is a list of weights and models at samples of θ. Inputs go in
# standardised, and what comes out is told in your units.

# %%
models = selection.model("SE", posterior=True, num_samples=8)
units = selection.units
Z = units.standardise_inputs(Xnew[:, np.newaxis])
mean = sum(weight * model.predict_f(Z)[0].numpy()[:, 0] for weight, model in models)
print("averaged over", len(models), "models:", units.restore_targets(mean).round(1))

# %% [markdown]
# A stochastic fit is a `VariationalSVGP`, an SVGP with q(θ), whose summary has values at the mean
# of q(θ) and standard deviations.

# %%
sparse = vbks.fit(
    x, y, space=["SE"], warps=["identity"], inference="stochastic", posterior="laplace",
    num_inducing=15, progress=False,
)  # fmt: skip
svgp = sparse.model("SE", posterior=True)
gpflow.utilities.print_summary(svgp, fmt="simple")
print(svgp.summary().round(3))

# %% [markdown]
# A model that you have trained yourself, here in your own units, goes in as one more candidate or
# as another start of one that is there. `refit` goes on with a candidate from where it is.

# %%
rows = (x[:, np.newaxis], (y - y.mean())[:, np.newaxis])
own = gpflow.models.GPR(rows, gpflow.kernels.RationalQuadratic(), noise_variance=4.0)
gpflow.optimizers.Scipy().minimize(own.training_loss, own.trainable_variables)
larger = selection.with_model(own)
print(larger.belief[["expression", "probability", "log_evidence"]].round(2).to_string())
full = larger.refit("SE", posterior="full")
print("SE with the best Gaussian q(θ):", round(full.fit_of("SE").log_evidence(), 2))

# %% [markdown]
# What this page claims, checked.

# %%
assert len(models) > 1
assert isinstance(svgp, VariationalSVGP)
at_mean = svgp.at_mean().kernel.lengthscales.numpy()
np.testing.assert_allclose(svgp.kernel.lengthscales.numpy(), at_mean, rtol=1e-9)
alone = vbks.predict.KernelMixture([selection.fit_of("SE")], [1.0], selection.data, num_samples=8)
np.testing.assert_allclose(units.restore_targets(mean), alone.predict_f(Xnew)[0][:, 0], rtol=1e-6)
assert len(larger.fits) == len(selection.fits) + 1
assert abs(larger.probabilities.sum() - 1.0) < 1e-9
assert full.fit_of("SE").posterior == "full"
assert abs(full.fit_of("SE").log_evidence() - selection.fit_of("SE").log_evidence()) < 2.0

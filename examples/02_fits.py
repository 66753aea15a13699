# %% [markdown]
# # From kernels to fits
#
# Every candidate is fitted to the data at once, from several starts, and comes back with a bound of
# its log evidence and a posterior of its parameters. The data go in as they are.

# %%
import numpy as np

import vbks
from vbks.data import prepare
from vbks.datasets import airline
from vbks.inference import fit_candidates
from vbks.kernels import lay_out
from vbks.predict import gpflow_model

series = airline()
candidates = ("SE", "LIN + PER", "SE * PER + LIN", "SE * PER + RQ")
fits = fit_candidates(candidates, (series.X, series.y), restarts=3)
print(fits[0].notices[-1])
for fit in sorted(fits, key=lambda fit: -fit.elbo):
    print(f"{fit.expression!s:16} {fit.elbo:8.1f} ± {fit.standard_error:.1f}  {fit.status}")

# %% [markdown]
# A fit knows its parameters and how sure it is of them. Positive ones are kept as logarithms, in
# standardised units; the period of the best candidate is a year.

# %%
best = max(fits, key=lambda fit: fit.elbo)
data = prepare((series.X, series.y))
names = lay_out(best.expression).names
sd = np.linalg.norm(best.modes[0].factor, axis=1)
for name, mean, spread in zip(names, best.theta, sd, strict=True):
    print(f"{name:34} {mean:6.2f} ± {spread:.2f}")
period = np.exp(best.theta[[name.endswith("period") for name in names]])
print("period in years:", np.round(period * data.units.x_scale, 3))

# %% [markdown]
# And it is an ordinary GPflow model when you want one.

# %%
model = gpflow_model(best, data)
mean, variance = model.predict_f(data.units.standardise_inputs(series.X[-3:]))
print(type(model).__name__, np.round(data.units.restore_targets(mean.numpy().ravel())))
print("observed", series.y[-3:])

# %% [markdown]
# A kernel that cannot be fitted would come back as a fit with a reason, and bad data as a sentence.

# %%
try:
    fit_candidates(["SE"], (series.X, np.where(series.y > 600, np.nan, series.y)))
except vbks.DataError as error:
    print("DataError:", error)
    assert str(error).startswith("the target has 2 missing values, the first in row 139.")
else:
    raise AssertionError("missing values were not refused.")

# %% [markdown]
# What this page claims, checked. A kernel that repeats each year and drifts is far ahead. The
# evidence averages over parameters, and is lower than the likelihood of the best of them by a few
# nats for each.

# %%
log_likelihood = float(model.log_marginal_likelihood())
assert [str(fit.expression) for fit in fits if fit.elbo > 0] == ["SE * PER + LIN", "SE * PER + RQ"]
assert str(best.expression) == "SE * PER + RQ"
assert log_likelihood - 10 * len(names) < best.elbo < log_likelihood
assert abs(period[0] * data.units.x_scale[0] - 1) < 0.02

# %% [markdown]
# The three months are k(x, X) (k(X, X) + noise)⁻¹ y, and as near to what was observed as the noise
# says.

# %%
X, y = data.arrays()
noise = model.likelihood.variance.numpy()
weights = np.linalg.solve(model.kernel(X) + noise * np.eye(len(X)), y)
assert np.allclose(mean[:, 0], model.kernel(X[-3:], X).numpy() @ weights, atol=1e-5)
assert np.all(np.abs(mean[:, 0] - y[-3:]) < 3 * np.sqrt(noise))

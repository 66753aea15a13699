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
from vbks.models import gpflow_model

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

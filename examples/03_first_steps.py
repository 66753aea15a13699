# %% [markdown]
# # First steps
#
# A table of months and passengers, and no idea which kernel. `vbks.fit` tries many, says how much
# to believe in each, and forecasts with all of them. The budget here is a number of candidates, so
# that the answer is the same on every machine; `budget=30` would be one of thirty seconds.

# %%
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import vbks

table = pd.DataFrame(
    {
        "month": pd.date_range("1949-01-01", periods=144, freq="MS"),
        "passengers": vbks.datasets.airline().y,
    }
)
known, future = table[:-24], table[-24:]
selection = vbks.fit(known[["month"]], known["passengers"], budget=vbks.Budget(candidates=150))
print(selection)

# %% [markdown]
# The belief is a table, best first: kernels, the warp of the target that each was tried with, and
# their probabilities.

# %%
print(selection.belief[["expression", "warp", "probability", "log_evidence"]].head().to_string())
for notice in selection.notices:
    print("-", notice)

# %% [markdown]
# Predictions are averaged over the belief, in passengers, not in anything standardised. The last
# two years were not seen by the fit.

# %%
low, median, high = selection.predict_quantiles(future[["month"]]).T
truth = future["passengers"].to_numpy()
rmse = np.sqrt(np.mean((median - truth) ** 2))
last_year = np.tile(known["passengers"].to_numpy()[-12:], 2)
rmse_of_last_year = np.sqrt(np.mean((last_year - truth) ** 2))
num_inside = np.sum((low <= truth) & (truth <= high))
print(f"RMSE of the median: {rmse:.1f}, of the last known year repeated: {rmse_of_last_year:.1f}")
print(f"in their 90 % interval: {num_inside} of {len(truth)} months")

# %% [markdown]
# A picture of it, and the selection as files that can be read again without fitting.

# %%
folder = Path(tempfile.mkdtemp())
ax = selection.plot_prediction(Xnew=table[["month"]])
ax.plot(future["month"], truth, ".", color="black")
ax.figure.savefig(folder / "forecast.png")
selection.save(folder / "airline")
again = vbks.load(folder / "airline")
print(
    "the same after loading:", np.allclose(again.predict_quantiles(future[["month"]])[:, 1], median)
)
print("written:", *sorted(path.name for path in folder.iterdir()))

# %% [markdown]
# What this page claims, checked. The best kernel alone, as a GPflow model of days since 1970, says
# nothing that the average holds to be unlikely.

# %%
assert np.isclose(selection.belief["probability"].sum(), 1)
assert rmse < rmse_of_last_year
assert num_inside >= 0.7 * len(truth)
assert np.all((low < median) & (median < high))
assert np.allclose(again.predict_quantiles(future[["month"]])[:, 1], median)
days = future[["month"]].to_numpy().astype("datetime64[D]").astype(float)
best, _ = selection.model().predict_f(selection.units.standardise_inputs(days))
best_median = selection.units.restore_targets(best.numpy()[:, 0])
assert np.all((low < best_median) & (best_median < high))

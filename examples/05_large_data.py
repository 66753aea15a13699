# %% [markdown]
# # Many rows
#
# 20,000 rows in a file that is never read as a whole. Stochastic fits look at a minibatch at a
# time, so that a step costs the same for twenty thousand rows as for a million.

# %%
import tempfile
from pathlib import Path

import numpy as np

import vbks

N = 20_000
file = Path(tempfile.mkdtemp()) / "rows.npy"
rows = np.lib.format.open_memmap(file, mode="w+", dtype=np.float64, shape=(N, 2))
rng = np.random.default_rng(0)
rows[:, 0] = np.sort(rng.uniform(0, 60, N))
rows[:, 1] = 5 + 0.1 * rows[:, 0] + np.sin(np.pi * rows[:, 0]) + rng.normal(0, 0.5, N)
rows.flush()

# %% [markdown]
# A memory map goes in as it is, and so does a `tf.data.Dataset` of rows. Few inducing points and a
# small space keep this quick.

# %%
table = np.load(file, mmap_mode="r")
selection = vbks.fit(
    table[:, :1],
    table[:, 1],
    space=("LIN", "SE", "PER + LIN"),
    warps=("identity",),
    inference="stochastic",
    num_inducing=24,
    batch_size=256,
    restarts=2,
)
print(selection.belief[["expression", "probability", "log_evidence", "seconds"]].to_string())

# %% [markdown]
# Predictions need the inducing points alone. The wave goes on after the last row.

# %%
Xnew = np.array([[15.5], [45.5], [61.5]])
mean, variance = selection.predict_f(Xnew)
truth = 5 + 0.1 * Xnew[:, 0] + np.sin(np.pi * Xnew[:, 0])
for x, expected, sd, value in zip(Xnew[:, 0], mean, np.sqrt(variance), truth, strict=True):
    print(f"f({x}) = {expected:.2f} ± {sd:.2f}, in truth {value:.2f}")
print("as a GPflow model:", type(selection.model()).__name__)

# %% [markdown]
# The average and its own members say the same, and both are right.

# %%
model_mean, _ = selection.units.restore_moments(
    *(
        part.numpy()[:, 0]
        for part in selection.model().predict_f(selection.units.standardise_inputs(Xnew))
    )
)
assert np.all(np.abs(mean - truth) < 0.05)
assert np.all(np.abs(mean - model_mean) < 0.02)
assert np.all(variance < 0.03**2)

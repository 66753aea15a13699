# %% [markdown]
# # Several devices, several machines, and interruptions
#
# A fit uses all GPUs of its machine by itself. For several machines there is
# [Ray](https://docs.ray.io): on the first of them
#
#     ray start --head
#
# on each of the others
#
#     ray start --address=FIRST_MACHINE:6379
#
# and then, wherever you like, `python examples/06_cluster.py FIRST_MACHINE:6379`. vbks has to be
# installed on all of them (`pip install 'vbks[ray]'`). Without an address this runs here.

# %%
import sys
import tempfile
from pathlib import Path

import numpy as np

import vbks

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 60, 3000))
y = 5 + 0.1 * x + np.sin(np.pi * x) + rng.normal(0, 0.5, len(x))

# %% [markdown]
# The executor is the one line that differs between a laptop and a cluster. With GPUs it would be
# `vbks.execution.Ray(address, num_gpus=1)`; to choose among the devices of one machine,
# `vbks.execution.Devices(["/GPU:0", "/GPU:1"])`.

# %%
addresses = [argument for argument in sys.argv[1:] if ":" in argument]
executor = vbks.execution.Ray(addresses[0]) if addresses else vbks.execution.Devices()

# %% [markdown]
# With a checkpoint, all that was finished is kept. Stop this at any moment and start it again: it
# goes on from there. The same call with other rows or settings is refused.

# %%
folder = Path(tempfile.mkdtemp()) / "checkpoint"
settings = {
    "space": ("LIN", "SE", "PER + LIN"),
    "warps": ("identity",),
    "inference": "stochastic",
    "num_inducing": 24,
    "restarts": 2,
    "executor": executor,
    "checkpoint": folder,
}
selection = vbks.fit(x, y, **settings)
print(selection.belief[["expression", "probability", "log_evidence"]].to_string())

# %% [markdown]
# The second time nothing is left to do.

# %%
kept = len(list((folder / "work").glob("*.json")))
again = vbks.fit(x, y, **settings)
print("the same belief:", bool(np.allclose(again.probabilities, selection.probabilities)))
print("pieces of work that were kept:", kept)

# %% [markdown]
# Another call is refused by the name of what differs.

# %%
try:
    vbks.fit(x, y, **{**settings, "restarts": 3})
except vbks.errors.FileError as error:
    print("FileError:", error)
else:
    raise AssertionError("a checkpoint of other settings was used.")

# %% [markdown]
# What this page claims, checked: the kernel that the rows came from, its function and its noise.

# %%
assert np.array_equal(again.probabilities, selection.probabilities)
assert len(list((folder / "work").glob("*.json"))) == kept
assert str(selection.best.expression) == "PER + LIN"
assert selection.probabilities.max() > 0.99
Xnew = np.array([15.5, 45.5, 61.5])
mean, variance = selection.predict_f(Xnew)
truth = 5 + 0.1 * Xnew + np.sin(np.pi * Xnew)
assert np.all(np.abs(mean - truth) < 0.1)
noise = selection.model().likelihood.variance.numpy() * selection.units.y_scale**2
assert abs(np.sqrt(noise) - 0.5) < 0.05

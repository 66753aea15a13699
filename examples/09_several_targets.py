# %% [markdown]
# # Several targets
#
# A table of targets is fitted column by column. They have a belief each, or one that they share:
# then the log evidences of a kernel add up over them.

# %%
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import vbks

rng = np.random.default_rng(1)
day = np.linspace(0.0, 30.0, 25)
wave = np.sin(2 * np.pi * day / 7.0)
table = pd.DataFrame(
    {
        "day": day,
        "visits": 200.0 + 30.0 * wave + 15.0 * rng.normal(size=25),
        "sales": 9.0 + 1.5 * wave + 0.7 * rng.normal(size=25),
        "returns": 4.0 - 0.8 * wave + 0.4 * rng.normal(size=25),
    }
)
names = ["visits", "sales", "returns"]
settings = {
    "space": ["SE", "PER", "LIN", "SE + PER"], "warps": ["identity"], "restarts": 4,
    "progress": False,
}  # fmt: skip
separate = vbks.fit(table[["day"]], table[names], **settings)
for name, selection in separate.items():
    print(name, selection)

# %% [markdown]
# All of them have the same week in them, and none of them shows it well. Together they are surer
# of it than any of them alone.

# %%
shared = vbks.fit(table[["day"]], table[names], targets="shared", **settings)
print(shared.belief.round(3).to_string())
week = ["PER", "SE + PER"]
alone = [
    sum(own.probabilities[k] for k, fit in enumerate(own.fits) if str(fit.expression) in week)
    for own in separate.values()
]
together = shared.belief.set_index("expression").loc[week, "probability"].sum()
print("belief in a week, alone:", np.round(alone, 3), "together:", np.round(together, 4))

# %% [markdown]
# Predictions have a column for each target. Selections of single targets are there by name, and
# all of it can be saved.

# %%
later = pd.DataFrame({"day": [31.0, 33.0, 35.0]})
means, variances = shared.predict_y(later)
print(pd.DataFrame(means, columns=names).round(1).to_string())
folder = Path(tempfile.mkdtemp())
shared.save(folder / "shop")
again = vbks.load(folder / "shop")

# %% [markdown]
# More than two classes are targets, too: each against the others, with probabilities that are made
# to add up to one.

# %%
kinds = (day // 10.1).astype(int)
classes = vbks.fit(
    day, np.eye(3)[kinds], likelihood="bernoulli", space=["SE"], restarts=1, num_inducing=12,
    posterior="point", progress=False,
)  # fmt: skip
shares, _ = classes.predict_y(day)
shares /= shares.sum(axis=1, keepdims=True)
print("classes that are the likeliest:", shares.argmax(axis=1))

# %% [markdown]
# What this page claims, checked.

# %%
assert tuple(separate) == tuple(names)
assert together > max(alone)
assert together > 0.99
assert means.shape == variances.shape == (3, 3)
for place, name in enumerate(names):
    assert np.array_equal(shared[name].predict_y(later)[0], means[:, place])
assert again.shared
assert np.array_equal(again.predict_y(later)[0], means)
assert np.mean(shares.argmax(axis=1) == kinds) > 0.9

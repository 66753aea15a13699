# %% [markdown]
# # The VBKS paper, step by step
#
# `preset="paper"` does what Teng et al. (AAAI 2020) describe and nothing else: every kernel of a
# fixed space has its own q(u), not whitened, and is trained on minibatches; q(g) is formed from the
# local ELBOs. All kernels take their steps together, in one graph. The belief can be watched while
# that goes on, and new rows are learned without the old ones.

# %%
import tempfile
from pathlib import Path

import numpy as np

import vbks

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0.0, 12.0, 300))


def function(x):
    return np.sin(x) + 0.2 * x


y = function(x) + 0.2 * rng.normal(size=300)
space = ("SE", "LIN", "RQ", "SE + LIN", "SE * LIN")

# %% [markdown]
# A callback is given the belief every so many steps. It could write to TensorBoard, as
# `vbks.integrations.TensorBoard` does; here it ends training when nothing gains any more.

# %%
heights = []


def watch(record):
    heights.append(record.elbos.max())
    print(f"step {record.step:5}: {record.best} with {record.probabilities.max():.2f}")
    return len(heights) > 1 and heights[-1] - heights[-2] < 0.5


settings = vbks.PaperSettings(steps=2500, every=500, learning_rate=5e-3)
selection = vbks.fit(
    x, y, space=space, preset=settings, num_inducing=16, batch_size=64, callback=watch
)
print(selection.training_record)
print(selection.belief[["expression", "probability", "weight", "log_evidence"]].to_string())

# %% [markdown]
# The belief is flat by design: the authors divide local ELBOs by half the number of minibatches,
# and hold q(g) near its prior by a variance of 0.1, or 0.5 in the weights of averages. Both are
# settings, and a belief can be formed again without any training.

# %%
bayes = selection.with_belief("bayes", temperature=1.0)
print(f"by Bayes' rule: {bayes.best.expression} with {bayes.probabilities.max():.3f}")

# %% [markdown]
# Another hundred rows come in. What the first 300 have said is in q(u), so they are not needed.

# %%
x_new = rng.uniform(0.0, 12.0, 100)
y_new = function(x_new) + 0.2 * rng.normal(size=100)
updated = selection.update(x_new, y_new)
grid = np.linspace(0.5, 11.5, 200)
rmse, rmse_after = (
    np.sqrt(np.mean((own.predict_f(grid)[0] - function(grid)) ** 2)) for own in (selection, updated)
)
print(f"RMSE of the function: {rmse:.3f}, after the update {rmse_after:.3f}")

folder = Path(tempfile.mkdtemp())
selection.plot_trace().figure.savefig(folder / "belief.png")
selection.save(folder / "kept")
again = vbks.load(folder / "kept")

# %% [markdown]
# What this page claims, checked.

# %%
assert {fit.bound for fit in selection.fits} == {"stochastic"}
assert (
    selection.training_record.batch_size == 64 < len(x)
    and selection.training_record.num_inducing == 16
)
assert len(selection.belief_history) == len(heights) and heights[-1] > heights[0]
assert {str(own.best.expression) for own in (selection, bayes)} <= {"SE", "SE + LIN"}
assert selection.probabilities.max() < bayes.probabilities.max()
assert rmse < 0.2 and rmse_after < 0.2, (rmse, rmse_after)
assert updated.num_rows == 400
assert np.allclose(again.predict_f(grid), selection.predict_f(grid))

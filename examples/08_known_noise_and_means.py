# %% [markdown]
# # Known noise, and means
#
# Measurements often come with a standard error each, and what is measured often varies around
# something that is known. `noise_variance` has the first, `mean_function` the second, both in the
# units of the targets.

# %%
import gpflow
import numpy as np

import vbks

rng = np.random.default_rng(0)
hours = np.sort(rng.uniform(0.0, 24.0, 60))
truth = 15.0 + 0.4 * hours + 3.0 * np.sin(2 * np.pi * hours / 8.0)
error = rng.choice([0.2, 4.0], size=60)
temperature = truth + error * rng.normal(size=60)

settings = {"space": ["SE", "PER", "SE + PER"], "restarts": 4, "progress": False}
knowing = vbks.fit(hours, temperature, noise_variance=error**2, **settings)
guessing = vbks.fit(hours, temperature, warps=["identity"], **settings)

# %% [markdown]
# Half of the thermometers are bad. Who knows which gets closer to the truth, and the data are
# likelier that way. What known noise leaves unexplained is learned as further noise, the same for
# all rows; there is none here, and little is found.

# %%


def rmse(selection):
    mean, _ = selection.predict_f(hours)
    return np.sqrt(np.mean((mean - truth) ** 2))


evidences = [own.belief["log_evidence"][0] for own in (knowing, guessing)]
learned = np.sqrt(np.exp(knowing.best.theta[0])) * knowing.units.y_scale
print(f"error of the function: {rmse(knowing):.2f}, without knowing: {rmse(guessing):.2f}")
print(f"log evidence: {evidences[0]:.1f}, without knowing: {evidences[1]:.1f}")
print(f"standard deviation of further noise: {learned:.2f}")

# %% [markdown]
# New targets have the learned noise. Where it is known how noisy they are, that can be told, in all
# predictions of targets.

# %%
tomorrow = np.array([25.0, 26.0])
_, with_learned = knowing.predict_y(tomorrow)
_, with_bad = knowing.predict_y(tomorrow, noise_variance=[16.0, 16.0])
print("variances by learned noise:", with_learned.round(2), "and by a bad one:", with_bad.round(2))

# %% [markdown]
# The day gets warmer, along a line that is known from elsewhere, so that kernels have only the
# wave to explain. `mean_function="linear"` would fit the line by least squares first. GPflow's
# own parameters are fitted, too, unless they are not trainable, as here.

# %%
warming = gpflow.functions.Linear([[0.4]], [15.0])
gpflow.set_trainable(warming, False)
around = vbks.fit(hours, temperature, noise_variance=error**2, mean_function=warming, **settings)
late = np.array([48.0 + 2.0, 48.0 + 6.0])
expected = 15.0 + 0.4 * late + 3.0 * np.sin(2 * np.pi * late / 8.0)
forecasts = [own.predict_f(late)[0] for own in (around, knowing)]
print("best around the line:", around.best.expression)
print("a day later:", forecasts[0].round(1), "without the line:", forecasts[1].round(1))
print("truth:", expected.round(1))

# %% [markdown]
# The best kernel as a GPflow model has both: its likelihood the noise of the rows, its mean
# function the line. What this page claims, checked.

# %%
model, units = around.model(), around.units
mean, _ = model.predict_f(units.standardise_inputs(late[:, np.newaxis]))
print("GPflow model alone:", units.restore_targets(mean.numpy()[:, 0]).round(1))
assert rmse(knowing) < rmse(guessing)
assert evidences[0] > evidences[1] + 10.0
assert learned < 0.5
assert np.allclose(with_bad, with_learned + 16.0)
assert "PER" in str(around.best.expression)
assert np.all(np.abs(forecasts[0] - expected) < 1.5)
assert np.max(np.abs(forecasts[1] - expected)) > np.max(np.abs(forecasts[0] - expected))
line = model.mean_function(units.standardise_inputs(late[:, np.newaxis])) * units.y_scale
assert np.allclose(line[:, 0], 15.0 + 0.4 * late)
assert np.all(np.abs(units.restore_targets(mean.numpy()[:, 0]) - forecasts[0]) < 1.0)

# %% [markdown]
# # A Bayesian optimiser
#
# The averaged model is differentiable: gradients flow from its predictions to the inputs. That is
# what an optimiser needs that looks for the lowest point of a function of which each value is
# expensive. Here expected improvement is maximised by SciPy's L-BFGS-B.

# %%
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from scipy.optimize import minimize

import vbks

LOW, HIGH = -1.0, 2.0


def objective(x):
    """Two valleys; the lower one ends at -0.500, at -0.359."""
    return np.sin(3.0 * x) + x**2 - 0.7 * x


def expected_improvement(mixture, X, best):
    """E[max(best − f, 0)] at inputs [..., 1, 1], with the moments of the averaged model: [...]."""
    mean, variance = (values[..., 0, 0] for values in mixture.predict_f(X))
    sd = tf.sqrt(variance)
    normal = tfp.distributions.Normal(tf.zeros([], mean.dtype), tf.ones([], mean.dtype))
    z = (best - mean) / sd
    return sd * (z * normal.cdf(z) + normal.prob(z))


def next_input(selection, best, rng):
    """Where the expected improvement is highest: the best of many inputs, climbed from."""
    mixture = selection.mixture
    tries = rng.uniform(LOW, HIGH, (40, 1, 1))
    start = tries[np.argmax(expected_improvement(mixture, tries, best))]

    def loss(x):
        X = tf.constant(x.reshape(1, 1))
        with tf.GradientTape() as tape:
            tape.watch(X)
            value = -expected_improvement(mixture, X, best)
        return float(value), tape.gradient(value, X).numpy().ravel()

    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", bounds=[(LOW, HIGH)])
    return float(found.x[0])


# %% [markdown]
# Five values to begin with, and six more where the model expects to gain most. After each, fits go
# on from where they are, and the belief moves.

# %%
rng = np.random.default_rng(3)
x = np.linspace(LOW, HIGH, 5)
y = objective(x)
selection = vbks.fit(
    x, y, space=["SE", "RQ", "SE + LIN"], warps=["identity"], posterior="laplace", progress=False
)
for _ in range(6):
    new = next_input(selection, y.min(), rng)
    x, y = np.append(x, new), np.append(y, objective(new))
    print(f"tried {new:6.3f}: {y[-1]:6.3f}, the lowest so far is {y.min():6.3f}")
    selection = selection.update(x[-1:], y[-1:])

# %% [markdown]
# What this page claims, checked: the lowest point is found with eleven values in all, and gradients
# are those of finite differences, one by one and in batches.

# %%
grid = objective(np.linspace(LOW, HIGH, 10_001))
assert y.min() < grid.min() + 0.01, y.min()
points = tf.constant([[[0.3]], [[1.1]]], tf.float64)
with tf.GradientTape() as tape:
    tape.watch(points)
    mean, _ = selection.mixture.predict_f(points)
slopes = tape.gradient(mean, points).numpy().ravel()
ends = [selection.mixture.predict_f(points + step)[0].numpy().ravel() for step in (1e-5, -1e-5)]
np.testing.assert_allclose(slopes, (ends[0] - ends[1]) / 2e-5, rtol=1e-4, atol=1e-6)
print("slopes of the averaged model at 0.3 and 1.1:", slopes.round(3))

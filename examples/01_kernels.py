# %% [markdown]
# # Kernels as values
#
# A kernel in vbks is an expression: a value that is written, compared, taken apart and searched
# before any number is in it. This story goes from a text to GPflow, and from one kernel to 144.

# %%
import numpy as np
import tensorflow as tf

import vbks
from vbks.data import Units
from vbks.grammar import additive_form, canonical, children, num_leaves
from vbks.kernels import lay_out, num_free_parameters

kernel = vbks.parse("SE * (PER + LIN)")
print("expression:  ", kernel)
print("as a sum:    ", additive_form(kernel))
print("parameters:  ", num_free_parameters(kernel), "that data can determine, noise included")

# %% [markdown]
# Two expressions may describe the same kernels. The canonical form says so.

# %%
for text in ("SE * SE", "LIN + LIN", "WN * PER + WN"):
    print(f"{text:15} is {canonical(vbks.parse(text))}")

# %% [markdown]
# A search takes one step from a kernel to its neighbours: add a leaf, multiply by one, replace one.

# %%
neighbours = [str(child) for child in children(kernel)]
print(len(neighbours), "neighbours, such as", ", ".join(neighbours[:4]))

# %% [markdown]
# An expression becomes an ordinary GPflow kernel, with the parameters a GPflow user expects, and
# can be used in any GPflow model. `from_gpflow` reads a kernel back, whatever it has become.

# %%
gpflow_kernel = vbks.to_gpflow(kernel)
print(type(gpflow_kernel).__name__, "of", [type(k).__name__ for k in gpflow_kernel.kernels])
print("read back:   ", vbks.from_gpflow(gpflow_kernel).expression)

# %% [markdown]
# The bank evaluates many kernels together: here all 144 expressions of up to three leaves on the
# months of the airline series. Their parameters are the rows of one matrix, so a gradient is one
# call, too.

# %%
series = vbks.datasets.airline()
X = Units.of(series.X, series.y).standardise_inputs(series.X)
bank = vbks.Bank(vbks.K144)
theta = tf.Variable(np.zeros((len(bank), bank.num_slots)))
with tf.GradientTape() as tape:
    kernels = bank(theta, X)
    total = tf.reduce_sum(kernels)
gradient = tape.gradient(total, theta)
print("kernel matrices", kernels.shape, "and the gradient of their parameters", gradient.shape)

# %% [markdown]
# What this page claims, checked. The seven parameters are the noise, the scale of the product and
# the lengthscale of SE, lengthscale and period of PER, the zero of LIN, and the share that PER has
# of the sum.

# %%
assert num_free_parameters(kernel) == 7
assert str(additive_form(kernel)) == "LIN * SE + PER * SE"
assert canonical(vbks.parse("SE * SE")) == canonical(vbks.parse("SE"))
assert canonical(vbks.parse("LIN + LIN")) == canonical(vbks.parse("LIN + C"))
assert canonical(vbks.parse("WN * PER + WN")) == canonical(vbks.parse("WN"))
assert len({canonical(child) for child in (kernel, *children(kernel))}) == 1 + len(neighbours)

# %% [markdown]
# The GPflow kernel is the product of its parts, and was read back as what it was.

# %%
smooth, rest = gpflow_kernel.kernels
assert np.allclose(gpflow_kernel(X), smooth(X) * sum(part(X) for part in rest.kernels))
assert vbks.from_gpflow(gpflow_kernel).expression == kernel

# %% [markdown]
# The bank says what GPflow says of each kernel alone, and its gradient what a small step says.

# %%
assert len(vbks.K144) == 144
assert max(num_leaves(vbks.parse(text)) for text in vbks.K144) == 3
for text, matrix in zip(vbks.K144, kernels, strict=True):
    alone = vbks.to_gpflow(text, theta=np.zeros(len(lay_out(text))))
    assert np.allclose(matrix, alone(X), atol=1e-9), text
step = np.zeros(theta.shape)
step[:, 1] = 1e-6
change = (bank(theta + step, X) - bank(theta - step, X)) / 2e-6
assert np.allclose(gradient[:, 1], tf.reduce_sum(change, axis=(1, 2)), rtol=1e-4, atol=1e-4)

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
from vbks.grammar import additive_form, canonical, children
from vbks.kernels import num_free_parameters

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
print(len(children(kernel)), "neighbours, such as", *children(kernel)[:4], sep="  ")

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

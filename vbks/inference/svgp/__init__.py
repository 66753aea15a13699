"""Stochastic fits: Newton and natural-gradient steps on minibatches, and their last passes."""

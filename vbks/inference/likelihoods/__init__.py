"""Likelihoods: Gaussian noise in closed form, and those of GPflow."""

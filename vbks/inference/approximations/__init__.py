"""Gaussian posteriors of θ and evidences: Laplace, variational, importance sampling."""

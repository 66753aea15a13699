"""Stochastic fits: SVGP steps on minibatches, plain ascent, and what finalises them."""

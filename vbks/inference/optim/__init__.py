"""Optimisers: L-BFGS for many rows at once, of which only the better go on."""

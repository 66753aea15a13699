"""The bank: many kernels evaluated at once, from index arrays and by one graph."""

"""What fitted kernels are made of: their additive parts and the values that these have."""

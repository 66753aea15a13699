"""GPflow kernels: from expressions, into expressions, and as a bank."""

"""The sandwich of SKC: upper bounds of likelihoods, and what makes them cheap."""

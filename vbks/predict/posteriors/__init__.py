"""From fits to the posteriors of functions and targets, averaged over samples of θ."""

__all__: list[str] = []

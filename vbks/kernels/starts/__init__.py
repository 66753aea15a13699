"""Where fits start: what the data suggest, what a parent has found, and moved parts of a fit."""

"""Inference: what the data say about each candidate."""

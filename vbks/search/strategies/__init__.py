"""Strategies: each proposes candidates and reads their fits."""

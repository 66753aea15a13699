"""Cells of tables as people write them, read as numbers and dates."""

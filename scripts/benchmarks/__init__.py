"""The benchmarks of vbks: every module here is one, and `door` runs, records and draws them.

A benchmark is a module with a docstring and a function `run(context) -> list[Figure]`. It may bring
a function `draw(lines, path)` that makes its own picture from the recorded lines.
"""

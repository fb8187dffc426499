"""Measures of what Podium promises; `python -m benchmarks.<name>` prints one set."""

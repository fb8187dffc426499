"""Measures `podium evaluate` against its bounds, an older version and ComputeEval's own evaluator on a GPU.

docs/benchmarks.md explains the command and shows its figures. Nothing of ComputeEval is part of Podium: its problems
and its evaluator are read from a checkout, and everything made of them stays in the output folder.
"""

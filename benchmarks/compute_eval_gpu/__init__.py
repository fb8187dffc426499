"""Measures `podium evaluate` against ComputeEval's own evaluator on a GPU: the same problems, one machine, one command.

`python -m benchmarks.compute_eval_gpu --compute-eval CHECKOUT --out FOLDER`; docs/benchmarks.md says what it gave.
Nothing of ComputeEval is part of Podium: problems and evaluator are read from a checkout, and all that is made of
them stays in FOLDER.
"""

"""Reasons why a measurement cannot be taken, each in one sentence."""


class BenchmarkRefused(Exception):
    """Bad input, or a machine that lacks something: nothing was measured."""


class RunFailed(Exception):
    """An evaluator began and failed."""

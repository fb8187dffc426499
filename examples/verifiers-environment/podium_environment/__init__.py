"""A verifiers environment whose tasks and verdicts come from a release of Podium."""

from podium_environment.harness import PodiumHarness
from podium_environment.taskset import PodiumTaskset

__all__ = ["PodiumHarness", "PodiumTaskset"]

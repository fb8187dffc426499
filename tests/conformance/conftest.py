"""The folder and the small node that the tests of `podium evaluate` and of the agent have."""

from tests.agent.conftest import machine
from tests.evaluate.conftest import folder

__all__ = ["folder", "machine"]

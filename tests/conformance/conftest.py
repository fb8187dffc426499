"""The folder that slots' users can reach, as the tests of `podium evaluate` have it."""

from tests.evaluate.conftest import folder

__all__ = ["folder"]

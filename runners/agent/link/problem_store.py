"""Keeps problem records by digest, on disk and parsed in memory. A node fetches each once."""

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord, SolutionRules
from problems.spec.records import parse_record
from runners.agent.ground.atomic import discard, read_or_discard, write_atomically
from runners.agent.ground.locks import Once

logger = logging.getLogger(__name__)

REMEMBERED = 256


@dataclass(frozen=True)
class KnownProblem:
    """A problem with the rules for its solutions' files."""

    problem: ProblemRecord
    rules: SolutionRules


class ProblemStore:
    """Records under one folder, named by their sha256."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._known: Once[tuple[str, Profile], KnownProblem] = Once(REMEMBERED)

    def get(self, sha256: str, profile: Profile, fetch: Callable[[], bytes]) -> KnownProblem:
        """The problem. Calls `fetch` if it is not stored. Raises RecordError, and the exceptions of `fetch`."""
        return self._known.get((sha256, profile), lambda: self._read(sha256, profile, fetch))

    def _read(self, sha256: str, profile: Profile, fetch: Callable[[], bytes]) -> KnownProblem:
        path = self._folder / sha256
        line = read_or_discard(path)
        if line is not None and hashlib.sha256(line).hexdigest() != sha256:
            discard(path, "it does not have its digest")
            line = None
        if line is None:
            line = fetch()
            self._keep(path, line)
        problem = parse_record(line, profile)
        return KnownProblem(problem, problem.rules())

    def _keep(self, path: Path, line: bytes) -> None:
        try:
            write_atomically(path, line)
        except OSError as error:
            logger.warning("a problem is not kept: %s", error)

"""Problem records by digest, on disk and, read, in memory: a node fetches each once."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from problems.spec.problem import CommandProblem, parse_problem
from problems.spec.profile import Profile
from problems.spec.workspace_rules import WorkspaceRules
from runners.agent.keyed import Once

REMEMBERED = 256


@dataclass(frozen=True)
class KnownProblem:
    """A problem and the rules for its solutions' files."""

    problem: CommandProblem
    rules: WorkspaceRules


class ProblemStore:
    """Records under one folder, named by their sha256."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._known: Once[tuple[str, Profile], KnownProblem] = Once(REMEMBERED)

    def get(self, sha256: str, profile: Profile, fetch: Callable[[], bytes]) -> KnownProblem:
        """The problem; `fetch` is called where it is not here. Raises RecordError, and what `fetch` raises."""
        return self._known.get((sha256, profile), lambda: self._read(sha256, profile, fetch))

    def _read(self, sha256: str, profile: Profile, fetch: Callable[[], bytes]) -> KnownProblem:
        path = self._folder / sha256
        line = path.read_bytes() if path.exists() else b""
        if hashlib.sha256(line).hexdigest() != sha256:
            line = fetch()
            draft = path.with_name(f".{sha256}.{secrets.token_hex(4)}")
            draft.write_bytes(line)
            draft.replace(path)
        problem = parse_problem(line, profile)
        return KnownProblem(problem, WorkspaceRules.of(problem))

"""How long builds and runs of each kind take, kept on disk too: it says what had best begin first, and nothing more.

Several processes may share the file: it appears whole by a rename, and the last one to write wins. Whatever is not
quite right (damaged, too large, of another program) is as if it were not there.
"""

import hashlib
import json
import logging
import math
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from runners.protocol import Profiler, TimingPolicy

logger = logging.getLogger(__name__)

Kind: TypeAlias = "str | int | tuple[Kind, ...]"
Kinds: TypeAlias = tuple[Kind, ...]
"""What is known of some work beforehand, the most precise first; work that is equal in one of these takes alike."""

REMEMBERED_KINDS = 8192
MEAN_OVER = 32
"""After so many of a kind, older ones count less and less: compilers, caches and neighbours change."""
WRITE_SECONDS = 5.0
"""So long is the file left alone after it was written, but for the last time."""
MAX_FILE_BYTES = 1 << 20


@dataclass(frozen=True)
class Guess:
    """What some work is thought to take where none of its first `n_kinds` kinds has ended: the others tell less."""

    seconds: float
    n_kinds: int


def kind_of_test(problem_sha256: str) -> Kind:
    """A test of a solution to this problem, without its waits for a device."""
    return "test", problem_sha256


def kind_of_benchmark(problem_sha256: str, policy: TimingPolicy, profiler: Profiler) -> Kind:
    """All that is run to time one solution to this problem, without waits for a device and shared baselines."""
    return "benchmark", problem_sha256, policy.value, profiler.value


class Durations:
    """The mean seconds of each kind; of `size` kinds at most, those of which one ended last. For several threads."""

    def __init__(self, size: int = REMEMBERED_KINDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._guard = Lock()
        self._ended: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._path: Path | None = None
        self._writing = Lock()
        self._has_news = False
        self._written_at = -math.inf

    def keep_in(self, path: Path) -> None:
        """Recall what the file holds, if anything, and write it from now on. Its folder must be there."""
        known = _read(path)
        with self._guard:
            self._path = path
            self._ended = OrderedDict({**known, **self._ended})
            self._forget()

    def learn(self, kinds: Kinds, seconds: float) -> None:
        """`add`, and write the file where it is due."""
        self.add(kinds, seconds)
        self.write_when_due()

    def add(self, kinds: Kinds, seconds: float) -> None:
        """Some work of these kinds took so long."""
        with self._guard:
            for name in map(_name, kinds):
                n, mean = self._ended.pop(name, (0, 0.0))
                n = min(n + 1, MEAN_OVER)
                self._ended[name] = n, mean + (seconds - mean) / n
            self._has_news = True
            self._forget()

    def known(self, kind: Kind) -> float | None:
        """The mean of those that ended; None where none has."""
        n, mean = self._of(kind)
        return mean if n else None

    def of_runs(self, problem_sha256: str, policy: TimingPolicy, profiler: Profiler) -> float | None:
        """Seconds that testing and timing a solution to the problem took on average; None where none ran."""
        kinds = kind_of_test(problem_sha256), kind_of_benchmark(problem_sha256, policy, profiler)
        took = [seconds for kind in kinds if (seconds := self.known(kind)) is not None]
        return sum(took) if took else None

    def expected(self, kinds: Kinds, running: Mapping[Kind, Sequence[float]], guess: Guess | None = None) -> float:
        """Seconds that such work takes; infinite where none has started and nothing is guessed.

        `running` has the seconds for which each piece of work of a kind that runs has run so far. The most precise
        kind of which one has ended decides, but running ones raise what more precise kinds say too, and less precise
        kinds than the guess only raise it.
        """
        n_precise = guess.n_kinds if guess else len(kinds)
        estimates, decided = self._estimates(kinds[:n_precise], running)
        if guess and not decided:
            estimates += [guess.seconds, *self._estimates(kinds[n_precise:], running)[0]]
        return max(estimates, default=math.inf)

    def _estimates(self, kinds: Kinds, running: Mapping[Kind, Sequence[float]]) -> tuple[list[float], bool]:
        """Seconds by each kind down to the first of which one has ended, and whether there is one."""
        estimates = []
        for kind in kinds:
            n, mean = self._of(kind)
            so_far = running.get(kind, ())
            if n or so_far:
                # All seconds spent on the kind, as though one more ended now: many that run on tell of a long kind
                # before any has ended.
                estimates.append(max(mean, (n * mean + sum(so_far)) / (n + 1), *so_far))
            if n:
                return estimates, True
        return estimates, False

    def write_when_due(self) -> None:
        """Write the file where there is news and it was left alone for long enough. May be called often."""
        with self._guard:
            due = self._has_news and self._clock() - self._written_at >= WRITE_SECONDS
        if due:
            self.write()

    def write(self) -> None:
        """Write the file where there is news. Where the disk will not have it, it is learned again another time."""
        with self._writing:
            with self._guard:
                path, news = self._path, self._has_news
                ended = [(name, n, round(mean, 3)) for name, (n, mean) in self._ended.items()]
                self._has_news, self._written_at = False, self._clock()
            if path is None or not news:
                return
            try:
                _write(path, _Kept(format=1, ended=ended))
            except OSError as error:
                logger.warning("how long builds and runs take cannot be kept in %s: %s", path, error)

    def _of(self, kind: Kind) -> tuple[int, float]:
        with self._guard:
            return self._ended.get(_name(kind), (0, 0.0))

    def _forget(self) -> None:
        while len(self._ended) > self._size:
            self._ended.popitem(last=False)


class _Kept(BaseModel):
    """The file's content: how many of each kind ended and their mean seconds, by the kind's name, the latest last."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: Literal[1]
    ended: list[
        tuple[
            Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")],
            Annotated[int, Field(ge=1, le=MEAN_OVER)],
            Annotated[float, Field(ge=0, allow_inf_nan=False)],
        ]
    ]


@lru_cache(4096)
def _name(kind: Kind) -> str:
    """Short whatever the kind holds, and no more than that: two kinds of one name would only share a mean."""
    return hashlib.sha256(json.dumps(kind).encode()).hexdigest()[:16]


def _read(path: Path) -> dict[str, tuple[int, float]]:
    try:
        if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            return {}
        kept = _Kept.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:  # pydantic's are ones too
        logger.debug("%s is of no use: %s", path, error)
        return {}
    return {name: (n, mean) for name, n, mean in kept.ended}


def _write(path: Path, kept: _Kept) -> None:
    """Raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(kept.model_dump_json(), encoding="utf-8")
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise

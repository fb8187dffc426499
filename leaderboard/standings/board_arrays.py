"""The arrays of one board, and their packed form in the database, from which it is ranked over some of its problems."""

import io
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.models import Counted, ReleaseTrack
from problems.models import Release
from scoring.arrays import BoolArray, FloatArray, IntArray
from scoring.board_input import BY_BOTH, BY_PROBLEM, BoardInput
from scoring.rules import FIRST

_SETTINGS = ("release_digest", "primary", "ks", "draws", "rules", "shared_ln_sd")
_SHOWN, _FIGURES = "shown.", "figures."
"""Prefixes of the names of packed arrays."""
_QUICKLY = 1
"""zlib's level: three times as fast as its default."""

_Array = npt.NDArray[Any]


@dataclass(frozen=True)
class BoardArrays:
    """The arrays of one release and track, with the objects along their axes."""

    release: Release
    track_id: int
    counted: Sequence[Counted]
    problem_ids: Sequence[int]
    groups: Sequence[str]
    input: BoardInput
    shown: Mapping[str, IntArray]
    """Entrants × problems arrays of the counts that boards show and that no score uses, by field of Standing."""
    best_speedup: FloatArray
    """Entrants × problems: the largest speedup of a sample; NaN without one."""


@dataclass(frozen=True)
class PackedBoard:
    """The arrays of a ranked board in small types. About 30 MB with 1,000 entrants and 600 problems."""

    arrays: Mapping[str, _Array]
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, board: BoardArrays) -> "PackedBoard":
        given = {name: getattr(board.input, name) for name in (*BY_BOTH, *BY_PROBLEM, "rankable")}
        arrays = {name: _small(values) for name, values in given.items() if values is not None}
        arrays |= {_SHOWN + name: _small(values) for name, values in board.shown.items()}
        arrays |= {_FIGURES + name: values for name, values in board.input.figures.items()}
        arrays |= {
            "entrant_ids": np.array([one.entrant_id for one in board.counted], dtype=np.int64),
            "submission_ids": np.array([one.submission_id for one in board.counted], dtype=np.int64),
            "problem_ids": np.array(board.problem_ids, dtype=np.int64),
            "groups": np.array(board.groups, dtype=np.str_),
        }
        return cls(arrays, {name: getattr(board.input, name) for name in _SETTINGS})

    @property
    def submission_ids(self) -> list[int]:
        return [int(pk) for pk in self.arrays["submission_ids"]]

    @property
    def problem_ids(self) -> list[int]:
        return [int(pk) for pk in self.arrays["problem_ids"]]

    def over(
        self, place: ReleaseTrack, problems: BoolArray, voided: BoolArray, entrants: BoolArray | None = None
    ) -> BoardArrays:
        """The board of some problems and some entrants (None: all). `voided` is of all its problems."""
        rows = np.ones(len(self.submission_ids), dtype=np.bool_) if entrants is None else entrants

        def cut(name: str) -> _Array:
            return _wide(self.arrays[name][rows][:, problems])

        def cut_all(prefix: str) -> dict[str, _Array]:
            return {name.removeprefix(prefix): cut(name) for name in self.arrays if name.startswith(prefix)}

        fields: dict[str, Any] = {name: cut(name) for name in BY_BOTH if name in self.arrays}
        fields |= {name: self.arrays[name][problems] for name in BY_PROBLEM if name in self.arrays}
        fields |= {"voided": voided[problems], "figures": cut_all(_FIGURES)}
        settings = {"rules": FIRST.version, **self.settings, "ks": tuple(self.settings["ks"])}
        ids = zip(self.arrays["entrant_ids"][rows], self.arrays["submission_ids"][rows], strict=True)
        return BoardArrays(
            release=place.release,
            track_id=place.track_id,
            counted=[Counted(entrant_id=int(entrant), submission_id=int(submission)) for entrant, submission in ids],
            problem_ids=[int(pk) for pk in self.arrays["problem_ids"][problems]],
            groups=[str(name) for name in self.arrays["groups"][problems]],
            input=BoardInput(**fields, rankable=self.arrays["rankable"][rows], **settings),
            shown=cut_all(_SHOWN),
            best_speedup=np.full(fields["n"].shape, np.nan),
        )


def _wide(values: _Array) -> _Array:
    return values.astype(np.int64) if values.dtype.kind == "u" else values


def _small(values: _Array) -> _Array:
    """Counts in the smallest type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0)))) if values.dtype.kind == "i" else values


def pack(board: BoardArrays) -> bytes:
    """The arrays as numpy's own format, compressed."""
    packed = PackedBoard.of(board)
    target = io.BytesIO()
    settings = np.array(json.dumps(packed.settings))
    np.savez(target, settings=settings, **packed.arrays)  # type: ignore[arg-type]
    return zlib.compress(target.getvalue(), _QUICKLY)


def unpack(content: bytes) -> PackedBoard:
    with np.load(io.BytesIO(zlib.decompress(content)), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    return PackedBoard(arrays, json.loads(str(arrays.pop("settings"))))

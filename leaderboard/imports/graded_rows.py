"""Holds graded rows against a release and a track: which problem and sample each is of, and whether it belongs here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.errors import Refused
from leaderboard.models import ProblemTrack, Track
from leaderboard.results.measured import cuda_of
from problems.formats.graded_rows import GradedRow, NumberedRow
from problems.models import Problem, Release
from problems.spec.digests import grading_digest
from problems.spec.errors import RecordError
from problems.spec.profile import Profile
from runners.wire.protocol import NOT_THE_CONTESTANTS, Verdict

COMPUTE_EVAL_JUDGE = "compute-eval"
SHOWN = 3


@dataclass(frozen=True)
class Matched:
    """A row that belongs to the release, in the order in which samples are numbered."""

    number: int
    row: GradedRow
    is_skipped_here: bool
    """The track skips the problem, whatever the row says."""

    @property
    def is_ours(self) -> bool:
        """Whether `podium evaluate` wrote it, with provenance, witness and measurements."""
        return self.row.podium is not None

    @property
    def provenance(self) -> dict[str, Any]:
        found = (self.row.podium or {}).get("provenance")
        return found if isinstance(found, dict) else {}

    @property
    def judge_version(self) -> str:
        """The version of the rules that turned the run into its verdict."""
        return str(self.provenance.get("judge_version", ""))[:20] if self.is_ours else COMPUTE_EVAL_JUDGE


def match(release: Release, track: Track, rows: Sequence[NumberedRow]) -> list[Matched]:
    """Every row, a problem's samples in their order. Raises Refused, which names the lines that do not belong."""
    fits = _Fits(release, track)
    faults = [(one.number, words) for one in rows if (words := fits.why_not(one.row))]
    if faults:
        raise _refusal(faults)
    found = [Matched(one.number, one.row, one.row.task_id in fits.skips) for one in rows]
    if twice := _repeated(found):
        raise _refusal(twice)
    if len({one.judge_version for one in found}) > 1:
        raise Refused("mixed_judges", "The file mixes rows of several versions of the judge. Import them file by file.")
    found.sort(key=lambda one: -1 if one.row.index is None else one.row.index)  # stable: the order of lines otherwise
    _check_numbering(found)
    return found


def _refusal(faults: Sequence[tuple[int, str]]) -> Refused:
    shown = "; ".join(f"Line {number}: {words}" for number, words in faults[:SHOWN])
    more = f" {len(faults) - SHOWN} more lines are refused." if len(faults) > SHOWN else ""
    return Refused("rows_refused", f"{shown}.{more}", faults[0][0])


def _repeated(found: Sequence[Matched]) -> list[tuple[int, str]]:
    seen: dict[tuple[str, int], int] = {}
    faults = []
    for one in found:
        if one.row.index is None:
            continue
        first = seen.setdefault((one.row.task_id, one.row.index), one.number)
        if first != one.number:
            words = f"sample {one.row.index + 1} of {one.row.task_id} was on line {first} already"
            faults.append((one.number, words))
    return faults


def _check_numbering(found: Sequence[Matched]) -> None:
    """A sample that could not be graded is missing from the file: it must not come in as the contestant's failure."""
    following: dict[str, int] = {}
    for one in found:
        expected = following.get(one.row.task_id, 0)
        following[one.row.task_id] = expected + 1
        if one.row.index is not None and one.row.index != expected:
            raise Refused(
                "incomplete_file",
                f"{one.row.task_id} has a row of sample {one.row.index + 1} and none of sample {expected + 1}."
                " Grade what is missing: run the same `podium evaluate` command again.",
            )


class _Fits:
    """The release's problems and entrants that rows are compared with."""

    def __init__(self, release: Release, track: Track) -> None:
        self._track = track
        self._profile = Profile(release.profile)
        self._problems = {one.task_id: one for one in release.problems.select_related("release")}
        self._digests: dict[str, str] = {}
        self.skips: Mapping[str, str] = dict(
            ProblemTrack.objects.filter(track=track, problem__release=release)
            .exclude(skip_reason="")
            .values_list("problem__task_id", "skip_reason")
        )
        self._release = release

    def why_not(self, row: GradedRow) -> str:
        """Returns the reason why the row does not belong here, or ""."""
        problem = self._problems.get(row.task_id)
        if problem is None:
            return f"task_id `{row.task_id[:100]}` is not in release {self._release.slug}"
        return self._why_other_problem(row, problem) or self._why_other_machine(row) or self._why_no_verdict(row)

    def _why_other_problem(self, row: GradedRow, problem: Problem) -> str:
        """The record itself, or one that differs in words for people alone."""
        if row.record_md5 == problem.record_md5:
            return ""
        try:
            stated = row.stated_grading_digest(self._profile)
        except RecordError as error:
            return f"the row {error}"
        if stated == self._digest(problem):
            return ""
        return f"{row.task_id} was graded with another content of the problem than {self._release.slug} has"

    def _digest(self, problem: Problem) -> str:
        if problem.task_id not in self._digests:
            spec = problem.spec
            self._digests[problem.task_id] = grading_digest(spec, spec.withheld)
        return self._digests[problem.task_id]

    def _why_other_machine(self, row: GradedRow) -> str:
        """Only results of the track's own hardware and toolkit may stand on it; without provenance both are unknown."""
        provenance = (row.podium or {}).get("provenance") or {}
        track = self._track
        device = str(provenance.get("gpu" if track.device == "gpu" else "cpu_model") or "")
        if device and track.hardware_name and device != track.hardware_name:
            return f"measured on {device}, but track {track.slug} is {track.hardware_name}"
        cuda = cuda_of(str(provenance.get("toolkit", "")))
        if track.device == "gpu" and cuda and track.toolkit and cuda != track.toolkit:
            return f"built with CUDA {cuda}, but track {track.slug} has CUDA {track.toolkit}"
        return ""

    def _why_no_verdict(self, row: GradedRow) -> str:
        if row.verdict not in set(Verdict):
            return f"{row.verdict!r} is no verdict"
        if row.passed != (row.verdict == Verdict.PASSED) or row.skipped != (row.verdict == Verdict.SKIPPED):
            return f"`passed` and `skipped` contradict the verdict {row.verdict}"
        if row.verdict in NOT_THE_CONTESTANTS and row.task_id not in self.skips:
            return f"{row.task_id} was {row.verdict.replace('_', ' ')} there, but {self._track.slug} runs it: grade it"
        return ""

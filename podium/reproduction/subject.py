"""The problem and the sample that are judged again: whole, from a problem pack, or as far as the site shows them."""

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.evaluation.inputs import SampleToGrade, read_problems, skip_reason
from podium.generation.held_out import EMPTY_MAIN, named_in
from podium.remote.api_client import ApiClient, ApiRefused
from podium.reproduction.published import WITH_PACK, CannotReproduce, Published, solution_of
from problems.formats.compute_eval.packs import PackRecord
from problems.formats.submission import Catalogue, IncomingSample, read_samples
from problems.spec.command.command_record import PROBLEM_SCHEMA_VERSION
from problems.spec.command.problem import problem_from
from problems.spec.digests import grading_digest
from problems.spec.hardware import Hardware
from problems.spec.kinds import SITE_KINDS, Kind
from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord
from runners.agent.job.building import printed_by

_C_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".cu")
_COPIED = (
    "task_id", "type", "group", "build_command", "test_command", "benchmark_command", "timing_mode", "timeout_seconds",
    "min_cuda_toolkit", "compute_capability", "requires_datacenter_gpu", "source_references", "context_files",
)  # fmt: skip
"""Fields of a record that the API tells under the same names."""


@dataclass(frozen=True)
class ReproducedSample:
    """The sample as it runs on this machine."""

    sample: SampleToGrade
    held_out: Sequence[str] = ()
    """Files that are lacking. If there are any, the verdict cannot be reproduced."""
    stand_ins: Sequence[str] = ()
    """Lacking files that the build names; empty ones are in their places."""
    has_reference: bool = True

    @property
    def problem(self) -> ProblemRecord:
        return self.sample.problem

    @property
    def is_whole(self) -> bool:
        return not self.held_out


def subject_of(client: ApiClient, published: Published, problems: Path | None, hardware: Hardware) -> ReproducedSample:
    """Fetch and read both. Raises ApiRefused, PackRefused and CannotReproduce."""
    solution = solution_of(client, published)
    if problems is not None:
        record = _record_in(problems, published)
        return ReproducedSample(_sample(published, record, solution, hardware))
    facts = _facts(client, published)
    kind = Kind(facts["kind"])
    if kind is not Kind.COMMAND:
        raise CannotReproduce(_nothing_to_run(published, kind))
    return _visible(published, facts, solution, hardware)


def _facts(client: ApiClient, published: Published) -> Mapping[str, Any]:
    """The problem as the API shows it."""
    try:
        found: Mapping[str, Any] = client.get(
            f"releases/{published.told['release']}/problems/{published.told['problem']}"
        )
    except ApiRefused as refused:
        if refused.status not in (403, 404):
            raise
        raise CannotReproduce(
            f"The statement and the files of {published.task_id} are private. {refused} {WITH_PACK}"
        ) from refused
    return found


def _nothing_to_run(published: Published, kind: Kind) -> str:
    lacking = "its answer is" if kind in SITE_KINDS else "the class that makes its inputs and checks its answers is"
    return (
        f"Nothing of {published.task_id} can be run here: {lacking} held out. The verdict cannot be reproduced without"
        f" it. {WITH_PACK}"
    )


def _record_in(problems: Path, published: Published) -> PackRecord:
    """The pack's record of the problem. Raises CannotReproduce if its grading differs from what was published."""
    records = {one.problem.task_id: one for one in read_problems(problems, ()).records}
    record = records.get(published.task_id)
    if record is None:
        raise CannotReproduce(f"{problems} has no problem {published.task_id}. Name the pack of its release.")
    if record.problem.kind in SITE_KINDS:
        raise CannotReproduce(
            f"{published.task_id} is a question, which the site settles from the reply's text. `podium evaluate` does"
            " the same with its problem pack."
        )
    expected = published.recipe["grading_digest"]
    same = (
        record.md5 == published.recipe["record_md5"]
        or grading_digest(record.problem, record.problem.withheld) == expected
    )
    if not same:
        raise CannotReproduce(
            f"{problems} has another {published.task_id} than the one that was judged: its record's md5 is"
            f" {record.md5}, and the published one is {published.recipe['record_md5']}. Name the pack of the same"
            " revision."
        )
    return record


def _visible(published: Published, facts: Mapping[str, Any], solution: bytes, hardware: Hardware) -> ReproducedSample:
    """The problem without its held-out files and its reference. Raises CannotReproduce if nothing of it can run."""
    held_out = list(facts["held_out_paths"])
    build = facts["build_command"] or ""
    stand_ins = named_in(build, held_out)
    is_built = bool(build) and printed_by(build) is None
    if held_out and not is_built and not facts["visible_test_command"]:
        raise CannotReproduce(
            f"Nothing of {published.task_id} can be run here: nothing is built, and its tests are held out"
            f" ({', '.join(held_out)}). The verdict cannot be reproduced without them. {WITH_PACK}"
        )
    record = _visible_record(facts, stand_ins)
    return ReproducedSample(_sample(published, record, solution, hardware), held_out, stand_ins, has_reference=False)


def _visible_record(facts: Mapping[str, Any], stand_ins: Sequence[str]) -> PackRecord:
    placed = [{"path": path, "content": EMPTY_MAIN if path.endswith(_C_SOURCES) else ""} for path in stand_ins]
    command = facts["visible_test_command"]
    podium: dict[str, Any] = {"limits": facts["limits"]}
    if command:
        shown = [one["path"] for one in facts["visible_test_files"]]
        podium |= {"visible_tests": shown, "visible_test_command": command}
    data = {name: facts[name] for name in _COPIED} | {
        "schema_version": PROBLEM_SCHEMA_VERSION,
        "date": "",
        "prompt": facts["statement"],
        "metadata": {"podium": podium},
        "test_files": [*facts["visible_test_files"], *placed],
    }
    problem = problem_from(data, Profile.PODIUM)
    return PackRecord(problem.to_line(), problem)


def _sample(published: Published, record: PackRecord, solution: bytes, hardware: Hardware) -> SampleToGrade:
    """The sample of the pack. Raises CannotReproduce if the machine cannot run the problem."""
    if why := skip_reason(record, hardware):
        raise CannotReproduce(f"This machine cannot run {published.task_id}: it {why}.")
    incoming = _incoming(published, record, solution)
    return SampleToGrade("reproduced", incoming, record, "", "")


def _incoming(published: Published, record: PackRecord, solution: bytes) -> IncomingSample:
    problem, release = record.problem, published.recipe["problems_file"].removesuffix("-problems.tar.gz")
    catalogue = Catalogue(release, problem.profile, {problem.task_id: problem.group}, {problem.task_id: problem})
    (incoming,) = read_samples(io.BytesIO(solution), published.recipe["solutions_file"], catalogue).samples
    found, expected = hashlib.sha256(incoming.record).hexdigest(), published.recipe["solution_sha256"]
    if found != expected:
        raise CannotReproduce(f"The site sent another sample than the one that was judged: {found}, not {expected}.")
    return incoming

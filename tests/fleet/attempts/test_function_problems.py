"""Function problems in the fleet: a release that mixes kinds is imported, queued, verified and scored."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from leaderboard.actions.curation.verify import verify
from leaderboard.actions.intake.try_solution import try_solution
from leaderboard.curation.verification import missing_lines, verification_report
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Entrant, Evaluation, ProblemScore, ProblemTrack, Submission
from leaderboard.models.entrants.entrant import REFERENCE
from problems.actions.releases import import_release, publish
from problems.formats.compute_eval.packs import problem_pack_from, write_problem_pack
from problems.formats.submission import single_solution
from problems.models import Release
from problems.spec.digests import grading_digest
from problems.spec.input_sets import WRONG_SETS
from problems.spec.kinds import Kind
from problems.spec.mutants import ACCEPTED, ADMITS, DIFFERING, NONE
from runners.fleet.models import Job
from runners.wire.protocol import JUDGE_VERSIONS, Audience, CaseField, Report, Stage, StepReport, Verdict
from tests import factories, function_site, packs
from tests.fleet.site import WireNode, add_node
from tests.function_site import LARGE, SMALL
from tests.spec.functions import manifest_fields

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
ROOT = Path(__file__).parents[3]


@pytest.fixture
def draft() -> Release:
    """Offered on a track with a node, and not yet published."""
    made = function_site.mixed_release(publish=False)
    add_node("node-1", factories.offer(made), "node-secret")
    return made


@pytest.fixture
def track(draft: Release) -> Any:
    return draft.on_tracks.get().track


def submitted(entrant: Entrant, made: Release, track: Any) -> Evaluation:
    publish(made)
    return function_site.submission(entrant, made, track).evaluations.get(problem__kind=Kind.FUNCTION)


def test_a_pack_that_mixes_kinds_is_imported(draft: Release) -> None:
    function, command = draft.problems.order_by("position")
    assert (function.kind, function.type, command.kind) == ("function", "function", "command")
    assert [case.name for case in function.timed_cases] == [SMALL, LARGE]
    assert (function.has_baseline, function.has_benchmark, function.timed_work) == (True, True, "checked")


def test_a_release_goes_out_as_the_pack_that_it_came_from(draft: Release) -> None:
    lines = [bytes(problem.record) for problem in draft.problems.order_by("position")]
    again = problem_pack_from(draft.pack_metadata.encode(), b"".join(lines))
    assert again.digest == draft.digest
    assert import_release(again).created is False


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        ({"prompt": "Other words."}, True),
        ({"definition": {"path": "def.py", "content": "SECRET = 2\n"}}, False),
        ({"manifest": manifest_fields(output_init="zero")}, False),
        ({"time_limit_seconds": 30.0}, False),
        ({"languages": ["cpp"]}, False),
    ],
)
def test_a_result_depends_on_the_definition_and_the_manifest(changes: dict[str, Any], is_same: bool) -> None:
    digests = []
    for fields in ({}, changes):
        (record,) = packs.problem_pack([function_site.function(**fields)]).records
        digests.append(grading_digest(record.problem, record.problem.withheld))
    assert (digests[0] == digests[1]) == is_same


def test_a_node_gets_the_record_with_the_held_out_definition(draft: Release, track: Any, cast: Any) -> None:
    function = submitted(cast.entrant, draft, track)
    node = WireNode()
    works = {work["problem"]["kind"]: work for work in node.take_up_to(2)}
    work = works["function"]
    rules = work["rules"]
    assert (work["evaluation"], rules["stage"], rules["timing_policy"]) == (function.pk, "both", "quick")
    assert work["judge_version"] == JUDGE_VERSIONS[Kind.FUNCTION] == function.judge_version
    assert (rules["sides"], rules["withheld"], rules["limits"]["memory_bytes"]) == ("both", [], 2 << 30)
    record = node.blob(work, work["problem"]["record"]["sha256"]).content
    assert json.loads(record)["definition"]["content"] == function_site.HELD_OUT


def test_a_node_gets_the_sizes_of_a_trial(draft: Release, track: Any, cast: Any) -> None:
    publish(draft)
    tried = draft.problems.select_related("release").get(kind=Kind.FUNCTION)
    sample = single_solution(tried.task_id, {"solution.cpp": function_site.CPP}, catalogue_of(draft)).samples[0]
    try_solution(cast.owner, tried, track, sample, {"cols": 9})
    work = WireNode().take()
    assert (work["rules"]["purpose"], work["rules"]["sizes"]) == ("sample", {"cols": 9})


def test_a_track_that_splits_jobs_builds_a_function_first(draft: Release, track: Any, cast: Any) -> None:
    type(track).objects.filter(pk=track.pk).update(splits_jobs=True)
    track.refresh_from_db()
    function = submitted(cast.entrant, draft, track)
    assert set(Job.objects.values_list("stage", flat=True)) == {"build"}
    add_node("builder", track, "builder-secret", Stage.BUILD)
    node = WireNode(token="builder-secret", stage=Stage.BUILD)
    work = next(work for work in node.take_up_to(2) if work["evaluation"] == function.pk)
    assert work["problem"]["kind"] == "function"


def test_a_track_of_another_device_skips_a_function(draft: Release) -> None:
    gpu = factories.TrackFactory(slug="gpu-test", title="GPU", device="gpu")
    factories.track_actions.offer(None, draft, gpu)
    skip = ProblemTrack.objects.get(problem__kind=Kind.FUNCTION, track=gpu).skip_reason
    assert skip == "is a CPU problem and this is a GPU track"


def work_off(answers: dict[str, Report], track: str = "cpu-test") -> None:
    """Report each piece of work by words of its solution; a shell script passes or fails by its words, too."""
    node = WireNode(track=track)
    while (answer := node.claim()).status_code == 200:
        work = answer.json()
        text = b"".join(node.blob(work, work["solution"]["sha256"]).streaming_content).decode()
        report = next((report for words, report in answers.items() if words in text), None)
        assert report is not None, text
        assert node.report(work, report).status_code == 200


def failed(verdict: Verdict, **changes: Any) -> Report:
    return function_site.report(verdict=verdict, cases=[], measurements=[], **changes)


ANSWERS = {
    "_exit": failed(Verdict.TEST_FAILED),
    "reference words": function_site.report(),
    "solution words": function_site.wrong_report(),
    "cols) {}": function_site.wrong_report(),
    '"content":""': failed(Verdict.TEST_FAILED, steps=[StepReport(name="test", exit_code=1)]),
}


def test_a_function_is_verified_by_its_reference_and_by_solutions_that_must_fail(draft: Release, track: Any) -> None:
    made = verify(None, draft, track)
    assert len(made) == 4
    work_off(ANSWERS)
    report = verification_report(draft, track)
    assert report.passed, report.lines
    assert missing_lines(draft) == []


def documented_commands() -> list[list[str]]:
    """Those that docs/function-problems.md gives for the way from a pack to a release, without `manage.py`."""
    text = (ROOT / "docs" / "function-problems.md").read_text(encoding="utf-8")
    lines = text.partition("## From a pack to a release")[2].partition("\n## ")[0].splitlines()
    return [shlex.split(line, comments=True)[2:] for line in lines if line.startswith(".venv/bin/python manage.py")]


def test_the_documented_commands_lead_from_a_pack_to_a_published_release(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    track = factories.TrackFactory(slug="cpu-lab")
    add_node("node-1", track, "node-secret")
    made = packs.problem_pack([function_site.function()], "spring", timing_policy="quick")
    lines = [record.line for record in made.records]
    write_problem_pack(tmp_path / "spring-problems.tar.gz", made.metadata_bytes, lines)
    monkeypatch.chdir(tmp_path)
    imported, verified, published, measured = documented_commands()
    call_command(*imported)
    call_command(*verified)
    with pytest.raises(CommandError, match="not verified"):
        call_command(*published)
    work_off(ANSWERS, track.slug)
    call_command(*published)
    release = Release.objects.get(slug="spring")
    assert (release.state, release.is_public, release.on_tracks.get().track) == ("published", True, track)
    call_command(*measured)
    assert Submission.objects.filter(release=release, entrant__kind="baseline").count() == 1


def test_the_solution_that_does_nothing_has_the_declared_signature(draft: Release, track: Any) -> None:
    verify(None, draft, track)
    problem = draft.problems.get(kind=Kind.FUNCTION)
    empty = problem.spec.empty
    assert empty is not None
    assert problem.spec.rules().why_bad(empty.files) == ""
    assert f"void solution({function_site.SIGNATURE}) {{}}" in empty.files[0].content


@pytest.mark.parametrize(
    ("words", "answer", "missing"),
    [
        ("cols) {}", function_site.report(), "its empty solution is passed, expected anything but passed"),
        ("cols) {}", failed(Verdict.BUILD_FAILED), "its empty solution is build_failed, so it never ran"),
        ("_exit", function_site.report(), "its solution that ends at once is passed"),
        ("_exit", failed(Verdict.INVALID), "its solution that ends at once is invalid, so it never ran"),
        ("solution words", failed(Verdict.TIMED_OUT), "known-bad solution copies is timed_out, expected wrong_answer"),
        ("reference words", function_site.wrong_report(), "its reference is wrong_answer, expected passed"),
    ],
)
def test_a_check_of_a_function_that_ends_otherwise_is_named(
    draft: Release, track: Any, words: str, answer: Report, missing: str
) -> None:
    verify(None, draft, track)
    work_off(ANSWERS | {words: answer})
    (line, *_) = missing_lines(draft)
    assert line.startswith("problem row-softmax: ")
    assert missing in line


def verified_with(fields: list[CaseField]) -> Report:
    """A pass of the reference whose large case has further fields."""
    passed = function_site.report()
    small, large = passed.cases
    return passed.model_copy(update={"cases": [small, large.model_copy(update={"fields": [*large.fields, *fields]})]})


def told(name: str, value: str) -> CaseField:
    return CaseField(name=name, value=value, audience=Audience.ORGANISER)


def test_only_the_reference_of_a_verification_is_asked_for_wrong_answers(draft: Release, track: Any, cast: Any) -> None:
    verify(None, draft, track)
    node, verifying = WireNode(), {}
    while (answer := node.claim()).status_code == 200:
        work = answer.json()
        text = b"".join(node.blob(work, work["solution"]["sha256"]).streaming_content).decode()
        verifying[work["evaluation"]] = work["rules"]["purpose"] == "verify"
        assert node.report(work, next(report for words, report in ANSWERS.items() if words in text)).status_code == 200
    chosen = Evaluation.objects.filter(pk__in=[pk for pk, verifies in verifying.items() if verifies])
    assert set(chosen.values_list("submission__entrant__slug", flat=True)) == {REFERENCE}
    function = submitted(cast.entrant, draft, track)
    works = {work["evaluation"]: work["rules"]["purpose"] == "verify" for work in node.take_up_to(2)}
    assert works[function.pk] is False


def test_a_problem_whose_check_accepts_a_wrong_answer_is_not_verified(draft: Release, track: Any) -> None:
    verify(None, draft, track)
    work_off(ANSWERS | {"reference words": verified_with([told(ACCEPTED, "`y` filled with 0")])})
    report = verification_report(draft, track)
    assert not report.passed
    (line,) = missing_lines(draft)
    assert f"its case {LARGE} cannot rank, because its check accepts wrong answers (`y` filled with 0)" in line
    assert "tighten its `accuracy`" in line
    assert any(line.split(": ", 1)[1].removesuffix(f" on {track.slug}") in one for one in report.lines)


def test_a_problem_whose_check_rules_otherwise_on_the_cpu_is_not_verified(draft: Release, track: Any) -> None:
    verify(None, draft, track)
    work_off(ANSWERS | {"reference words": verified_with([told(ACCEPTED, NONE), told(DIFFERING, "results in fp16")])})
    assert not verification_report(draft, track).passed
    (line,) = missing_lines(draft)
    assert f"its case {LARGE} cannot rank" in line
    assert "otherwise on the GPU than on the CPU (results in fp16): write `verify`" in line


def test_a_problem_with_a_wrong_number_of_input_sets_is_not_verified(draft: Release, track: Any) -> None:
    verify(None, draft, track)
    why = "one call takes 0.4 ms, which is long enough: leave `input_sets` out"
    work_off(ANSWERS | {"reference words": verified_with([told(ACCEPTED, NONE), told(WRONG_SETS, why)])})
    assert not verification_report(draft, track).passed
    (line,) = missing_lines(draft)
    assert f"its case {LARGE} has a wrong number of input sets: {why}" in line


def test_a_case_that_does_not_rank_may_accept_a_wrong_answer(cast: Any) -> None:
    large = manifest_fields()["cases"][1] | {"ranks": False, "why_not": "the check accepts wrong answers: …"}
    fields = manifest_fields(cases=[manifest_fields()["cases"][0], large])
    pack = packs.problem_pack([function_site.function(manifest=fields)], "loose-1")
    made = import_release(pack).release
    offered = factories.offer(made)
    add_node("node-1", offered, "node-secret")
    verify(None, made, offered)
    work_off(ANSWERS | {"reference words": verified_with([told(ACCEPTED, "`y` filled with 0")])})
    assert missing_lines(made) == []


def test_a_precision_that_the_check_admits_is_a_note_to_the_organiser(draft: Release, track: Any) -> None:
    verify(None, draft, track)
    work_off(ANSWERS | {"reference words": verified_with([told(ACCEPTED, NONE), told(ADMITS, "bf16")])})
    report = verification_report(draft, track)
    assert report.passed
    assert [line.strip() for line in report.lines if "Note" in line] == [
        f"Note: row-softmax: case {LARGE} accepts results in bf16. If that is not meant, tighten its `accuracy`;"
        " otherwise declare `fastest_dtype`."
    ]


def test_cases_that_are_too_short_for_a_time_are_a_note_to_the_organiser(draft: Release, track: Any) -> None:
    verify(None, draft, track)
    work_off(ANSWERS | {"reference words": function_site.report({LARGE: 1.0}, {LARGE: 1.0})})
    notes = [line.strip() for line in verification_report(draft, track).lines if "Note" in line]
    assert notes == [f"Note: row-softmax: 1 of 2 cases are timed. Too short for a time: {SMALL}."]


def test_a_function_with_two_cases_has_one_speedup(draft: Release, track: Any, cast: Any) -> None:
    function = submitted(cast.entrant, draft, track)
    node = WireNode()
    for work in node.take_up_to(2):
        own = work["evaluation"] == function.pk
        assert node.report(work, function_site.report() if own else factories.report()).status_code == 200
    function.refresh_from_db()
    assert function.current_result.speedup == pytest.approx(8**0.5)
    score = ProblemScore.objects.get(problem__kind=Kind.FUNCTION)
    assert (score.n_passed, score.best_ms) == (1, pytest.approx(0.005**0.5))
    assert ProblemTrack.objects.get(problem__kind=Kind.FUNCTION).baseline_median_ms == pytest.approx(0.04**0.5)


def test_a_signature_that_is_wrong_makes_its_sample_of_a_pack_invalid(draft: Release, track: Any, cast: Any) -> None:
    publish(draft)
    lines = [function_site.solution(text=function_site.WRONG_SIGNATURE), packs.solution("Shell/0", "exit 0")]
    browser = Client()
    browser.force_login(cast.owner)
    file = SimpleUploadedFile("x-solutions.tar.gz", packs.solution_pack(lines, "mixed-1").getvalue())
    fields = {"release": draft.slug, "entrant": "alpha", "tracks": [track.slug], "counted": "on", "file": file}
    assert browser.post("/submissions/new/", fields).status_code == 302
    invalid = Submission.objects.get().samples.exclude(invalid_reason="").get()
    assert invalid.problem.task_id == "row-softmax"
    assert "`solution` takes 2 parameters; this problem's takes 4: const float* x" in invalid.invalid_reason
    assert Job.objects.count() == 1

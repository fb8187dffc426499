"""One sample on its way through the judge of command problems, step by step."""

from pathlib import Path
from typing import Any

import pytest

from problems.spec.command.problem import CommandProblem
from problems.spec.profile import Profile
from problems.spec.solution import PatchSolution
from runners.agent.ground.errors import Cancelled, UnusableProblem
from runners.agent.ground.events import BuildPrinted, CommandRan, Event, Progress, StageEntered
from runners.agent.job.job import why_invalid
from runners.agent.sandbox.watch import workspace_excess
from runners.wire.job import JobPurpose, Sides
from runners.wire.protocol import INLINE_LOG_BYTES, Stage, Verdict, Witness
from tests.agent.machine import Machine, job_of, shell_problem

VALIDATION = "[VALIDATION ERROR] Solution failed validation checks."
REFERENCES = "[VALIDATION ERROR] Solution does not include required source references."
GOOD = {"solution.sh": "exit 0"}


def test_a_solution_may_replace_a_context_file(machine: Machine) -> None:
    problem = shell_problem(context={"a.sh": "exit 1"}, tests={"test/t.sh": "sh a.sh"})
    assert machine.judge(problem, {"a.sh": "exit 0"}).report.verdict == Verdict.PASSED
    assert machine.judge(problem, {"b.sh": "exit 0"}).report.verdict == Verdict.TEST_FAILED


@pytest.mark.parametrize(
    "path",
    [
        "test/t.sh",
        "./test/t.sh",
        "test//t.sh",
        "test/./t.sh",
        "TEST/T.SH",
        "/abs",
        "../x",
        "",
        "a\0b",
        "a\\b",
        "\ud800",
    ],
)
def test_bad_paths_are_invalid_under_any_spelling(machine: Machine, path: str) -> None:
    finished = machine.judge(shell_problem(), {path: "exit 0", "solution.sh": "exit 0"})
    assert finished.report.verdict == Verdict.INVALID
    assert finished.texts.build == VALIDATION
    assert finished.texts.test is None
    assert finished.report.steps == []
    assert finished.report.reason


def test_a_file_where_another_needs_a_folder_is_invalid(machine: Machine) -> None:
    assert machine.judge(shell_problem(), {"a": "", "a/b": ""}).report.verdict == Verdict.INVALID


def test_no_files_are_invalid(machine: Machine) -> None:
    finished = machine.judge(shell_problem(), {})
    assert (finished.report.verdict, finished.texts.build) == (Verdict.INVALID, VALIDATION)


def test_a_solution_for_another_task_and_a_patch_are_invalid() -> None:
    problem = shell_problem()
    assert "another" in why_invalid(problem, task_solution("another"))
    assert "patch" in why_invalid(problem, PatchSolution(task_id="t", patch=""))


def task_solution(task_id: str) -> PatchSolution:
    return PatchSolution(task_id=task_id, patch="")


def test_a_skipped_problem_runs_nothing(machine: Machine) -> None:
    report = machine.judge(shell_problem(), GOOD, skip_reason="needs a GPU, here is none").report
    assert (report.verdict, report.steps) == (Verdict.SKIPPED, [])
    assert report.reason == "The problem needs a GPU, here is none."


def test_missing_source_references_end_the_way_before_the_build(machine: Machine) -> None:
    problem = shell_problem(source_references={"any": None, "all": ["needed"]})
    finished = machine.judge(problem, {"solution.py": "# needed\nother()\n"})
    assert finished.report.verdict == Verdict.SOURCE_REFERENCE_MISSING
    assert (finished.texts.build, finished.texts.test) == (None, REFERENCES)
    assert "needed" in finished.report.reason
    assert finished.report.steps == []


def test_a_failed_build_ends_the_way(machine: Machine) -> None:
    finished = machine.judge(shell_problem(build_command="echo words; exit 1"), GOOD)
    assert finished.report.verdict == Verdict.BUILD_FAILED
    assert (finished.texts.build, finished.texts.test) == ("words\n\n", None)


def test_without_a_build_command_nothing_is_built(machine: Machine) -> None:
    finished = machine.judge(shell_problem(build_command=None), GOOD)
    assert finished.report.verdict == Verdict.PASSED
    assert finished.texts.build is None
    assert [step.name for step in finished.report.steps] == ["test"]


@pytest.mark.parametrize(
    ("script", "words"), [("exit 3", "ended with exit status 3"), ("kill -SEGV $$", "exit status 139")]
)
def test_a_failed_test_ends_the_way_and_says_how(machine: Machine, script: str, words: str) -> None:
    report = machine.judge(shell_problem(), {"solution.sh": script}).report
    assert report.verdict == Verdict.TEST_FAILED
    assert words in report.reason


COUNTS = {"metadata": {"podium": {"counts": "{passed} of {total} fine"}}}


@pytest.mark.parametrize(
    ("script", "verdict", "words"),
    [
        ("echo 3 of 3 fine", Verdict.PASSED, ""),
        ("echo 0 of 0 fine", Verdict.TEST_FAILED, "The test counted no cases."),
        ("true", Verdict.TEST_FAILED, "The test printed no line `{passed} of {total} fine`."),
        ("echo 3 of 3 fine; exit 4", Verdict.TEST_FAILED, "The test ended with exit status 4."),
    ],
)
def test_a_pass_needs_the_counts_that_the_problem_asks_for(
    machine: Machine, script: str, verdict: Verdict, words: str
) -> None:
    finished = machine.judge(shell_problem(**COUNTS), {"solution.sh": script})
    assert (finished.report.verdict, finished.report.reason) == (verdict, words)
    assert finished.report.steps[-1].exit_code == (4 if "exit 4" in script else 0)


def test_a_trial_runs_other_tests_and_needs_no_counts(machine: Machine) -> None:
    visible = {"visible_tests": ["test/t.sh"], "visible_test_command": "sh solution.sh"}
    problem = shell_problem(metadata={"podium": COUNTS["metadata"]["podium"] | visible})
    assert machine.judge(problem, {"solution.sh": "exit 0"}, purpose=JobPurpose.TRIAL).report.verdict == Verdict.PASSED


def test_a_program_killed_by_a_signal_fails(machine: Machine) -> None:
    report = machine.judge(shell_problem(test_command="exec sh solution.sh"), {"solution.sh": "kill -SEGV $$"}).report
    assert report.verdict == Verdict.TEST_FAILED
    assert report.steps[-1].signal == 11


@pytest.mark.parametrize("status", [0, 3])
def test_the_text_of_a_step_is_both_streams_with_a_line_end_between(machine: Machine, status: int) -> None:
    finished = machine.judge(shell_problem(), {"solution.sh": f"echo out; echo err >&2; exit {status}"})
    assert finished.texts.test == "out\n\nerr\n"


def test_a_time_limit_is_told_with_its_seconds(machine: Machine) -> None:
    finished = machine.judge(shell_problem(timeout_seconds=1), {"solution.sh": "echo so far; sleep 30"})
    assert finished.report.verdict == Verdict.TIMED_OUT
    assert finished.texts.test == "[TIMEOUT EXPIRED after 1.0 seconds]"
    assert finished.report.steps[-1].log.text.startswith("so far")


@pytest.mark.parametrize("seconds", [None, 0])
def test_no_time_limit_means_a_minute_and_five_for_benchmarks(seconds: float | None) -> None:
    problem = shell_problem(timeout_seconds=seconds)
    assert problem.effective_build_timeout_seconds == problem.effective_test_timeout_seconds == 60
    assert problem.effective_benchmark_timeout_seconds == 300


def test_too_much_memory_is_its_own_verdict(machine: Machine) -> None:
    hungry = "python3 -c 'b = bytearray(3 << 30); print(len(b))'"
    report = machine.judge(shell_problem(timeout_seconds=20), {"solution.sh": hungry}).report
    assert report.verdict == Verdict.MEMORY_EXCEEDED
    assert "512 MiB" in report.reason


def test_the_test_finds_the_build_s_product_and_no_leftover_of_the_build(machine: Machine) -> None:
    problem = shell_problem(
        build_command="echo made > product; mv solution.sh moved.sh; (sleep 30 &) ",
        test_command="cat product moved.sh; test ! -e solution.sh",
    )
    assert machine.judge(problem, {"solution.sh": "mine"}).texts.test == "made\nmine\n"


def test_files_needed_only_to_build_are_withheld_from_the_test(machine: Machine) -> None:
    problem = shell_problem(tests={"secret": "answer", "t.sh": ""}, test_command="ls")
    assert machine.judge(problem, GOOD, withheld=["secret"]).texts.test == "solution.sh\nt.sh\n\n"


def test_a_build_job_hands_over_an_artefact_and_a_run_job_uses_it(machine: Machine) -> None:
    problem = shell_problem(build_command="echo made > product", test_command="cat product")
    built = machine.judge(problem, GOOD, stage=Stage.BUILD)
    assert built.report.verdict == Verdict.PASSED
    assert [step.name for step in built.report.steps] == ["build"]
    artefact = built.report.artefact
    assert artefact is not None
    product = built.blobs[artefact.blob.sha256]
    ran = machine.judge(problem, GOOD, stage=Stage.RUN, product=product, build_key=artefact.key)
    assert ran.report.verdict == Verdict.PASSED
    assert [step.name for step in ran.report.steps] == ["test"]
    assert ran.report.provenance.artefact_key == artefact.key


def test_verifying_tells_which_files_a_run_can_do_without(machine: Machine) -> None:
    compiled = shell_problem(build_command="echo 'exit 0' > run", tests={"source": "x"}, test_command="sh run")
    assert machine.judge(compiled, GOOD, withheld=None).report.withheld == ["source"]
    read = shell_problem(tests={"t.sh": "sh solution.sh"}, test_command="sh t.sh")
    assert machine.judge(read, GOOD, withheld=None).report.withheld == []


def test_long_logs_travel_as_blobs(machine: Machine) -> None:
    finished = machine.judge(shell_problem(), {"solution.sh": f"head -c {INLINE_LOG_BYTES + 1} /dev/zero | tr '\\0' x"})
    log = finished.report.steps[-1].log
    assert log.text == ""
    assert log.blob is not None
    assert finished.blobs[log.blob.sha256] == b"x" * (INLINE_LOG_BYTES + 1)


def test_output_that_is_not_text_is_kept_with_replacements(machine: Machine) -> None:
    finished = machine.judge(shell_problem(), {"solution.sh": r"printf 'a\377b\0c'"})
    assert finished.report.verdict == Verdict.PASSED
    assert finished.report.steps[-1].log.text == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"


def test_nothing_is_left_behind(machine: Machine) -> None:
    machine.judge(shell_problem(), {"solution.sh": "mkdir d; touch d/f; chmod 0 d"})
    assert machine.leftovers() == []


def test_a_cancelled_attempt_ends_at_once(machine: Machine) -> None:
    import threading

    progress = Progress()
    threading.Timer(0.3, progress.cancelled.set).start()
    with pytest.raises(Cancelled):
        machine.judges.judge(job_of(shell_problem(), {"solution.sh": "sleep 4"}), progress)
    assert machine.leftovers() == []


def test_progress_tells_of_the_stages_and_of_the_build_s_output_alone(machine: Machine) -> None:
    told: list[Event] = []
    problem = shell_problem(build_command="echo heard # live")
    machine.judges.judge(job_of(problem, {"solution.sh": "echo hidden"}), Progress(told.append))
    assert [one.stage for one in told if isinstance(one, StageEntered)] == ["building", "testing"]
    assert [one.chunk for one in told if isinstance(one, BuildPrinted)] == [b"heard\n"]
    assert [one.step for one in told if isinstance(one, CommandRan)] == ["build", "test"]


def test_a_kind_of_problem_that_nobody_here_judges_is_no_fault_of_the_contestant(machine: Machine) -> None:
    class OfAnotherKind(CommandProblem):
        kind = "riddle"

    problem = OfAnotherKind.model_validate(shell_problem().model_dump(), context={"profile": Profile.PODIUM})
    with pytest.raises(UnusableProblem, match="kind 'riddle'"):
        machine.judges.judge(job_of(problem, {"solution.sh": "true"}))


def test_results_tell_where_they_were_made(machine: Machine) -> None:
    provenance = machine.judge(shell_problem(), GOOD).report.provenance
    assert provenance.node == "node-1"
    assert provenance.sandbox == machine.environment.sandbox.name
    assert provenance.memory_limit_by
    assert provenance.started_at < provenance.finished_at
    assert len(provenance.artefact_key) == 64


def test_a_shell_script_alone_is_passed_but_unwitnessed(machine: Machine) -> None:
    report = machine.judge(shell_problem(), GOOD).report
    assert (report.verdict, report.witness) == (Verdict.PASSED, Witness.UNAVAILABLE)


def test_a_problem_of_a_strict_pack_is_a_command_problem_too() -> None:
    assert isinstance(shell_problem(), CommandProblem)


VISIBLE = {
    "tests": {"test/t.sh": "exit 1  # held out", "test/visible.sh": "sh solution.sh"},
    "podium": {"visible_tests": ["test/visible.sh"], "visible_test_command": "ls test; sh test/visible.sh"},
    "build_command": "cat solution.sh > built",
    "benchmark_command": "sh solution.sh",
}


def test_a_trial_builds_runs_the_visible_tests_alone_and_times_nothing(machine: Machine) -> None:
    problem, withheld = shell_problem(**VISIBLE), ["test/t.sh"]
    report = machine.judge(problem, {"solution.sh": "echo tried"}, purpose=JobPurpose.TRIAL, withheld=withheld).report
    assert (report.verdict, report.measurements) == (Verdict.PASSED, [])
    assert [step.name for step in report.steps] == ["build", "test"]
    assert report.steps[-1].log.text.split() == ["visible.sh", "tried"]


def test_a_solution_that_is_not_to_be_timed_is_tested_with_the_held_out_tests_alone(machine: Machine) -> None:
    problem = shell_problem(benchmark_command="sh solution.sh")
    report = machine.judge(problem, {"solution.sh": "exit 0"}, sides=Sides.NONE).report
    assert (report.verdict, report.measurements) == (Verdict.PASSED, [])
    assert [step.name for step in report.steps] == ["build", "test"]


def test_a_trial_whose_visible_test_fails_says_so(machine: Machine) -> None:
    report = machine.judge(shell_problem(**VISIBLE), {"solution.sh": "exit 3"}, purpose=JobPurpose.TRIAL).report
    assert (report.verdict, report.reason) == (Verdict.TEST_FAILED, "The test ended with exit status 3.")


def test_a_trial_of_a_problem_without_visible_tests_only_builds(machine: Machine) -> None:
    problem = shell_problem(build_command="cat solution.sh > built", test_command="exit 1")
    report = machine.judge(problem, {"solution.sh": "exit 1"}, purpose=JobPurpose.TRIAL).report
    assert (report.verdict, [step.name for step in report.steps]) == (Verdict.PASSED, ["build"])


@pytest.mark.parametrize(
    "changes", [{"timeout_seconds": 1e308}, {"metadata": {"podium": {"limits": {"memory_bytes": 10**30}}}}]
)
def test_a_problem_that_no_machine_can_run_is_skipped_with_its_reason_and_is_no_fault(
    machine: Machine, changes: dict[str, Any]
) -> None:
    problem = shell_problem(**changes)
    report = machine.judges.judge(job_of(problem, {"solution.sh": "true"})).report
    assert report.verdict is Verdict.SKIPPED
    assert "which no machine can keep" in report.reason
    assert not report.fault


def test_a_workspace_over_its_limit_is_the_reason(machine: Machine) -> None:
    grow = "for i in 1 2 3 4; do head -c 30000000 /dev/zero > f$i; done; sleep 20"
    found = machine.judge(shell_problem(), {"solution.sh": grow}).report
    assert found.verdict == Verdict.TEST_FAILED
    assert found.reason == "The test left more in its workspace than the 64 MiB allowed."


def test_too_many_files_are_the_reason_where_their_number_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runners.agent.sandbox.watch.MANY_FILES", 3)
    for name in "abcd":
        (tmp_path / name).touch()
    assert workspace_excess(tmp_path, 1 << 20) == "3 files"
    assert workspace_excess(tmp_path, 1 << 20, used_bytes=2 << 20) == "1 MiB"

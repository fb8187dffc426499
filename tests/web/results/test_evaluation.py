"""The author's view of a failed sample: the first failure, errors at their lines, and the way to run it again."""

import html
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from django.test import Client
from django.urls import reverse

from leaderboard.models import Evaluation, Submission
from leaderboard.settle.questions import settle_questions
from podium.cli import make_app
from problems.models import Release
from runners.wire.protocol import (
    Audience,
    CaseField,
    CaseReport,
    LogText,
    Report,
    StepReport,
    Verdict,
    Witness,
)
from tests import factories, question_site
from tests.api import calls
from tests.factories import Cast
from tests.markup import markup

TEST_LOG = """running tests
    sh solution.sh # held-out words that say error
FAIL: test_sums (tests.Sums)
check.cpp:12: main: Assertion `solution.sh # held-out words' failed.
AssertionError: expected 7, got 8 at index 3
"""
BUILD_LOG = """g++ -c solution.sh
solution.sh:1:5: error: 'x' was not declared in this scope
./solution.sh(1): error: identifier "y" is undefined
"""


def ending(verdict: Verdict, *steps: StepReport, reason: str = "The test ended with exit status 1.") -> Report:
    changes = {"reason": reason, "steps": list(steps), "witness": Witness.UNAVAILABLE}
    return factories.report(verdict).model_copy(update=changes)


def failing_test(_: Evaluation) -> Report:
    build, log = StepReport(name="build", exit_code=0), LogText(text=TEST_LOG)
    return ending(Verdict.TEST_FAILED, build, StepReport(name="test", exit_code=1, log=log))


def failing_build(_: Evaluation) -> Report:
    step = StepReport(name="build", exit_code=1, log=LogText(text=BUILD_LOG))
    return ending(Verdict.BUILD_FAILED, step, reason="The build ended with exit status 1.")


def wrong_answer(_: Evaluation) -> Report:
    said = {"message": "out differs", "n_wrong": 2, "n_total": 8, "first_wrong": "out[1] is 3, expected 4"}
    fields = [CaseField(name=name, value=value, audience=Audience.TEAM) for name, value in said.items()]
    cases = [
        CaseReport(name="small", verdict=Verdict.PASSED),
        CaseReport(name="large", verdict=Verdict.WRONG_ANSWER, fields=fields),
    ]
    return ending(Verdict.WRONG_ANSWER, reason="Case large: out differs").model_copy(update={"cases": cases})


def judged(cast: Cast, judge: Any, **changes: Any) -> Evaluation:
    made: Release = factories.release(1, **changes)
    if not made.is_public:
        made.invited.add(cast.owner)
    stored: Submission = factories.judged_submission(cast.entrant, made, factories.offer(made), judge, n_samples=1)
    return stored.evaluations.get()


def page(client: Client, user: Any, one: Evaluation) -> str:
    client.force_login(user)
    return markup(client.get(one.get_absolute_url()))


def first_failure(text: str) -> str:
    found = re.search(r'id="first-failure".*?</section>', text, re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found.group())) if found else ""


def test_the_author_reads_which_test_failed_first_and_what_it_said(client: Client, cast: Cast) -> None:
    one = judged(cast, failing_test)
    said = first_failure(page(client, cast.owner, one))
    assert "Test test_sums said:" in said
    answer = calls.get(f"evaluations/{one.pk}", cast.owner).json()["first_failure"]
    assert answer["where"] == "Test test_sums"
    assert answer["message"] == "check.cpp:12: main: Assertion `[held out]' failed."
    stranger = calls.get(f"evaluations/{one.pk}", cast.stranger).json()
    assert stranger["first_failure"] is None
    assert "First failure" not in page(client, cast.stranger, one)


def test_results_by_line_and_the_command_line_tell_it(cast: Cast) -> None:
    from podium.remote.tables import failures_table

    one = judged(cast, failing_test)
    told = b"".join(calls.get(f"submissions/{one.submission_id}/results.jsonl", cast.owner).streaming_content)
    rows = [json.loads(line) for line in told.splitlines()]
    assert rows[0]["first_failure"]["where"] == "Test test_sums"
    table = failures_table(rows)
    assert table is not None
    assert [next(iter(column.cells)) for column in table.columns][1:3] == ["1", "cpu-test"]
    told = b"".join(calls.get(f"submissions/{one.submission_id}/results.jsonl", cast.stranger).streaming_content)
    assert json.loads(told)["first_failure"] is None


def test_lines_of_held_out_files_are_passed_over() -> None:
    from leaderboard.results.first_failure import HELD_OUT, without_quotations

    held_out = "int main() { assert(sum(1, 2) == 3); }"
    assert without_quotations("Assertion `sum(1, 2) == 3' failed.", held_out) == f"Assertion `{HELD_OUT}' failed."
    assert without_quotations("error: 'main' is unknown", held_out) == "error: 'main' is unknown"


def test_no_line_of_a_test_file_reaches_the_author(client: Client, cast: Cast) -> None:
    def quoting(_: Evaluation) -> Report:
        log = LogText(text="sh solution.sh # held-out words\nerror: `solution.sh # held-out words' failed\n")
        return ending(Verdict.TEST_FAILED, StepReport(name="test", exit_code=1, log=log))

    one = judged(cast, quoting)
    assert "held-out words" not in page(client, cast.owner, one)
    assert (
        calls.get(f"evaluations/{one.pk}", cast.owner).json()["first_failure"]["message"]
        == "error: `[held out]' failed"
    )


def test_a_release_may_forbid_it(client: Client, cast: Cast) -> None:
    for judge, words in ((failing_test, "expected 7"), (wrong_answer, "out differs")):
        one = judged(cast, judge, name=f"closed-{judge.__name__}", shows_first_failure=False)
        shown = page(client, cast.owner, one)
        assert words not in shown
        assert "verdicts and build logs only" in shown
        answer = calls.get(f"evaluations/{one.pk}", cast.owner)
        assert answer.json()["first_failure"] is None
        assert words not in markup(answer)
        assert words in page(client, cast.organiser, one)


def test_a_problem_that_nobody_is_given_shows_no_line_of_its_test(client: Client, cast: Cast) -> None:
    one = judged(cast, failing_test, is_public=False, invited_may_read=False)
    assert "test_sums" not in page(client, cast.owner, one)
    assert calls.get(f"evaluations/{one.pk}", cast.owner).json()["first_failure"]["message"] == (
        "The test ended with exit status 1."
    )


def test_a_wrong_answer_names_its_case(client: Client, cast: Cast) -> None:
    one = judged(cast, wrong_answer)
    assert first_failure(page(client, cast.owner, one)).endswith("First failure Case large : out differs ")
    told = calls.get(f"evaluations/{one.pk}", cast.owner).json()["first_failure"]
    message = ["out differs", "2 of 8 elements are wrong.", "First: out[1] is 3, expected 4"]
    assert (told["where"], told["message"].splitlines()) == ("Case large", message)


def test_errors_of_a_build_link_to_the_line_of_the_shown_code(client: Client, cast: Cast) -> None:
    shown = page(client, cast.owner, judged(cast, failing_build))
    assert '<a href="#solution.sh-L1">solution.sh:1:5</a>: error:' in shown
    assert '<a href="#solution.sh-L1">./solution.sh(1)</a>: error:' in shown
    assert "The build ended with exit status 1. solution.sh, line 1 : error: &#x27;x&#x27; was not" in first_failure(
        shown
    )


def test_nothing_is_said_of_a_witness_that_a_failure_did_not_need(client: Client, cast: Cast) -> None:
    shown = page(client, cast.owner, judged(cast, failing_build))
    assert "unwitnessed" not in shown
    assert "<dt>Speedup</dt>" not in shown


def test_the_command_to_reproduce_is_one_that_podium_takes(
    client: Client, cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the verdict is the same is seen by hand: it needs a sandbox and the problems' tools."""
    one = judged(cast, lambda _: factories.report())
    told = calls.get(f"evaluations/{one.pk}", cast.stranger).json()["reproduce"]
    assert told["command"] in html.unescape(page(client, cast.owner, one))
    monkeypatch.chdir(tmp_path)
    made = client.get(reverse("evaluation_solution", args=[one.pk]))
    Path(told["solutions_file"]).write_bytes(made.content)
    Path(told["problems_file"]).touch()
    program: Any = typer.main.get_command(make_app())
    words = shlex.split(told["command"])
    parsed = program.commands[words[1]].make_context(words[1], words[2:], resilient_parsing=False)
    assert parsed.params["sandbox"] == "bubblewrap"
    assert told["reproduce"] in html.unescape(page(client, cast.owner, one))
    words = shlex.split(told["reproduce"])
    assert (
        program.commands[words[1]]
        .make_context(words[1], words[2:])
        .params["evaluation"]
        .endswith(one.get_absolute_url())
    )
    assert one.sample.solution_sha256 in told["digests"].values()


def test_digests_do_not_tell_the_answer_of_a_question(client: Client, cast: Cast) -> None:
    made = question_site.release()
    track = made.on_tracks.get().track
    stored = question_site.submitted(cast.entrant, made, track, question_site.reply("qa-1-warps", "Final: B"))
    settle_questions()
    one = stored.evaluations.get()
    assert list(calls.get(f"evaluations/{one.pk}").json()["reproduce"]["digests"].values()) == [made.digest]
    shown = page(client, cast.organiser, one)
    assert one.problem.record_md5 not in shown
    assert one.sample.solution_sha256 not in shown


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ('kernel.cu(17): error: identifier "n" is undefined', ("kernel.cu", 17)),
        ("/tmp/w1/src/kernel.cu:3:9: fatal error: x.h: No such file", ("src/kernel.cu", 3)),
        ("ptxas kernel.cu, line 8; error : Unknown symbol", ("kernel.cu", 8)),
        ("src/kernel.cu:4: undefined reference to `f()'", ("src/kernel.cu", 4)),
        (
            'Traceback (most recent call last):\n  File "/w/a.py", line 2, in <module>\n    f()\n'
            '  File "/usr/lib/x.py", line 9, in f\nValueError: no',
            ("a.py", 2),
        ),
    ],
)
def test_messages_of_each_tool_are_found(log: str, expected: tuple[str, int]) -> None:
    from leaderboard.web.results.compiler_messages import errors_in

    (found,) = errors_in(log, ["src/kernel.cu", "kernel.cu", "a.py"])
    assert (found.path, found.line) == expected


def test_a_log_cannot_write_html() -> None:
    from leaderboard.web.results.compiler_messages import linked

    shown = linked("<b>\na<i>.cu(3): error: <x>", ["a<i>.cu"])
    assert re.findall(r"<[^>]*>", shown) == ['<a href="#a&lt;i&gt;.cu-L3">', "</a>"]

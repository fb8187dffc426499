"""`--agentic`: the model sees what a trial printed and replies again, in a sandbox of this machine."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podium.generation import trials as trials_module
from podium.generation.endpoint import Endpoint, EndpointParameters
from podium.generation.errors import CannotGenerate
from podium.generation.manifest import Prices, Settings
from podium.generation.pipeline import DONE, INCOMPLETE, GenerationRun
from podium.generation.problems import of_pack
from podium.generation.prompts import Prompts
from problems.formats.compute_eval.packs import read_every_solution, read_solution_pack, write_problem_pack
from problems.spec.profile import Profile
from problems.spec.rollout import rollout_in
from runners.agent.ground.errors import SandboxFault, UnusableProblem
from runners.agent.judges.registry import Judges
from tests import packs
from tests.agent.functions.table import SCALE, SCALE_PYTHON
from tests.agent.functions.table import problem as function
from tests.agent.machine import sandbox_name, temporary_folder
from tests.generation.endpoint import Answer, FakeEndpoint, Script, serving
from tests.question_records import choice

SECRET = "held-out words"
CHECKED = {"build_command": "sh -n solution.sh && cp solution.sh built"}
"""The build finds errors of syntax."""
VISIBLE = {
    **CHECKED,
    "test_files": [
        {"path": "test/t.sh", "content": f"exit 9  # {SECRET}"},
        {"path": "test/visible.sh", "content": "sh solution.sh"},
    ],
    "podium": {"visible_tests": ["test/visible.sh"], "visible_test_command": "sh test/visible.sh"},
}
BROKEN, RIGHT = "if then", "exit 0"


@pytest.fixture(autouse=True)
def var(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with temporary_folder() as folder:
        monkeypatch.setenv("PODIUM_VAR_DIR", folder)
        yield


def sh(text: str) -> Answer:
    return Answer(f"```sh\n# file: solution.sh\n{text}\n```")


def turn_of(body: dict[str, Any]) -> int:
    return sum(one["role"] == "assistant" for one in body["messages"])


def saying(*answers: Answer) -> Script:
    """One answer for each turn; the last one again after that."""
    return lambda body, _before: answers[min(turn_of(body), len(answers) - 1)]


def pack_of(folder: Path, *problems: dict[str, Any]) -> Path:
    pack = packs.problem_pack(list(problems))
    path = folder / "test-1-problems.tar.gz"
    write_problem_pack(path, pack.metadata_bytes, pack.jsonl_bytes)
    return path


def run_of(folder: Path, url: str, turns: int = 3, *, debug: bool = False, **options: Any) -> GenerationRun:
    problems, prompts = of_pack(folder / "test-1-problems.tar.gz"), Prompts()
    settings = Settings(problems.release, url, EndpointParameters("m"), 1, prompts.digest, [], Prices(), turns)
    return GenerationRun(
        folder / "test-1-m-solutions.tar.gz", problems, settings, prompts, debug, sandbox_name(), **options
    )


def go(folder: Path, script: Script, *problems: dict[str, Any], **options: Any) -> FakeEndpoint:
    """A whole run in this process."""
    pack_of(folder, *problems)
    with serving(script) as fake:
        assert ran(folder, fake, **options) == DONE
    return fake


def ran(folder: Path, fake: FakeEndpoint, **options: Any) -> int:
    run = run_of(folder, fake.url, **options)
    return run.go(Endpoint(fake.url, "", run.settings.parameters, 5.0), 4, None)


def records(folder: Path) -> list[Any]:
    path = folder / "test-1-m-solutions.tar.gz"
    return read_every_solution(read_solution_pack(path, path.name, Profile.PODIUM))


def manifest(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "test-1-m-manifest.json").read_text())
    return data


def last_shown(fake: FakeEndpoint) -> str:
    return str(max(fake.bodies, key=turn_of)["messages"][-1]["content"])


def test_a_model_that_sees_its_build_fail_mends_it(tmp_path: Path) -> None:
    fake = go(tmp_path, saying(sh(BROKEN), sh(RIGHT)), packs.problem("a/1", **CHECKED))
    assert len(fake.bodies) == 2
    assert [one["role"] for one in fake.bodies[1]["messages"]] == ["system", "user", "assistant", "user"]
    assert "did not pass (build_failed). The build ended with exit status 2." in last_shown(fake)
    assert "solution.sh: 1: Syntax error" in last_shown(fake)
    assert "Replies left: 2." in last_shown(fake)
    assert records(tmp_path)[0].files[0].content == f"{RIGHT}\n"


def test_the_record_and_the_manifest_tell_of_all_turns(tmp_path: Path) -> None:
    go(tmp_path, saying(sh(BROKEN), sh(RIGHT)), packs.problem("a/1", **CHECKED), debug=True)
    extra = records(tmp_path)[0].model_extra
    assert [(one["verdict"], one["chosen"]) for one in extra["turns"]] == [("build_failed", False), ("passed", True)]
    assert extra["usage"] == {"prompt_tokens": 200, "completion_tokens": 20}
    shown = rollout_in(extra)
    assert [one.role for one in shown.prompt] == ["system", "user", "assistant", "user"]
    assert RIGHT in shown.reply[0].text
    said = manifest(tmp_path)
    assert said["agentic"] == {
        "most_turns": 3, "samples_by_turns": {"2": 1}, "ended": {"passed": 1}, "shown_characters": 6000,
    }  # fmt: skip
    assert (said["usage"]["requests"], said["usage"]["prompt_tokens"]) == (2, 200)


def test_the_visible_tests_are_run_and_shown_and_the_held_out_ones_are_not(tmp_path: Path) -> None:
    script = saying(sh("echo wrong answer; exit 3"), sh("find . | sort; exit 4"), sh(RIGHT))
    fake = go(tmp_path, script, packs.problem("a/1", **VISIBLE))
    shown = [body["messages"][-1]["content"] for body in sorted(fake.bodies, key=turn_of)]
    assert "(test_failed). The test ended with exit status 3." in shown[1]
    assert "wrong answer" in shown[1]
    assert "./test/visible.sh" in shown[2]
    assert "t.sh" not in shown[2].replace("test/visible.sh", "")
    assert SECRET not in repr(fake.bodies)


LISTS = "find . -type f; cat test/* 2>&1; cat ../*/test/* ../../*/*/test/* 2>&1; exit 1"
HARNESS = {"path": "test/harness.cpp", "content": f'#include "secret.h"\nint main() {{}}  // {SECRET}\n'}
HEADER = {"path": "test/secret.h", "content": f'#error "{SECRET}"\n'}


def test_a_build_can_neither_list_nor_read_a_held_out_file(tmp_path: Path) -> None:
    podium = {"build_only": []}
    secret = [{"path": "test/t.sh", "content": f"sh solution.sh  # {SECRET}"}]
    problem = packs.problem("a/1", build_command="sh solution.sh", test_files=secret, podium=podium)
    fake = go(tmp_path, saying(sh(LISTS)), problem)
    assert "./solution.sh" in last_shown(fake)
    assert "t.sh" not in last_shown(fake)
    assert SECRET not in repr(fake.bodies)
    assert SECRET not in (tmp_path / "test-1-m-replies" / "trials.jsonl").read_text()


@pytest.mark.parametrize(
    "text",
    [
        '#include "test/harness.cpp"\n#error own',
        '#include "test/secret.h"',
        'asm(".incbin \\"test/harness.cpp\\"");\n#error own',
    ],
)
def test_a_solution_cannot_include_a_held_out_file(tmp_path: Path, text: str) -> None:
    """The build command names the harness, so a stand-in is there; the header is not there at all."""
    answer = Answer(f"```cpp\n// file: solution.cpp\n{text}\n```")
    fake = go(tmp_path, saying(answer), compiled())
    assert "error" in last_shown(fake)
    assert SECRET not in repr(fake.bodies)


def compiled(**changes: Any) -> dict[str, Any]:
    """A problem whose held-out harness is compiled together with the solution."""
    fields = {
        "build_command": "g++ -o harness test/*.cpp solution.cpp",
        "test_files": [HARNESS, HEADER],
        "baseline_solution": packs.solution("a/1", "int answer() { return 42; }\n", "solution.cpp"),
    }
    return packs.problem("a/1", **(fields | changes))


def test_a_visible_test_is_compiled_beside_a_held_out_one(tmp_path: Path) -> None:
    seen = "int answer();\nint main() { return answer() == 42 ? 0 : 7; }\n"
    problem = compiled(
        build_command="g++ -o hidden test/harness.cpp solution.cpp && g++ -o seen test/seen.cpp solution.cpp",
        test_files=[HARNESS, HEADER, {"path": "test/seen.cpp", "content": seen}],
        podium={"visible_tests": ["test/seen.cpp"], "visible_test_command": "ls test; ./seen"},
    )
    replies = [Answer(f"```cpp\n// file: solution.cpp\nint answer() {{ return {n}; }}\n```") for n in (1, 42)]
    fake = go(tmp_path, saying(*replies), problem)
    assert "(test_failed). The test ended with exit status 7." in last_shown(fake)
    assert "```\nseen.cpp\n```" in last_shown(fake), "the stand-in is for the build alone"
    assert manifest(tmp_path)["agentic"]["ended"] == {"passed": 1}


def test_a_solution_that_compiles_ends_the_loop_without_the_harness(tmp_path: Path) -> None:
    fake = go(tmp_path, saying(Answer("```cpp\n// file: solution.cpp\nint answer() { return 1; }\n```")), compiled())
    assert len(fake.bodies) == 1
    assert manifest(tmp_path)["agentic"]["ended"] == {"passed": 1}


def test_a_problem_whose_own_reference_fails_a_trial_gets_one_reply(tmp_path: Path) -> None:
    """The reference uses what the held-out harness defines: no solution can be built without it."""
    baseline = packs.solution("a/1", "int helper();\nint answer = helper();\n", "solution.cpp")
    fake = go(tmp_path, saying(Answer("```cpp\n// file: solution.cpp\nx\n```")), compiled(baseline_solution=baseline))
    assert len(fake.bodies) == 1
    assert manifest(tmp_path)["agentic"]["ended"] == {"not_tried": 1}
    assert "own reference does not pass" in records(tmp_path)[0].model_extra["turns"][0]["reason"]


def test_after_the_last_turn_the_last_reply_that_holds_a_solution_is_the_sample(tmp_path: Path) -> None:
    script = saying(sh(BROKEN), sh(f"{BROKEN} again"), Answer("I give up."))
    fake = go(tmp_path, script, packs.problem("a/1", **CHECKED))
    assert len(fake.bodies) == 3
    made = records(tmp_path)[0]
    assert made.files[0].content == f"{BROKEN} again\n"
    assert "generation_problem" not in made.model_extra
    assert [one["chosen"] for one in made.model_extra["turns"]] == [False, True, False]
    assert "holds no file" in made.model_extra["turns"][2]["generation_problem"]
    assert manifest(tmp_path)["agentic"]["ended"] == {"last_turn": 1}


SPOILT = {
    "truncated": Answer("```sh\n# file: solution.sh\nexit", finish_reason="length"),
    "empty": Answer(""),
    "null": Answer(None),
    "prose": Answer("I would write a loop."),
    "surrogate": Answer("half a pair: \ud800"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_reply_is_told_to_the_model_and_asked_again(tmp_path: Path, name: str) -> None:
    fake = go(tmp_path, saying(SPOILT[name], sh(RIGHT)), packs.problem("a/1", **CHECKED))
    assert "could not be tried. The reply" in last_shown(fake)
    assert records(tmp_path)[0].files[0].content == f"{RIGHT}\n"


@pytest.mark.parametrize("answer", [Answer("", refusal="I will not."), Answer("", finish_reason="content_filter")])
def test_a_refusal_in_a_later_turn_ends_the_sample(tmp_path: Path, answer: Answer) -> None:
    fake = go(tmp_path, saying(sh(BROKEN), answer), packs.problem("a/1", **CHECKED))
    assert len(fake.bodies) == 2
    assert records(tmp_path)[0].files[0].content == f"{BROKEN}\n"
    assert manifest(tmp_path)["agentic"]["ended"] == {"refused": 1}


def test_a_conversation_that_the_endpoint_finds_too_long_ends_its_sample(tmp_path: Path) -> None:
    pack_of(tmp_path, packs.problem("a/1", **CHECKED))
    with serving(saying(sh(BROKEN), Answer(status=400))) as fake:
        assert ran(tmp_path, fake) == DONE
        last = records(tmp_path)[0].model_extra["turns"][-1]
        assert "The endpoint refused the request: HTTP 400" in last["generation_problem"]
        assert ran(tmp_path, fake) == DONE
    assert len(fake.bodies) == 2, "nothing is asked again"


def test_more_turns_go_on_from_the_ones_that_are_kept(tmp_path: Path) -> None:
    pack_of(tmp_path, packs.problem("a/1", **CHECKED))
    with serving(saying(sh(BROKEN), sh(BROKEN), sh(RIGHT))) as fake:
        assert ran(tmp_path, fake, turns=1) == DONE
        assert "agentic" not in manifest(tmp_path)
        assert ran(tmp_path, fake, turns=4) == DONE
    assert len(fake.bodies) == 3
    assert manifest(tmp_path)["agentic"]["samples_by_turns"] == {"3": 1}


def test_a_solution_that_may_not_be_graded_is_told_so(tmp_path: Path) -> None:
    forbidden = Answer("```sh\n# file: test/t.sh\nexit 0\n```")
    fake = go(tmp_path, saying(forbidden, sh(RIGHT)), packs.problem("a/1", **CHECKED))
    assert "(invalid). 'test/t.sh' is a test file of the problem" in last_shown(fake)


def test_questions_and_problems_without_anything_to_try_get_one_reply(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = packs.problem("a/1", build_command='echo "No build step"')
    fake = go(tmp_path, saying(Answer("Final: A")), nothing, choice())
    assert len(fake.bodies) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "1 of 2 problems get one reply a sample: nothing is built and no test is visible." in said
    assert "1 of 2 problems get one reply a sample: questions are not tried." in said


def test_a_function_is_tried_by_one_small_call(tmp_path: Path) -> None:
    problem = json.loads(function(SCALE).to_line())
    wrong = Answer("```python\n# file: solution.py\ndef solution(x, y, n):\n    y[:] = 2 * x\n```")
    right = Answer(f"```python\n# file: solution.py\n{SCALE_PYTHON}```")
    fake = go(tmp_path, saying(wrong, right), problem)
    assert "(wrong_answer)" in last_shown(fake)
    assert "sample_expected" in last_shown(fake)
    assert "class Scale" not in repr(fake.bodies)
    assert manifest(tmp_path)["agentic"]["samples_by_turns"] == {"2": 1}


def test_a_sandbox_fault_stops_the_run_with_words_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any) -> Any:
        raise SandboxFault("the supervisor vanished")

    pack_of(tmp_path, packs.problem("a/1", **CHECKED))
    with serving(saying(sh(RIGHT))) as fake:
        with monkeypatch.context() as patched:
            patched.setattr(Judges, "judge", fails)
            assert ran(tmp_path, fake) == INCOMPLETE
        assert "a/1 could not be tried: SandboxFault: the supervisor vanished" in capsys.readouterr().err
        assert not (tmp_path / "test-1-m-solutions.tar.gz").exists()
        assert ran(tmp_path, fake) == DONE
    assert len(fake.bodies) == 1


def test_a_problem_that_this_machine_cannot_use_gets_one_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise UnusableProblem("its class differs here")

    monkeypatch.setattr(Judges, "judge", fails)
    go(tmp_path, saying(sh(RIGHT)), packs.problem("a/1", **CHECKED))
    assert records(tmp_path)[0].model_extra["turns"][0]["reason"] == "its class differs here"


def test_a_machine_without_the_sandbox_is_told_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any, **__: Any) -> Any:
        raise trials_module.SandboxUnavailable("no sandbox here")

    monkeypatch.setattr(trials_module, "local_judges", none)
    pack_of(tmp_path, packs.problem("a/1", **CHECKED))
    with serving(saying(sh(RIGHT))) as fake, pytest.raises(CannotGenerate, match="no sandbox here"):
        ran(tmp_path, fake)
    assert not fake.bodies

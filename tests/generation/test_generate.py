"""`podium generate`: against an endpoint that fails in every way, killed and resumed, into packs that can be graded."""

import json
import subprocess
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from podium.generation import asking
from podium.generation.asked import of_record
from podium.generation.endpoint import Endpoint, EndpointParameters, _wait_seconds, key_for
from podium.generation.errors import CannotGenerate
from podium.generation.manifest import Prices, Settings
from podium.generation.pipeline import DONE, GenerationRun
from podium.generation.problems import Problems, of_pack
from podium.generation.prompts import Machine, Prompts
from podium.generation.replies import solution_of
from problems.formats.compute_eval.packs import read_every_solution, read_solution_pack, write_problem_pack
from problems.spec.generation import read_generation
from problems.spec.profile import Profile
from problems.spec.records import record_from
from tests import function_site, packs
from tests.evaluate.packs_on_disk import command, environment
from tests.generation.endpoint import Answer, FakeEndpoint, Script, serving
from tests.question_records import choice, short
from tests.warm_podium import run_podium

FILE = "```cpp\n// file: solution.cpp\nint main() {}\n```"


def problem_pack(folder: Path, *problems: dict[str, Any]) -> Path:
    pack = packs.problem_pack(list(problems) or [packs.problem("a/1"), choice(), short()])
    path = folder / "test-1-problems.tar.gz"
    write_problem_pack(path, pack.metadata_bytes, pack.jsonl_bytes)
    return path


def generated(folder: Path, fake: FakeEndpoint, *options: str) -> "subprocess.CompletedProcess[str]":
    """The command as a user runs it."""
    arguments = ["generate", "--problems", problem_pack(folder), "--model", "lab/model", "--base-url", fake.url]
    return run_podium([*map(str, arguments), *options], environment(folder) | {"OPENAI_API_KEY": "sk-secret"}, folder)


def records(path: Path) -> list[Any]:
    return read_every_solution(read_solution_pack(path, path.name, Profile.PODIUM))


def right(_body: dict[str, Any], _before: int) -> Answer:
    return Answer(f"{FILE}\nFinal: B")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "FIRST_WAIT_SECONDS", 0.01)


def run_of(
    folder: Path, problems: Problems, samples: int, url: str, **parameters: Any
) -> tuple[GenerationRun, Settings]:
    prompts = Prompts()
    given = EndpointParameters("m", **parameters)
    settings = Settings(problems.release, url, given, samples, prompts.digest, [], Prices(1.0, 2.0))
    return GenerationRun(folder / "test-1-m-solutions.tar.gz", problems, settings, prompts, debug=False), settings


def go(folder: Path, script: Script, samples: int = 2, workers: int = 4) -> tuple[int, FakeEndpoint, GenerationRun]:
    """A run in this process, with short waits."""
    problems = of_pack(problem_pack(folder))
    with serving(script) as fake:
        run, settings = run_of(folder, problems, samples, fake.url, seed=7)
        return run.go(Endpoint(fake.url, "", settings.parameters, 5.0), workers, None), fake, run


def test_a_pack_with_every_sample_is_written_with_its_manifest(tmp_path: Path) -> None:
    with serving(right) as fake:
        ran = generated(tmp_path, fake, "-n", "2", "--temperature", "0.5", "--price-in", "1", "--price-out", "2")
    assert ran.returncode == 0, ran.stderr
    made = records(tmp_path / "test-1-lab-model-solutions.tar.gz")
    assert [one.task_id for one in made] == ["a/1", "a/1", "qa-1-warps", "qa-1-warps", "qa-1-bytes", "qa-1-bytes"]
    assert made[0].files[0].path == "solution.cpp"
    assert made[2].files[0].content == f"{FILE}\nFinal: B"
    manifest = json.loads((tmp_path / "test-1-lab-model-manifest.json").read_text())
    pack = read_solution_pack(tmp_path / "test-1-lab-model-solutions.tar.gz", "x", Profile.PODIUM)
    assert (pack.metadata.generation, read_generation(manifest)[1]) == (manifest, []), "as a site reads it"
    assert manifest["models_reported"] == ["lab/model-reported"]
    assert manifest["usage"] | {"seconds_median": 0} == {
        "requests": 6, "prompt_tokens": 600, "completion_tokens": 60, "cost": 0.00072, "seconds_median": 0,
    }  # fmt: skip
    assert manifest["parameters"] == {"model": "lab/model", "temperature": 0.5}
    assert "sk-secret" not in repr([path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()])


def test_the_key_of_another_host_is_not_sent(tmp_path: Path) -> None:
    with serving(right) as fake:
        assert generated(tmp_path, fake).returncode == 0
    assert set(fake.keys) == {"Bearer none"}


def test_each_known_host_gets_its_own_key_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "NEMO_API_KEY", "OWN_KEY"):
        monkeypatch.setenv(name, name.lower())
    assert key_for("https://api.openai.com/v1", None) == "openai_api_key"
    assert key_for("https://api.anthropic.com/v1", None) == "anthropic_api_key"
    assert key_for("https://integrate.api.nvidia.com/v1", None) == "nemo_api_key"
    assert key_for("https://api.openai.com.example.org/v1", None) == ""
    assert key_for("https://example.org/v1", "OWN_KEY") == "own_key"
    with pytest.raises(CannotGenerate, match="unencrypted"):
        key_for("http://example.org/v1", "OWN_KEY")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(CannotGenerate, match="set OPENAI_API_KEY"):
        key_for("https://api.openai.com/v1", None)


FAULTS = {
    "limited": Answer(status=429, headers={"Retry-After": "0.05"}),
    "broken": Answer(status=500),
    "unavailable": Answer(status=503),
    "cut": Answer(cut=True),
    "no json": Answer(body=b"<html>not json</html>"),
    "json of another shape": Answer(body=b'{"choices": []}'),
    "null": Answer(body=b"null"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_passes_is_tried_again(tmp_path: Path, name: str) -> None:
    status, fake, run = go(tmp_path, lambda _, before: FAULTS[name] if before < 2 else right(_, before), samples=1)
    assert status == DONE
    assert set(fake.asked.values()) == {3}
    assert len(records(run.path)) == 3


def test_a_wait_that_the_endpoint_asks_for_holds_for_all(tmp_path: Path) -> None:
    first = {"limited": True}

    def script(_body: dict[str, Any], before: int) -> Answer:
        if first.pop("limited", False):
            return Answer(status=429, headers={"Retry-After": "0.4"})
        return right(_body, before)

    status, fake, _ = go(tmp_path, script, samples=4, workers=1)
    assert status == DONE
    assert fake.times[1] - fake.times[0] >= 0.4


SPOILT = {
    "refusal": (Answer("", refusal="I will not."), "The model refused: I will not."),
    "filter": (Answer("", finish_reason="content_filter"), "filter withheld"),
    "truncated": (Answer("```cpp\n// file: solution.cpp\nint", finish_reason="length"), "cut off at the limit"),
    "empty": (Answer(""), "The reply is empty."),
    "null": (Answer(None), "The reply is empty."),
    "surrogate": (Answer("```cpp\n// file: solution.cpp\n// \ud800\n```"), "holds a lone surrogate"),
    "prose": (Answer("I would write a loop."), "holds no file"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_reply_without_a_solution_is_a_sample_with_its_reason(tmp_path: Path, name: str) -> None:
    answer, words = SPOILT[name]
    status, _, run = go(tmp_path, lambda *_: answer, samples=1)
    assert status == DONE
    first = records(run.path)[0]
    assert first.files == []
    assert words in first.model_extra["generation_problem"]


def test_a_sample_that_never_gets_a_reply_leaves_no_pack_and_is_asked_again_alone(tmp_path: Path) -> None:
    def fails_for_the_first(body: dict[str, Any], before: int) -> Answer:
        return Answer(status=500) if "a/1" in body["messages"][-1]["content"] else right(body, before)

    status, _, run = go(tmp_path, fails_for_the_first, samples=1)
    assert status == 1
    assert not run.path.exists()
    problems = of_pack(tmp_path / "test-1-problems.tar.gz")
    with serving(right) as fake:
        endpoint = Endpoint(fake.url, "", run.settings.parameters, 5.0)
        assert run.go(endpoint, 2, None) == DONE
    assert sum(fake.asked.values()) == 1
    assert len(records(run.path)) == len(problems.asked)


TOO_LONG = (
    b'{"error": {"message": "This model\'s maximum context length is 8192 tokens.", "code": "context_length_exceeded"}}'
)


def test_a_prompt_that_is_refused_is_a_sample_with_its_reason(tmp_path: Path) -> None:
    def refuses_the_first(body: dict[str, Any], before: int) -> Answer:
        is_first = "a/1" in body["messages"][-1]["content"]
        return Answer(status=400, body=TOO_LONG) if is_first else right(body, before)

    status, _, run = go(tmp_path, refuses_the_first, samples=1)
    assert status == DONE
    first = records(run.path)[0]
    assert (first.files, len(records(run.path))) == ([], 3)
    assert "The endpoint refused the request: HTTP 400" in first.model_extra["generation_problem"]


def test_parameters_that_the_endpoint_refuses_with_every_prompt_leave_no_pack(tmp_path: Path) -> None:
    status, _, run = go(tmp_path, lambda *_: Answer(status=400), samples=1)
    assert status == 1
    assert not run.path.exists()


def shaped(**fields: Any) -> Answer:
    return Answer(
        body=json.dumps({"choices": [{"message": {"content": FILE}, "finish_reason": "stop"}]} | fields).encode()
    )


SHAPES = {
    "usage is a list": shaped(usage=[1]), "usage is words": shaped(usage={"prompt_tokens": "many"}),
    "usage is infinite": shaped(usage={"prompt_tokens": float("inf")}),
    "message is text": shaped(choices=[{"message": FILE}]), "parts": shaped(choices=[{"message": {"content": [FILE]}}]),
    "reasoning alone": shaped(choices=[{"message": {"content": None, "reasoning": "Hm."}}]),
    "tool calls alone": shaped(choices=[{"message": {"tool_calls": [{"id": "1"}]}, "finish_reason": "tool_calls"}]),
    "finish reason is a number": shaped(choices=[{"message": {"content": FILE}, "finish_reason": 3}]),
}  # fmt: skip
UNREADABLE = {
    "deep": Answer(body=b'{"choices": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"),
    "choices are words": shaped(choices="none"),
    "a choice is words": shaped(choices=["none"]), "a list": Answer(body=b"[1]"), "no message": shaped(choices=[{}]),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_a_reply_of_another_shape_is_read_or_a_sample_without_files(tmp_path: Path, name: str) -> None:
    status, _, run = go(tmp_path, lambda *_: SHAPES[name], samples=1)
    assert status == DONE
    found = records(run.path)[0]
    assert bool(found.files) != bool(found.model_extra.get("generation_problem"))


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_answer_that_cannot_be_read_is_asked_again(tmp_path: Path, name: str) -> None:
    status, fake, _ = go(tmp_path, lambda _, before: UNREADABLE[name] if before < 1 else right(_, before), samples=1)
    assert status == DONE
    assert set(fake.asked.values()) == {2}


def test_a_wait_may_be_a_date() -> None:
    at = datetime.now(UTC) + timedelta(seconds=30)
    assert 25 < (_wait_seconds(format_datetime(at)) or 0) <= 30
    assert [_wait_seconds(one) for one in ("2", "-1", "nan", "inf", "soon", None)] == [2.0, 0.0, None, None, None, None]
    assert _wait_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


def test_an_organisation_is_told_to_openai_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    _, fake, _ = go(tmp_path, right, samples=1)
    assert not any("secret" in value for headers in fake.headers for value in headers.values())
    own = Endpoint("https://api.openai.com/v1", "k", EndpointParameters("m"), 5.0)
    assert own._client.organization == "org-secret"


def test_nothing_follows_a_redirect(tmp_path: Path) -> None:
    with serving(right) as other:
        moved = Answer(status=307, headers={"Location": f"{other.url}/chat/completions"})
        with pytest.raises(CannotGenerate, match="redirects to"), serving(lambda *_: moved) as fake:
            Endpoint(fake.url, "k", EndpointParameters("m"), 5.0).ask([{"role": "user", "content": "x"}], 0)
    assert not other.asked


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("1. Write:\n\n   ```cpp\n   int main() {\n     return 0;\n   }\n   ```\n", "int main() {\n  return 0;\n}\n"),
        ("~~~cpp\nint main() {}\n~~~", "int main() {}\n"),
        ("1. Write:\n   ```cpp\n// file: solution.cpp\nint main() {}\n   ```\n", "int main() {}\n   "),
        ("````markdown\n```cpp\nint x;\n```\n````\n\n```cpp\nint main() {}\n```", "int main() {}\n"),
        ("````\n```cpp\nint main() {}\n```\n````", "int main() {}\n"),
        ("````text\nHere:\n~~~cpp\nint main() {}\n~~~\n````", "int main() {}\n"),
        ('```cpp\nauto a = "\u2028\x0c";\n```', 'auto a = "\u2028\x0c";\n'),
    ],
)
def test_fences_are_commonmarks(text: str, content: str) -> None:
    asked = of_record(record_from(packs.problem("a/1", solution_path="solution.cpp"), Profile.PODIUM), is_strict=False)
    assert [file.content for file in solution_of(asked, text, "stop", "").files] == [content]


def test_a_fence_whose_end_is_indented_by_four_has_no_end() -> None:
    asked = of_record(record_from(packs.problem("a/1", solution_path="solution.cpp"), Profile.PODIUM), is_strict=False)
    assert solution_of(asked, "```cpp\nint main() {}\n    ```\n", "stop", "").files == []


@pytest.mark.rest
def test_a_refused_key_stops_the_run_at_once(tmp_path: Path) -> None:
    with serving(lambda *_: Answer(status=401)) as fake:
        ran = generated(tmp_path, fake, "-n", "20", "--workers", "2")
    assert ran.returncode == 2
    assert "the endpoint refuses every request: HTTP 401" in ran.stderr
    assert sum(fake.asked.values()) <= 4


@pytest.mark.rest
def test_other_parameters_are_other_requests(tmp_path: Path) -> None:
    with serving(right) as fake:
        assert generated(tmp_path, fake).returncode == 0
        assert "3 kept replies are to other requests" in generated(tmp_path, fake, "--temperature", "1").stderr
        assert sum(fake.asked.values()) == 6
        assert generated(tmp_path, fake, "--temperature", "1").returncode == 0
        assert sum(fake.asked.values()) == 6


def _resumable(folder: Path, fake: FakeEndpoint, problems: Path) -> "subprocess.Popen[str]":
    options = ["--problems", problems, "--model", "m", "--base-url", fake.url, "-n", "3", "--workers", "8"]
    return subprocess.Popen(
        command("generate", *options), env=environment(folder), cwd=folder, stderr=subprocess.PIPE, text=True
    )


def _killed_after(process: "subprocess.Popen[str]", fake: FakeEndpoint, n_answered: int) -> None:
    deadline = time.monotonic() + 60
    while sum(fake.answered.values()) < n_answered and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.communicate()


@pytest.mark.rest
def test_after_kill_9_no_kept_reply_is_asked_again(tmp_path: Path) -> None:
    """Twice killed; requests in flight at a kill may be asked once more, and no other."""
    path = problem_pack(tmp_path, *[packs.problem(f"a/{n}") for n in range(40)])
    with serving(lambda _body, _before: Answer(seconds=0.02)) as fake:
        for n_answered in (30, 70):
            _killed_after(_resumable(tmp_path, fake, path), fake, n_answered)
        last = _resumable(tmp_path, fake, path)
        _, said = last.communicate(timeout=60)
    assert last.returncode == 0, said
    assert 120 <= sum(fake.asked.values()) <= 120 + 2 * 8
    assert len(records(tmp_path / "test-1-m-solutions.tar.gz")) == 120


@pytest.mark.rest
def test_a_line_that_was_cut_short_is_asked_again(tmp_path: Path) -> None:
    with serving(right) as fake:
        assert generated(tmp_path, fake).returncode == 0
        replies = tmp_path / "test-1-lab-model-replies" / "replies.jsonl"
        replies.write_bytes(replies.read_bytes()[:-30])
        assert generated(tmp_path, fake).returncode == 0
        assert sum(fake.asked.values()) == 4
        assert generated(tmp_path, fake).returncode == 0
        assert sum(fake.asked.values()) == 4


@pytest.mark.rest
def test_a_file_of_something_else_is_not_taken_for_replies(tmp_path: Path) -> None:
    folder = tmp_path / "test-1-lab-model-replies"
    folder.mkdir()
    (folder / "replies.jsonl").write_text('{"other": 1}\n{"other": 2}\n')
    with serving(right) as fake:
        ran = generated(tmp_path, fake)
    assert ran.returncode == 2
    assert "line 1: is no reply of `podium generate`" in ran.stderr


@pytest.mark.rest
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--include", "shell", "--exclude", "warps"), "exclude each other"),
        (("--include", "nothing"), "has no group 'nothing'; it has shell, warps, memory"),
        (("--exclude", "shell,warps,memory"), "no problem is left"),
        (("--api-key-env", "NO_SUCH_KEY"), "the environment has no such variable"),
        (("--rag", "missing.txt"), "--rag missing.txt: cannot be read"),
    ],
)
def test_bad_options_are_refused_with_words_before_anything_is_asked(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    with serving(right) as fake:
        ran = generated(tmp_path, fake, *options)
    assert ran.returncode == 2
    assert words in ran.stderr
    assert not fake.asked


@pytest.mark.rest
def test_groups_may_be_chosen(tmp_path: Path) -> None:
    with serving(right) as fake:
        assert generated(tmp_path, fake, "--exclude", "shell").returncode == 0
    path = tmp_path / "test-1-lab-model-solutions.tar.gz"
    assert read_solution_pack(path, path.name, Profile.PODIUM).metadata.groups == ["warps", "memory"]


@pytest.mark.rest
def test_a_config_file_gives_options_and_the_command_line_wins(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("samples: 2\ntemperature: 0.25\nsystem-prompt: Be brief.\n")
    with serving(right) as fake:
        ran = generated(tmp_path, fake, "--config-file", "run.yaml", "--temperature", "1")
    assert ran.returncode == 0, ran.stderr
    assert len(fake.bodies) == 6
    assert {body["temperature"] for body in fake.bodies} == {1.0}
    assert fake.bodies[0]["messages"][0] == {"role": "system", "content": "Be brief."}


@pytest.mark.rest
def test_a_config_file_with_an_unknown_option_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("sample: 2\n")
    with serving(right) as fake:
        ran = generated(tmp_path, fake, "--config-file", "run.yaml")
    assert ran.returncode == 2
    assert "there is no option 'sample'" in ran.stderr


def test_templates_may_be_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "choice.txt").write_text("Own words: $choices")
    prompts = Prompts(folder)
    asked = of_record(record_from(choice(), Profile.PODIUM), is_strict=False)
    assert prompts.messages(asked)[-1]["content"] == "Own words: A. four warps\nB. eight warps\nC. a warp of 256 lanes"
    (folder / "choice.txt").write_text("$nothing")
    with pytest.raises(CannotGenerate, match=r"choice\.txt cannot be filled in"):
        Prompts(folder).messages(asked)


HELD_OUT = ("sh solution.sh", "4096", "Explanation words", "definition words", "reference words")


def test_a_prompt_holds_what_participants_may_read_and_nothing_held_out() -> None:
    prompts = Prompts(machine=Machine("13.0", "sm_90"))
    shown = {}
    for data in (packs.problem("a/1"), choice(), short(), function_site.function()):
        record = record_from(data, Profile.PODIUM)
        shown[record.kind] = prompts.messages(of_record(record, is_strict=False))[-1]["content"]
    assert "CUDA toolkit: 13.0\nGPU architecture: sm_90" in shown["command"]
    assert "Final: <letter>" in shown["choice"]
    assert "B. eight warps" in shown["choice"]
    assert "def solution(x, y, rows, cols)" in shown["function"]
    for text in shown.values():
        assert not [words for words in HELD_OUT if words in text]


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("```cpp\n// file: solution.cpp\none\n```\n```cpp\n// file: solution.cpp\ntwo\n```", {"solution.cpp": "two\n"}),
        ("Here:\n```python\nimport numpy\n```", {"solution.py": "import numpy\n"}),
        ("<think>```cpp\n// file: solution.cpp\nbad\n```</think>\n```c++\ngood\n```", {"solution.cpp": "good\n"}),
        ("```cpp\nfirst\n```\nbetter:\n```cpp\nlast\n```", {"solution.cpp": "last\n"}),
        ("```\nof no language\n```", {}),
        ("no fence", {}),
    ],
)
def test_the_code_of_a_function_is_found_in_a_reply(text: str, files: dict[str, str]) -> None:
    asked = of_record(record_from(function_site.function(), Profile.PODIUM), is_strict=False)
    assert {one.path: one.content for one in solution_of(asked, text, "stop", "").files} == files


def test_a_pack_of_computeevals_own_profile_is_read_by_its_rules() -> None:
    asked = of_record(record_from(packs.problem("a/1"), Profile.PODIUM), is_strict=True)
    twice = "```\n// file: a.cu\none\n```\n```\n// file: a.cu\ntwo\n```"
    assert [one.content for one in solution_of(asked, twice, "stop", "").files] == ["one\n", "two\n"]


@pytest.mark.rest
def test_text_of_a_file_is_added_to_every_prompt(tmp_path: Path) -> None:
    (tmp_path / "guide.txt").write_text("a page of the guide")
    with serving(right) as fake:
        assert generated(tmp_path, fake, "--rag", "guide.txt").returncode == 0
    assert all("a page of the guide" in body["messages"][-1]["content"] for body in fake.bodies)

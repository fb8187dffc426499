"""The parts of `--agentic`: what trials are given, how long their words are, and that nothing waits for the other."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from podium.generation.asked import of_record
from podium.generation.asking import AskedTurn, AskingFailure
from podium.generation.crew import Crew, Hands
from podium.generation.endpoint import EndpointParameters, Reply
from podium.generation.errors import AskFailed, CannotGenerate, TrialFailed
from podium.generation.held_out import EMPTY_MAIN, without_held_out
from podium.generation.manifest import Prices, Settings
from podium.generation.outcomes import HEAD_CHARACTERS, TAIL_CHARACTERS, Outcomes, TrialEnding, TrialOutcome, trimmed
from podium.generation.prompts import Prompts
from podium.generation.store import KeptReply, Store
from podium.generation.turns import AskedSample, SampleEnded, SolutionToTry, Turns
from problems.formats.pmpp.building import build_command
from problems.formats.pmpp.program import Program, Unit
from problems.spec.command.problem import problem_from
from problems.spec.profile import Profile
from problems.spec.records import record_from
from tests import packs

SECRET = "held-out words"
MAIN = f"int main(int, char**) {{ /* {SECRET} */ }}"


def files_left(build_command: str | None, tests: dict[str, str], visible: tuple[str, ...] = ()) -> dict[str, str]:
    """The test files that a trial is given."""
    podium: dict[str, Any] = {"visible_tests": list(visible)}
    if visible:
        podium["visible_test_command"] = "true"
    listed = [{"path": path, "content": text} for path, text in tests.items()]
    data = packs.problem("a/1", build_command=build_command, test_files=listed, podium=podium)
    seen = without_held_out(problem_from(data, Profile.PODIUM))
    assert SECRET not in "".join(file.content for one in seen.files if one.is_held_out for file in [one.file])
    assert seen.reference is None
    return {one.file.path: one.file.content for one in seen.files}


@pytest.mark.parametrize(
    ("command", "stands_in"),
    [
        ("g++ -o harness test/main.cpp solution.cpp", {"test/main.cpp": EMPTY_MAIN}),
        ("nvcc -I include -o test.out solution.cu test/*.cpp", {"test/main.cpp": EMPTY_MAIN, "test/more.cpp": ""}),
        ("g++ -c solution.cpp && g++ solution.o ./test/main.cpp", {"test/main.cpp": EMPTY_MAIN}),
        ("g++ -include=test/words.h solution.cpp", {"test/words.h": ""}),
        ("g++ solution.cpp $(ls test/main.*)", {"test/main.cpp": EMPTY_MAIN}),
        ("g++ -c solution.cpp", {}),
        ("g++ 'unbalanced", {}),
        (None, {}),
    ],
)
def test_a_stand_in_is_there_for_each_held_out_file_that_the_build_names(
    command: str | None, stands_in: dict[str, str]
) -> None:
    tests = {"test/main.cpp": MAIN, "test/more.cpp": f"// {SECRET}", "test/words.h": f"// {SECRET}"}
    assert files_left(command, tests) == stands_in


def test_visible_tests_stay() -> None:
    tests = {"test/a.cpp": MAIN, "test/b.cpp": "int main() { return 1; }"}
    assert files_left("g++ test/b.cpp solution.cpp", tests, ("test/b.cpp",)) == {"test/b.cpp": tests["test/b.cpp"]}


def test_the_files_that_an_imported_task_removes_by_name_are_stood_in_for() -> None:
    units = tuple(Unit(source, ("g++",)) for source in ("test_main.cu", "student_kernel.cu"))
    command = build_command(Program(units, ("g++",), ()), "tests", ["test_main.cu", "check.h"])
    tests = {"test_main.cu": MAIN, "check.h": f"// {SECRET}"}
    assert files_left(command, tests) == {"test_main.cu": EMPTY_MAIN, "check.h": ""}


def test_a_long_output_is_shown_by_its_head_and_its_tail() -> None:
    text = "a" * HEAD_CHARACTERS + "b" * 12_345 + "c" * TAIL_CHARACTERS
    shown = trimmed(text)
    assert shown.startswith("a" * HEAD_CHARACTERS + "\n[… 12,345 characters left out …]\n")
    assert shown.endswith("\n" + "c" * TAIL_CHARACTERS)
    assert trimmed("short") == "short"


def test_an_outcome_that_was_cut_short_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    with Outcomes(path) as outcomes:
        outcomes.add("a/1", 0, 0, "one", TrialOutcome(TrialEnding.PASSED, "passed"))
        outcomes.add("a/1", 0, 1, "two", TrialOutcome(TrialEnding.FAILED, "build_failed", "why", "printed"))
    path.write_bytes(path.read_bytes()[:-9])
    with Outcomes(path) as outcomes:
        assert outcomes.get("one") == TrialOutcome(TrialEnding.PASSED, "passed")
        assert outcomes.get("two") is None
        outcomes.add("a/1", 0, 1, "two", TrialOutcome(TrialEnding.UNTRIED))
    with Outcomes(path) as outcomes:
        assert outcomes.get("two") == TrialOutcome(TrialEnding.UNTRIED)


def test_the_follow_up_is_a_template_that_may_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "follow_up.txt").write_text("$left left: $result\n$output")
    prompts = Prompts(tmp_path)
    assert prompts.follow_up("It failed.", "x ```` y", 2)["content"] == "2 left: It failed.\n`````\nx ```` y\n`````"
    assert prompts.digest != Prompts().digest
    (tmp_path / "follow_up.txt").write_text("$nothing")
    with pytest.raises(CannotGenerate, match=r"follow_up\.txt cannot be filled in"):
        Prompts(tmp_path)


class Room:
    """Stores and turns of samples of one problem that can be tried; what is asked and tried is up to a test."""

    def __init__(self, folder: Path, turns: int) -> None:
        self.store, self.outcomes = Store(folder / "replies.jsonl"), Outcomes(folder / "trials.jsonl")
        settings = Settings("r", "http://localhost/v1", EndpointParameters("m"), 1, "", [], Prices(), turns)
        self.turns = Turns(settings, Prompts(), self.store, self.outcomes, {"a/1": "digest"})
        self.stopped = threading.Event()

    def sample(self, number: int) -> AskedSample:
        asked = of_record(record_from(packs.problem("a/1"), Profile.PODIUM), is_strict=False)
        return AskedSample(asked, number, [{"role": "user", "content": f"Sample {number}."}])

    def keep(self, request: AskedTurn, text: str) -> KeptReply:
        reply = Reply(f"```sh\n# file: solution.sh\n{text}\n```")
        kept = KeptReply(request.task_id, request.sample, request.digest, reply, "", 0.0, request.turn)
        self.store.add(kept)
        return kept

    def keep_outcome(self, attempt: SolutionToTry, ending: TrialEnding) -> TrialOutcome:
        outcome = TrialOutcome(ending, "verdict")
        self.outcomes.add(attempt.task_id, attempt.sample, attempt.turn, attempt.digest, outcome)
        return outcome

    def crew(self, ask: Any, attempt: Any, n_requests: int = 1, n_trials: int = 1) -> Crew:
        return Crew(self.turns, Hands(ask, attempt, self.stopped.set, n_requests, n_trials), self)

    def asked(self, kept: KeptReply) -> None: ...

    def tried(self, outcome: TrialOutcome) -> None: ...

    def ended(self, failure: AskingFailure | None) -> None: ...

    def ended_of(self, numbers: list[int]) -> list[SampleEnded | None]:
        return [self.turns.progressed(self.sample(number)).ended for number in numbers]


def test_requests_go_on_while_a_trial_takes_long_and_trials_while_a_request_does(tmp_path: Path) -> None:
    """The first trial ends only once the last sample is asked, whose reply comes only once a second trial began."""
    room = Room(tmp_path, turns=2)
    last_asked, second_tried = threading.Event(), threading.Event()

    def ask(request: AskedTurn) -> KeptReply:
        if request.sample == 3:
            last_asked.set()
            assert second_tried.wait(5)
        return room.keep(request, f"exit {request.sample}")

    def attempt(one: SolutionToTry) -> TrialOutcome:
        if one.sample == 0:
            assert last_asked.wait(5)
        else:
            second_tried.set()
        return room.keep_outcome(one, TrialEnding.PASSED)

    assert room.crew(ask, attempt).work([room.sample(number) for number in range(4)]) == []
    assert room.ended_of([0, 1, 2, 3]) == [SampleEnded.PASSED] * 4


def test_no_more_trials_run_at_a_time_than_were_allowed(tmp_path: Path) -> None:
    room, lock, counts = Room(tmp_path, turns=2), threading.Lock(), {"now": 0, "most": 0}

    def attempt(one: SolutionToTry) -> TrialOutcome:
        with lock:
            counts["now"] += 1
            counts["most"] = max(counts.values())
        time.sleep(0.005)
        with lock:
            counts["now"] -= 1
        return room.keep_outcome(one, TrialEnding.FAILED)

    crew = room.crew(lambda request: room.keep(request, f"exit {request.sample}"), attempt, 8, 2)
    crew.work([room.sample(number) for number in range(12)])
    assert counts["most"] == 2
    assert set(room.ended_of(list(range(12)))) == {SampleEnded.LAST_TURN}


def test_a_failed_request_fails_its_sample_alone_and_a_failed_trial_stops_all(tmp_path: Path) -> None:
    room = Room(tmp_path, turns=2)

    def ask(request: AskedTurn) -> KeptReply:
        if request.sample == 0:
            raise AskFailed("HTTP 400")
        return room.keep(request, "exit 0")

    def broken(_: SolutionToTry) -> TrialOutcome:
        raise TrialFailed("the sandbox failed")

    failures = room.crew(ask, lambda one: room.keep_outcome(one, TrialEnding.PASSED)).work(
        [room.sample(0), room.sample(1)]
    )
    assert [one.reason for one in failures] == ["HTTP 400"]
    assert not room.stopped.is_set()
    other = Room(tmp_path / "other", turns=2)
    with pytest.raises(TrialFailed):
        other.crew(lambda request: other.keep(request, "exit 1"), broken).work([other.sample(1)])
    assert other.stopped.is_set()
    assert other.store.get(("a/1", 1, 0), other.turns.first(other.sample(1)).digest)


def test_after_a_stop_samples_stay_where_they_are(tmp_path: Path) -> None:
    room = Room(tmp_path, turns=2)
    assert room.crew(lambda _: None, lambda _: None).work([room.sample(0)]) == []
    assert room.ended_of([0]) == [None]

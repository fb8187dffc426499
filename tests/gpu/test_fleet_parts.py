"""The parts of tests.gpu.fleet that judge: each must see what is wrong. Needs neither a GPU nor a plugin of pytest."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from runners.agent.sandbox.bubblewrap import find_bwrap, why_unavailable
from tests.e2e.processes import Processes, Stuck
from tests.gpu.fleet import remains
from tests.gpu.fleet.grading import check_results
from tests.gpu.fleet.machine import Machine
from tests.gpu.fleet.needs import missing
from tests.gpu.fleet.options import CPU, GPU, Options, parsed
from tests.gpu.fleet.packs import EntrantPack, make_packs
from tests.gpu.fleet.pages import Forms, words_of
from tests.gpu.fleet.report import Report
from tests.gpu.fleet.walk import _bounded

HANGS = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"
FORM = """
<form method="post" action="/logout/"><input name="token" value="other"></form>
<form method="POST" action="../send/">
  <input type="hidden" name="token" value="a&amp;b"><input type="submit" name="go" value="Go">
  <input type="checkbox" name="tracks" value="1" checked><input type="checkbox" name="tracks" value="2">
  <select name="kind"><option value="model">Model</option><option value="agent">Agent</option></select>
  <select name="days"><option value="30">30</option><option value="90" selected>90</option></select>
  <textarea name="note">
one
two</textarea>
</form>
"""


def options_of(tmp_path: Path, kind=CPU, n_samples: int = 2) -> Options:
    return Options(tmp_path, kind, kind.problems, n_samples, "ranked", 600, verifies=False)


def entrant_pack(tmp_path: Path, slug: str, kind=CPU, n_samples: int = 2) -> EntrantPack:
    return make_packs(options_of(tmp_path, kind, n_samples), tmp_path).entrants[slug]


def row(task_id: str, sample: int, verdict: str, *, ranks: bool | None = None, flags: tuple[str, ...] = ()) -> dict:
    measured = [] if ranks is None else [{"ranks": ranks, "median_ms": 1.0, "runs_ms": [1.0]}]
    return {
        "task_id": task_id,
        "sample": sample,
        "verdict": verdict,
        "measurements": measured,
        "flags": [{"code": code} for code in flags],
    }


def rows_as_stated(pack: EntrantPack) -> list[dict]:
    return [
        row(*key, verdict, ranks=key not in pack.uncredited if verdict == "passed" else None)
        for key, verdict in sorted(pack.expected.items())
    ]


def test_a_form_is_sent_as_a_browser_would_send_it() -> None:
    _, form = Forms(FORM).forms
    assert (form.action, form.method) == ("../send/", "post")
    fields = {"token": "a&b", "tracks": "1", "kind": "model", "days": "90", "note": "one\ntwo"}
    assert dict(form.fields) == fields
    assert len(form.fields) == len(fields), "a box that is not ticked and a button that is not pressed are not sent"
    assert form.options["tracks"] == ["1", "2"]
    assert form.names >= {"go", "note", "kind"}


def test_a_readers_words_of_a_page() -> None:
    assert words_of("<head><title>T</title></head><p>2 &lt;\n 3</p><script>x</script>") == "2 < 3"


def test_packs_hold_what_was_asked_for(tmp_path: Path) -> None:
    packs = make_packs(options_of(tmp_path, GPU), tmp_path)
    assert set(packs.entrants) == {"demo-tuned", "demo-flawed", "demo-naive"}
    flawed = packs.entrants["demo-flawed"]
    assert flawed.expected[("transpose", 0)] == "passed"
    assert flawed.expected[("transpose", 1)] == "test_failed"
    assert len(flawed.expected) == 6
    assert ("transpose", 0) in flawed.uncredited
    assert {index for _, index in packs.entrants["demo-naive"].expected} == {0}, "the one that is killed sends less"


def test_results_as_the_example_states_them_are_right(tmp_path: Path) -> None:
    report = Report(tmp_path / "out")
    pack = entrant_pack(tmp_path, "demo-flawed", GPU)
    check_results("demo-flawed", rows_as_stated(pack), pack, report)
    assert report.wrong == []
    assert (tmp_path / "out" / "results.jsonl").read_text().count("\n") == len(pack.expected)


@pytest.mark.parametrize(
    ("sample", "change", "words"),
    [
        (1, {"verdict": "passed"}, "passed, expected test_failed"),
        (0, {"measurements": [{"ranks": True}]}, "is a cheat, and its time counts"),
    ],
)
def test_a_flawed_result_that_gets_credit_is_wrong(tmp_path: Path, sample: int, change: dict, words: str) -> None:
    report = Report(tmp_path / "out")
    pack = entrant_pack(tmp_path, "demo-flawed", GPU)
    rows = [
        one | change if (one["task_id"], one["sample"]) == ("transpose", sample) else one
        for one in rows_as_stated(pack)
    ]
    check_results("demo-flawed", rows, pack, report)
    assert any(words in one for one in report.wrong)


def test_a_good_result_without_a_time_and_one_that_is_missing_are_wrong(tmp_path: Path) -> None:
    report = Report(tmp_path / "out")
    pack = entrant_pack(tmp_path, "demo-tuned")
    first, *rest = rows_as_stated(pack)
    check_results("demo-tuned", [first | {"measurements": []}, *rest[:-1]], pack, report)
    assert [words.partition(";")[0] for words in report.wrong][:1] == [
        "demo-tuned ('cpp/matmul', 0) has no time that ranks"
    ]
    assert report.wrong[1].startswith("demo-tuned: graded ")
    assert len(report.wrong) == 2


def test_a_wrong_run_shows_the_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(tmp_path)
    report.check(False, "the sky is green")
    report.conclude("--- node.log\nit was the sky", [])
    said = capsys.readouterr().out
    assert "it was the sky" in said
    assert "1 THINGS ARE WRONG\n  the sky is green" in said
    assert (tmp_path / "summary.txt").read_text() == said


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    (tmp_path / "out").mkdir()
    work = tmp_path / f"{remains.WORK_PREFIX}{uuid4().hex}"
    made = Machine(tmp_path / "out", work, Report(tmp_path / "out"), patience=1)
    yield made
    made.stop()


def up(machine: Machine, name: str) -> bool:
    return "up" in (machine.folder / f"{name}.log").read_text()


def test_a_process_that_ends_by_itself_ends_the_wait_and_shows_its_log(machine: Machine) -> None:
    machine.launch("node", [sys.executable, "-c", "print('no GPU at all'); raise SystemExit(3)"], {})
    with pytest.raises(Stuck, match="node ended with status 3") as raised:
        machine.wait(lambda: None, "what never comes", 60)
    assert "no GPU at all" in raised.value.__notes__[0]


def test_what_never_comes_is_named(machine: Machine) -> None:
    with pytest.raises(Stuck, match=r"^waited 0\.3 s for: Godot"):
        machine.wait(lambda: None, "Godot", 0.3)


def test_a_process_that_does_not_end_when_told_to_is_wrong_and_ended(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.e2e.processes.END_SECONDS", 0.5)
    machine.launch("site", [sys.executable, "-c", HANGS], {})
    machine.wait_until(lambda: up(machine, "site"), "the program runs")
    site = machine.processes["site"]
    machine.end("site", 0.5)
    assert machine.report.wrong == ["on SIGTERM site ends with status none after 0.5 s"]
    machine.leave_nothing()
    assert site.wait(timeout=20) == -signal.SIGKILL


def test_what_outlives_its_parent_is_wrong_and_ended(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It left the group, as a program may that is to survive."""
    monkeypatch.setattr("tests.gpu.fleet.machine.OUTLIVE_SECONDS", 0.5)
    start = (
        f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {HANGS!r}], start_new_session=True).wait()"
    )
    machine.launch("node", [sys.executable, "-c", start], {})
    machine.wait_until(lambda: up(machine, "node"), "the child runs")
    (child,) = remains.below(machine.processes["node"].pid)
    machine.leave_nothing()
    assert len(machine.report.wrong) == 1
    assert f"still there after the end: {child.pid} " in machine.report.wrong[0]
    Processes(machine.folder).wait_until(lambda: not child.is_there, "it is ended", 20)


@pytest.mark.skipif(bool(why_unavailable()), reason="needs bubblewrap")
def test_a_sandboxed_program_is_found_whoever_its_parent_is(tmp_path: Path) -> None:
    work = tmp_path / "podium-fleet-test"
    work.mkdir()
    show = ["--ro-bind", "/", "/", "--bind", str(work), "/mnt", "--die-with-parent", "--unshare-pid"]
    command = [str(find_bwrap()), *show, "sh", "-c", "echo up; exec sleep 60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as box:
        assert box.stdout is not None
        assert box.stdout.readline() == b"up\n"
        # While the shell gives way to sleep, its command line reads as empty.
        Processes(tmp_path).wait_until(
            lambda: any("sleep 60" in one.command for one in remains.in_sandboxes_of(work)), "it is found", 20
        )
        assert remains.in_sandboxes_of(tmp_path / "podium-fleet-te") == []
        box.kill()
    Processes(tmp_path).wait_until(lambda: not remains.in_sandboxes_of(work), "it is gone", 20)


def test_sandboxes_are_not_looked_for_by_a_name_that_others_may_have(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="may be a folder of others"):
        remains.in_sandboxes_of(tmp_path / "work")


def test_time_is_bounded_and_the_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(AssertionError, match="more than 1 s in all"), _bounded(1):
        signal.pause()
    with pytest.raises(AssertionError, match="ended by SIGTERM"), _bounded(60):
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.skipif(bool(missing(gpu=False)), reason=missing(gpu=False))
def test_bad_input_is_refused_with_what_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed("", ["--cpu", "--out", str(tmp_path), "--problems", "cpp-matmul,none-such"])
    assert ended.value.code == 2
    assert "no such problems: none-such; there are cpp-histogram, " in capsys.readouterr().err
    given = parsed("", ["--cpu", "--out", str(tmp_path), "--samples", "3", "--verify"])
    assert (given.problems, given.samples_of("demo-tuned"), given.samples_of("demo-steady")) == (CPU.problems, 3, 2)
    assert given.verifies
    assert not given.has_gpu

"""The agent at work: it claims, reports, keeps leases, obeys, and loses nothing when either side goes away."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from runners.agent import outbox as outbox_module
from runners.agent.agent import Agent, introduce
from runners.agent.attempt import Worker
from runners.agent.client import SiteClient
from runners.agent.errors import SiteRefused
from runners.agent.outbox import Letter, Outbox
from runners.agent.pipeline import Pipeline
from runners.agent.problem_store import ProblemStore
from runners.protocol import (
    INLINE_LOG_BYTES,
    PROTOCOL_VERSION,
    Capabilities,
    GpuCapability,
    Hello,
    Provenance,
    Report,
    TrackSpec,
    Verdict,
    WireError,
    WorkStage,
)
from tests.agent.machine import Machine, shell_problem
from tests.agent.wire_site import WireSite

HELLO = Hello(protocol_version=PROTOCOL_VERSION, capabilities=Capabilities())
GOOD = {"solution.sh": "exit 0"}
Start = Callable[..., Agent]


@pytest.fixture
def site() -> Iterator[WireSite]:
    made = WireSite()
    yield made
    made.close()


@pytest.fixture
def start(site: WireSite, machine: Machine, tmp_path: Path) -> Iterator[Start]:
    """Starts agents, and stops them at the end."""
    agents: list[Agent] = []

    def begin(slots: int = 2, complaint: Callable[[], str] = str) -> Agent:
        client = site.client()
        worker = Worker(client, machine.pipeline, ProblemStore(tmp_path / "problems"))
        terms = introduce(client, HELLO)
        outbox = Outbox(tmp_path / "outbox")
        agent = Agent(client, worker, outbox, HELLO, terms, slots, given_up.set, complaint)
        agents.append(agent)
        agent.start()
        return agent

    given_up.clear()
    yield begin
    for agent in agents:
        agent.stop()


given_up = threading.Event()


def test_one_ring_drains_the_queue(site: WireSite, start: Start) -> None:
    works = [site.add(shell_problem(), {"solution.sh": f"exit {n % 2}"}) for n in range(6)]
    start()
    site.wait_until(lambda: len(site.reports) == 6)
    verdicts = [site.reports[work.attempt].verdict for work in works]
    assert verdicts == [Verdict.PASSED, Verdict.TEST_FAILED] * 3


def test_a_ring_wakes_an_idle_agent(site: WireSite, start: Start) -> None:
    agent = start()
    site.wait_until(lambda: len(site.claims) > 0)
    site.add(shell_problem(), GOOD)
    agent.ring()
    site.wait_until(lambda: len(site.reports) == 1)


def test_never_more_is_claimed_than_there_are_free_slots(site: WireSite, start: Start) -> None:
    for _ in range(4):
        site.add(shell_problem(), {"solution.sh": "sleep 0.2"})
    start(slots=2)
    site.wait_until(lambda: len(site.reports) == 4)
    assert max(claim.free_slots for claim in site.claims) == 2
    assert len({claim.boot_id for claim in site.claims}) == 1


def test_a_problem_is_fetched_once(site: WireSite, start: Start, tmp_path: Path) -> None:
    work = site.add(shell_problem(), GOOD)
    site.add(shell_problem(), {"solution.sh": "exit 1"})
    start(slots=1)
    site.wait_until(lambda: len(site.reports) == 2)
    assert (tmp_path / "problems" / work.problem.sha256).read_bytes() == site.blobs[work.problem.sha256]


def test_long_logs_are_put_before_the_report_that_names_them(site: WireSite, start: Start) -> None:
    work = site.add(shell_problem(), {"solution.sh": f"head -c {2 * INLINE_LOG_BYTES} /dev/zero | tr '\\0' x"})
    start()
    site.wait_until(lambda: work.attempt in site.reports)
    blob = site.reports[work.attempt].steps[-1].log.blob
    assert blob is not None
    assert len(site.put[blob.sha256]) == 2 * INLINE_LOG_BYTES


def test_heartbeats_tell_the_stage_and_show_the_build_alone(site: WireSite, start: Start) -> None:
    problem = shell_problem(build_command="echo compiling; sleep 0.5", timeout_seconds=10)
    work = site.add(problem, {"solution.sh": "echo secret of the test; sleep 0.5"})
    start()
    site.wait_until(lambda: work.attempt in site.reports)
    tails = {beat.stage: beat.log_tail for beat in site.heartbeats}
    assert tails[WorkStage.BUILDING] == "compiling\n"
    assert tails[WorkStage.TESTING] == ""


def test_cancelled_work_ends_without_a_report(site: WireSite, start: Start) -> None:
    site.add(shell_problem(timeout_seconds=30), {"solution.sh": "sleep 30"})
    site.cancelled = True
    agent = start(slots=1)
    site.wait_until(lambda: len(site.heartbeats) > 0)
    site.cancelled = False
    after = site.add(shell_problem(), GOOD)
    agent.ring()
    site.wait_until(lambda: after.attempt in site.reports)
    assert list(site.reports) == [after.attempt]
    assert site.released == []


def test_a_lost_lease_ends_the_work(site: WireSite, start: Start) -> None:
    site.add(shell_problem(timeout_seconds=30), {"solution.sh": "sleep 30"})
    site.refuse["heartbeat"] = (404, WireError(code="unknown_attempt", message="no"))
    agent = start(slots=1)
    site.wait_until(lambda: len(site.refused) > 0)
    site.refuse.clear()
    after = site.add(shell_problem(), GOOD)
    agent.ring()
    site.wait_until(lambda: after.attempt in site.reports)


def test_a_stopping_agent_gives_its_leases_back(site: WireSite, start: Start, machine: Machine) -> None:
    works = [site.add(shell_problem(timeout_seconds=30), {"solution.sh": f"sleep 3{n}"}) for n in range(2)]
    agent = start()
    site.wait_until(lambda: any(beat.stage is WorkStage.TESTING for beat in site.heartbeats))
    agent.stop()
    assert sorted(site.released) == sorted(work.attempt for work in works)
    assert site.reports == {}
    assert machine.leftovers() == []


def test_a_drained_agent_gives_its_leases_back_and_claims_nothing_until_it_may_again(
    site: WireSite, start: Start, machine: Machine
) -> None:
    work = site.add(shell_problem(timeout_seconds=30), {"solution.sh": "sleep 30"})
    agent = start(slots=1)
    site.wait_until(lambda: any(beat.stage is WorkStage.TESTING for beat in site.heartbeats))
    agent.drain("the GPU has fallen off the bus")
    site.wait_until(lambda: site.released == [work.attempt])
    after = site.add(shell_problem(), GOOD)
    agent.ring()
    n_claims = len(site.claims)
    threading.Event().wait(0.3)
    assert (len(site.claims), site.reports) == (n_claims, {})
    agent.resume()
    site.wait_until(lambda: after.attempt in site.reports)
    assert machine.leftovers() == []


def test_a_job_that_failed_on_failing_hardware_goes_back_instead_of_counting(site: WireSite, start: Start) -> None:
    failed = site.add(shell_problem(), {"solution.sh": "exit 1"})
    passed = site.add(shell_problem(), GOOD)
    start(slots=1, complaint=lambda: "Xid 79")
    site.wait_until(lambda: passed.attempt in site.reports)
    assert site.released == [failed.attempt]
    assert failed.attempt not in site.reports


def test_a_fault_of_the_node_is_reported_as_such_and_followed_by_a_self_test(site: WireSite, start: Start) -> None:
    work = site.add(shell_problem(context={"../outside": "x"}), GOOD)
    after = site.add(shell_problem(), GOOD)
    start(slots=1)
    site.wait_until(lambda: after.attempt in site.reports)
    report = site.reports[work.attempt]
    assert report.verdict == Verdict.PLATFORM_ERROR
    assert "outside the workspace" in report.fault
    assert site.reports[after.attempt].verdict == Verdict.PASSED


def test_a_report_waits_on_disk_while_the_site_is_away(
    site: WireSite, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runners.agent.client.FIRST_WAIT_SECONDS", 0.01)
    work = site.add(shell_problem(timeout_seconds=30), {"solution.sh": "sleep 0.5"})
    agent = start()
    site.wait_until(lambda: any(beat.stage is WorkStage.TESTING for beat in site.heartbeats))
    site.away = True
    kept = tmp_path / "outbox" / f"{work.attempt}.json"
    for _ in range(200):
        if kept.exists():
            break
        threading.Event().wait(0.05)
    assert kept.stat().st_mode & 0o077 == 0
    site.away = False
    agent.stop()
    start()
    site.wait_until(lambda: work.attempt in site.reports)
    assert not kept.exists()


def test_a_refused_claim_for_good_makes_the_agent_give_up(site: WireSite, start: Start) -> None:
    site.refuse["claim"] = (426, WireError(code="protocol_version", message="update"))
    start()
    assert given_up.wait(10)


def test_an_unknown_token_is_refused_with_the_site_s_words(site: WireSite) -> None:
    with pytest.raises(SiteRefused) as refused:
        introduce(SiteClient(site.url, "wrong"), HELLO)
    assert refused.value.status == 401


def letter(name: int) -> Letter:
    from uuid import UUID

    report = Report(verdict=Verdict.PASSED, provenance=Provenance())
    return Letter(UUID(int=name), "secret", report.model_dump_json().encode(), {"a" * 64: b"log"})


def test_a_final_refusal_drops_the_letter(site: WireSite, tmp_path: Path) -> None:
    site.refuse["report"] = (409, WireError(code="superseded", message="another took it"))
    box = Outbox(tmp_path)
    assert box.deliver(site.client(), letter(1))
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_letter_does_not_hold_up_the_others(site: WireSite, tmp_path: Path) -> None:
    box = Outbox(tmp_path)
    (tmp_path / "broken.json").write_text("{")
    box._keep(letter(2))
    assert box.flush(site.client()) == 0
    assert len(site.reports) == 1
    assert site.put == {"a" * 64: b"log"}
    assert list(tmp_path.iterdir()) == []


def test_the_outbox_module_keeps_bytes_as_they_are(tmp_path: Path) -> None:
    one = letter(3)
    Outbox(tmp_path)._keep(one)
    (path,) = tmp_path.iterdir()
    assert outbox_module._read(path) == one


def test_work_of_a_gpu_track_goes_to_gpus_of_its_kind(site: WireSite, machine: Machine, tmp_path: Path) -> None:
    kinds = [("GPU-a", "NVIDIA H200"), ("GPU-b", "NVIDIA L4"), ("GPU-c", "NVIDIA H200")]
    gpus = [GpuCapability(uuid=uuid, name=name, compute_capability="9.0") for uuid, name in kinds]
    environment = replace(machine.environment, capabilities=Capabilities(gpus=gpus))
    worker = Worker(site.client(), Pipeline(environment), ProblemStore(tmp_path / "problems"))
    for hardware, device, expected in (
        ("NVIDIA H200", "gpu", ("GPU-a", "GPU-c")),
        ("nvidia l4", "gpu", ("GPU-b",)),
        ("", "gpu", ("GPU-a", "GPU-b", "GPU-c")),
        ("Xeon", "cpu", ()),
    ):
        track = TrackSpec(slug="t", device=device, hardware_name=hardware)
        work = site.add(shell_problem(), GOOD, track=track)
        assert worker.task(work).devices == expected

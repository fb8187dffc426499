"""A node at work: it claims, reports, keeps leases, obeys, and loses nothing when either side goes away.

Its messages lie in a true broker, a folder; the site is a stand-in that speaks the wire protocol.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from amqp.exceptions import AccessRefused
from celery.events import EventDispatcher

from runners.agent import grading, upkeep
from runners.agent.grading import Grader
from runners.agent.ground.errors import SandboxFault, SiteRefused
from runners.agent.inbox import LOOK_SECONDS
from runners.agent.judges.command.judge import TESTING
from runners.agent.judges.registry import Judges
from runners.agent.link import outbox as outbox_module
from runners.agent.link.client import SiteClient
from runners.agent.link.outbox import Letter, Outbox
from runners.agent.link.problem_store import ProblemStore
from runners.agent.node import Agent
from runners.agent.upkeep import introduce
from runners.wire.broker import celery_settings
from runners.wire.protocol import (
    BUILDING,
    INLINE_LOG_BYTES,
    PROTOCOL_VERSION,
    REPORTING,
    Capabilities,
    GpuCapability,
    Grant,
    Hello,
    Provenance,
    Report,
    Stage,
    TrackSpec,
    Verdict,
    WireError,
)
from runners.wire.queues import CLAIMED_EVENT
from tests.agent.machine import Machine, shell_problem
from tests.agent.test_full_disk import Disk, on
from tests.agent.wire_site import WireSite
from tests.requirements import RABBITMQ_URL, REDIS_URL, requires

HELLO = Hello(protocol_version=PROTOCOL_VERSION, capabilities=Capabilities())
GOOD = {"solution.sh": "exit 0"}
LONG = {"solution.sh": "sleep 30"}
Start = Callable[..., Agent]


on_each_broker = pytest.mark.parametrize(
    "broker_url",
    [
        "filesystem://",
        pytest.param(REDIS_URL, marks=requires("redis")),
        pytest.param(RABBITMQ_URL, marks=requires("rabbitmq")),
    ],
    ids=["folder", "redis", "rabbitmq"],
)


@pytest.fixture
def broker_url() -> str:
    return "filesystem://"


@pytest.fixture
def site(broker_url: str, tmp_path: Path) -> Iterator[WireSite]:
    made = WireSite(broker_url, tmp_path / "broker")
    yield made
    made.close()


@pytest.fixture
def start(
    site: WireSite, machine: Machine, tmp_path: Path, broker_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Start]:
    """Starts nodes, and stops them at the end."""
    monkeypatch.setattr(upkeep, "RETRY_SECONDS", 0.1)
    monkeypatch.setattr(upkeep, "REFRESH_SECONDS", 0.1)
    nodes: list[Agent] = []

    def begin(
        slots: int = 2, complaint: Callable[[], str] = str, events: bool = False, judges: Judges = machine.judges
    ) -> Agent:
        client = site.client()
        grader = Grader(client, judges, ProblemStore(tmp_path / "problems"))
        outbox = Outbox(tmp_path / "outbox")
        celery = celery_settings(broker_url, tmp_path / "broker", events)
        node = Agent(client, grader, outbox, HELLO, introduce(client, HELLO), slots, celery, complaint)
        nodes.append(node)
        node.start()
        return node

    yield begin
    for node in nodes:
        node.stop()


def test_each_message_gets_one_job_done(site: WireSite, start: Start) -> None:
    works = [site.add(shell_problem(), {"solution.sh": f"exit {n % 2}"}) for n in range(6)]
    start()
    site.wait_until(lambda: len(site.reports) == 6)
    verdicts = [site.reports[work.attempt].verdict for work in works]
    assert verdicts == [Verdict.PASSED, Verdict.TEST_FAILED] * 3
    assert (len(site.claims), site.n_ready) == (6, 0)


def test_a_message_wakes_an_idle_node(site: WireSite, start: Start) -> None:
    start()
    site.wait_until(lambda: any(hello.boot_id for hello in site.hellos))
    site.add(shell_problem(), GOOD)
    site.wait_until(lambda: len(site.reports) == 1)


def test_a_message_without_a_job_ends_idle(site: WireSite, start: Start) -> None:
    site.publish(3)
    start()
    site.wait_until(lambda: len(site.claims) == 3)
    work = site.add(shell_problem(), GOOD)
    site.wait_until(lambda: work.attempt in site.reports)
    assert site.n_ready == 0


@on_each_broker
def test_two_nodes_share_the_messages_though_the_first_had_them_all_to_itself(site: WireSite, start: Start) -> None:
    for _ in range(7):
        site.add(shell_problem(timeout_seconds=60), LONG)
    start(slots=1)
    site.wait_until(lambda: len(site.claims) == 3)
    start(slots=1)
    site.wait_until(lambda: (len(site.claims), site.n_ready) == (6, 1))
    threading.Event().wait(0.3)
    assert (len(site.claims), len(site.queue), site.n_ready) == (6, 1, 1)


@on_each_broker
def test_a_busy_node_leaves_the_messages_beyond_its_slots_of_both_lanes_and_one_to_others(
    site: WireSite, start: Start
) -> None:
    for _ in range(5):
        site.add(shell_problem(timeout_seconds=60), LONG)
    start(slots=1)
    site.wait_until(lambda: (len(site.claims), site.n_ready) == (3, 2))
    threading.Event().wait(0.3)
    assert (len(site.claims), len(site.queue), site.n_ready) == (3, 2, 2)


def test_a_node_keeps_one_boot_id_for_its_life(site: WireSite, start: Start) -> None:
    node = start()
    site.wait_until(lambda: any(hello.boot_id for hello in site.hellos))
    node.stop()
    n_hellos = len(site.hellos)
    start()
    site.wait_until(lambda: any(hello.boot_id for hello in site.hellos[n_hellos:]))
    first = {hello.boot_id for hello in site.hellos[:n_hellos]} - {None}
    second = {hello.boot_id for hello in site.hellos[n_hellos:]} - {None}
    assert len(first) == len(second) == len(first ^ second) / 2 == 1


def test_a_problem_is_fetched_once(site: WireSite, start: Start, tmp_path: Path) -> None:
    work = site.add(shell_problem(), GOOD)
    site.add(shell_problem(), {"solution.sh": "exit 1"})
    start(slots=1)
    site.wait_until(lambda: len(site.reports) == 2)
    assert (tmp_path / "problems" / work.problem.record.sha256).read_bytes() == site.blobs[work.problem.record.sha256]


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
    assert tails[BUILDING] == "compiling\n"
    assert tails[TESTING] == ""


def test_cancelled_work_ends_without_a_report(site: WireSite, start: Start) -> None:
    site.add(shell_problem(timeout_seconds=30), {"solution.sh": "sleep 30"})
    site.cancelled = True
    start(slots=1)
    site.wait_until(lambda: len(site.heartbeats) > 0)
    site.cancelled = False
    after = site.add(shell_problem(), GOOD)
    site.wait_until(lambda: after.attempt in site.reports)
    assert list(site.reports) == [after.attempt]
    assert site.released == []


def test_a_lost_lease_ends_the_work(site: WireSite, start: Start) -> None:
    site.add(shell_problem(timeout_seconds=30), {"solution.sh": "sleep 30"})
    site.refuse["heartbeat"] = (404, WireError(code="unknown_attempt", message="no"))
    start(slots=1)
    site.wait_until(lambda: len(site.refused) > 0)
    site.refuse.clear()
    after = site.add(shell_problem(), GOOD)
    site.wait_until(lambda: after.attempt in site.reports)


@on_each_broker
def test_a_stopping_node_gives_its_leases_and_their_messages_back(
    site: WireSite, start: Start, machine: Machine
) -> None:
    works = [site.add(shell_problem(timeout_seconds=30), {"solution.sh": f"sleep 3{n}"}) for n in range(2)]
    node = start()
    site.wait_until(lambda: len(site.claims) == 2)
    site.wait_until(lambda: any(beat.stage == TESTING for beat in site.heartbeats))
    node.stop()
    assert sorted(site.released) == sorted(work.attempt for work in works)
    site.wait_until(lambda: site.n_ready == 2)
    assert site.reports == {}
    assert machine.leftovers() == []


def test_begun_work_ends_within_the_grace_and_the_rest_goes_back(site: WireSite, start: Start) -> None:
    """One slot: the first job is at its test, and the others wait for the slot."""
    works = [site.add(shell_problem(timeout_seconds=30), {"solution.sh": f"sleep 2; exit {n}"}) for n in range(2)]
    node = start(slots=1)
    site.wait_until(lambda: any(beat.stage == TESTING for beat in site.heartbeats))
    node.stop(grace_seconds=30)
    assert site.reports.keys() | set(site.released) == {work.attempt for work in works}
    begun = {attempt for attempt, stage in site.beaten if stage == TESTING}
    assert begun <= site.reports.keys()
    assert not site.reports.keys() & set(site.released)


def test_what_does_not_end_within_the_grace_goes_back(site: WireSite, start: Start) -> None:
    work = site.add(shell_problem(timeout_seconds=60), LONG)
    node = start(slots=1)
    site.wait_until(lambda: any(beat.stage == TESTING for beat in site.heartbeats))
    began = time.monotonic()
    node.stop(grace_seconds=1)
    assert 1 <= time.monotonic() - began < 20
    assert (site.released, site.reports) == ([work.attempt], {})


def test_a_node_without_work_for_so_long_ends(site: WireSite, start: Start) -> None:
    work = site.add(shell_problem(), GOOD)
    node = start()
    began = time.monotonic()
    node.wait(until_idle_seconds=1.5)
    assert time.monotonic() - began >= 1.5
    assert work.attempt in site.reports


def test_a_node_whose_place_another_process_has_taken_ends(site: WireSite, start: Start) -> None:
    node = start()
    site.refuse["heartbeat"] = (409, WireError(code="another_process", message="Another process is at work."))
    node.wait()
    assert node.refused is not None
    assert node.refused.error.code == "another_process"


@on_each_broker
def test_a_drained_node_gives_its_leases_back_and_eats_no_message_until_it_may_again(
    site: WireSite, start: Start, machine: Machine
) -> None:
    work = site.add(shell_problem(timeout_seconds=30), LONG)
    node = start(slots=1)
    site.wait_until(lambda: any(beat.stage == TESTING for beat in site.heartbeats))
    node.drain("the GPU has fallen off the bus")
    site.wait_until(lambda: site.released == [work.attempt])
    after = site.add(shell_problem(), GOOD)
    site.wait_until(lambda: site.n_ready == 2)  # its consumer may have taken one as it ended, and puts it back
    n_claims = len(site.claims)
    threading.Event().wait(0.3)
    assert (len(site.claims), site.reports, site.n_ready) == (n_claims, {}, 2)
    node.resume()
    site.wait_until(lambda: after.attempt in site.reports)
    assert machine.leftovers() == []


def test_a_disabled_node_eats_no_message_and_works_again_once_it_is_enabled(site: WireSite, start: Start) -> None:
    start()
    site.wait_until(lambda: any(hello.boot_id for hello in site.hellos))
    site.disabled_reason = "the fan is broken"
    works = [site.add(shell_problem(), {"solution.sh": f"exit {n}"}) for n in range(4)]
    site.wait_until(lambda: len(site.claims) > 0)
    site.wait_until(lambda: site.n_ready == 4)
    assert (len(site.queue), site.reports) == (4, {})
    site.disabled_reason = ""
    site.wait_until(lambda: len(site.reports) == len(works))


def test_a_node_serves_a_stage_that_is_granted_later(site: WireSite, start: Start) -> None:
    site.grants = [Grant(track="another", stage=Stage.BUILD)]
    node = start()
    waiting = threading.Thread(target=node.wait)
    waiting.start()
    work = site.add(shell_problem(), GOOD)
    threading.Event().wait(0.3)
    assert (site.claims, site.n_ready) == ([], 1)
    site.grants = [Grant(track=site.track, stage=Stage.BOTH)]
    site.wait_until(lambda: work.attempt in site.reports)
    node.stop()
    waiting.join(10)
    assert not waiting.is_alive()


def test_a_job_that_failed_on_failing_hardware_goes_back_instead_of_counting(site: WireSite, start: Start) -> None:
    failed = site.add(shell_problem(), {"solution.sh": "exit 1"})
    passed = site.add(shell_problem(), GOOD)
    start(slots=1, complaint=lambda: "Xid 79")
    site.wait_until(lambda: passed.attempt in site.reports and len(site.released) > 0)
    assert site.released == [failed.attempt]
    assert failed.attempt not in site.reports


def fail_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first sample meets a fault of the sandbox's."""
    judge, failed = Judges.judge, threading.Event()

    def judging(judges: Judges, *given: Any) -> Any:
        if not failed.is_set():
            failed.set()
            raise SandboxFault("the sandbox fell over")
        return judge(judges, *given)

    monkeypatch.setattr(Judges, "judge", judging)


def test_a_fault_of_the_node_is_reported_as_such_and_followed_by_a_self_test(
    site: WireSite, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_once(monkeypatch)
    work = site.add(shell_problem(), GOOD)
    start(slots=1)
    site.wait_until(lambda: work.attempt in site.reports)
    after = site.add(shell_problem(), GOOD)
    site.wait_until(lambda: after.attempt in site.reports)
    report = site.reports[work.attempt]
    assert report.verdict == Verdict.PLATFORM_ERROR
    assert "fell over" in report.fault
    assert site.reports[after.attempt].verdict == Verdict.PASSED


def test_a_node_in_doubt_eats_no_message_until_its_self_test_passes(
    site: WireSite, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints = ["no space left on device"]
    monkeypatch.setattr(grading, "complaint_of", lambda _: complaints[0] if complaints else "")
    fail_once(monkeypatch)
    faulty = site.add(shell_problem(), GOOD)
    start()
    site.wait_until(lambda: faulty.attempt in site.reports)
    after = site.add(shell_problem(), GOOD)
    threading.Event().wait(0.5)
    assert (len(site.claims), site.n_ready) == (1, 1)
    complaints.clear()
    site.wait_until(lambda: after.attempt in site.reports)


def test_a_report_waits_on_disk_while_the_site_is_away(
    site: WireSite, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runners.agent.link.client.BACKOFF_SECONDS", 0.01)
    work = site.add(shell_problem(timeout_seconds=30), {"solution.sh": "sleep 0.5"})
    node = start()
    site.wait_until(lambda: any(beat.stage == TESTING for beat in site.heartbeats))
    site.away = True
    kept = tmp_path / "outbox" / f"{work.attempt}.letter"
    wait_for_file(kept)
    assert kept.stat().st_mode & 0o077 == 0
    node.stop()
    site.away = False
    n_hellos = len(site.hellos)
    start()
    site.wait_until(lambda: any(hello.boot_id for hello in site.hellos[n_hellos:]))
    assert work.attempt in site.reports, "the report goes before the boot id, which returns the lease"
    assert not kept.exists()


def test_a_node_with_an_unsent_report_eats_no_message_until_it_is_sent(
    site: WireSite, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runners.agent.link.client.BACKOFF_SECONDS", 0.01)
    first = site.add(shell_problem(), {"solution.sh": "sleep 0.2"})
    site.refuse["report"] = (503, WireError(code="away", message="no disk"))
    start()
    wait_for_file(tmp_path / "outbox" / f"{first.attempt}.letter")
    second = site.add(shell_problem(), GOOD)
    threading.Event().wait(0.5)
    assert (len(site.claims), site.n_ready) == (1, 1)
    site.refuse.clear()
    site.wait_until(lambda: site.reports.keys() == {first.attempt, second.attempt})


LOGS_MUCH = {"solution.sh": f"head -c {2 * INLINE_LOG_BYTES} /dev/zero | tr '\\0' x"}


@pytest.mark.parametrize("restarted", [False, True])
def test_an_attempt_keeps_its_lease_while_its_report_waits(
    site: WireSite, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restarted: bool
) -> None:
    """The blob store is down: the site takes no log, though it answers hellos and heartbeats."""
    monkeypatch.setattr("runners.agent.link.client.BACKOFF_SECONDS", 0.01)
    work = site.add(shell_problem(), LOGS_MUCH)
    node = start(slots=1)
    site.wait_until(lambda: len(site.claims) == 1)
    site.blobs_are_down = True
    wait_for_file(tmp_path / "outbox" / f"{work.attempt}.letter")
    if restarted:
        node.stop()
        start(slots=1)
    n_beats, n_claims = len(site.beaten), len(site.claims)
    site.wait_until(lambda: site.beaten[n_beats:].count((work.attempt, REPORTING)) > 3)
    site.wait_until(lambda: site.hellos[-1].obstacle == "reports are unsent")
    assert len(site.claims) == n_claims
    site.blobs_are_down = False
    site.wait_until(lambda: work.attempt in site.reports)
    site.wait_until(lambda: site.hellos[-1].obstacle == "")
    assert (site.reports[work.attempt].verdict, site.released) == (Verdict.PASSED, [])


def test_a_node_whose_claims_fail_waits_between_them(
    site: WireSite, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "PAUSE_SECONDS", 0.0)
    site.refuse["claim"] = (503, WireError(code="blobs_unavailable", message="no store"))
    work = site.add(shell_problem(), GOOD)
    began = time.monotonic()
    start(slots=1)
    site.wait_until(lambda: len(site.refused) == 4)
    assert time.monotonic() - began >= 3 * upkeep.RETRY_SECONDS
    site.refuse.clear()
    site.wait_until(lambda: work.attempt in site.reports)


def test_a_job_whose_files_cannot_be_fetched_goes_back(
    site: WireSite, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runners.agent.link.client.BACKOFF_SECONDS", 0.01)
    work = site.add(shell_problem(), {"solution.sh": "exit 0 # nobody else's file"})
    site.refuse[work.solution.sha256] = (503, WireError(code="blobs_unavailable", message="no store"))
    start(slots=1)
    site.wait_until(lambda: site.released == [work.attempt])
    site.refuse.clear()
    site.queue.append(work)
    site.wait_until(lambda: work.attempt in site.reports)


def test_a_node_short_of_space_eats_no_message_and_says_why_until_it_has_space_again(
    site: WireSite, start: Start, fresh_machine: Machine
) -> None:
    disk = Disk()
    start(judges=on(fresh_machine, disk).judges)
    site.wait_until(lambda: any(hello.boot_id for hello in site.hellos))
    disk.free_bytes = 0
    work = site.add(shell_problem(), GOOD)
    site.wait_until(lambda: site.hellos[-1].obstacle == "its disk is too full: less than 1,024 MiB are free")
    site.wait_until(lambda: site.n_ready == 1)
    assert (site.claims, site.reports) == ([], {})
    disk.free_bytes = 100 << 30
    site.wait_until(lambda: work.attempt in site.reports)
    site.wait_until(lambda: site.hellos[-1].obstacle == "")


def test_a_job_that_failed_on_a_full_disk_goes_back_and_keeps_no_failure(
    site: WireSite, start: Start, fresh_machine: Machine
) -> None:
    disk = Disk()
    machine = on(fresh_machine, disk)

    def fill_when_a_command_runs() -> None:
        if machine.leftovers():
            disk.free_bytes = 0

    disk.looked = fill_when_a_command_runs
    work = site.add(shell_problem(build_command="exit 1"), GOOD)
    start(slots=1, judges=machine.judges)
    site.wait_until(lambda: site.released == [work.attempt])
    assert site.reports == {}
    disk.looked = lambda: None
    disk.free_bytes = 100 << 30
    site.queue.append(work)
    site.wait_until(lambda: work.attempt in site.reports)
    report = site.reports[work.attempt]
    assert (report.verdict, report.provenance.build_cached) == (Verdict.BUILD_FAILED, False)


def test_a_site_that_is_away_costs_no_message(site: WireSite, start: Start) -> None:
    start()
    site.wait_until(lambda: any(hello.boot_id for hello in site.hellos))
    site.away = True
    works = [site.add(shell_problem(), {"solution.sh": f"exit {n}"}) for n in range(3)]
    threading.Event().wait(2 * LOOK_SECONDS)  # the node has fetched some by now
    site.wait_until(lambda: site.n_ready == 3)
    site.away = False
    site.wait_until(lambda: len(site.reports) == len(works))


@on_each_broker
def test_events_name_the_evaluation_the_node_and_the_verdict(site: WireSite, start: Start) -> None:
    seen: list[dict[str, Any]] = []

    def of_worker(kind: str) -> list[dict[str, Any]]:
        return [one for one in seen if one["type"] == kind and one["hostname"] == "both@node-1"]

    with site.celery.connection_for_read() as connection:
        receiver = site.celery.events.Receiver(connection, handlers={"*": seen.append})
        with receiver.consumer_context(wakeup=False) as (receiving, _, _):

            def receive() -> None:
                with suppress(TimeoutError):
                    receiving.drain_events(timeout=0.1)

            receive()  # Redis: subscribes
            start(events=True)
            work = site.add(shell_problem(), GOOD, evaluation=4711)
            deadline = time.monotonic() + 10
            while not of_worker("task-succeeded") and time.monotonic() < deadline:
                receive()
    (claimed,), (succeeded,) = of_worker("task-claimed"), of_worker("task-succeeded")
    assert (claimed["evaluation"], claimed["attempt"]) == (4711, str(work.attempt))
    assert claimed["uuid"] == succeeded["uuid"]
    assert "4711" in succeeded["result"]
    assert "passed" in succeeded["result"]
    assert of_worker("worker-online")


def test_an_event_that_the_broker_refuses_costs_no_job(
    site: WireSite, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = EventDispatcher.send

    def refusing(self: EventDispatcher, kind: str, **about: Any) -> Any:
        if kind == CLAIMED_EVENT:
            raise AccessRefused("access to exchange 'celeryev' refused")
        return send(self, kind, **about)

    monkeypatch.setattr(EventDispatcher, "send", refusing)
    start(events=True)
    work = site.add(shell_problem(), GOOD)
    site.wait_until(lambda: work.attempt in site.reports)


def test_a_refusal_for_good_ends_the_node(site: WireSite, start: Start) -> None:
    site.add(shell_problem(), GOOD)
    site.refuse["claim"] = (426, WireError(code="protocol_version", message="update"))
    node = start()
    node.wait()
    assert node.refused is not None
    assert node.refused.status == 426


def test_an_unknown_token_is_refused_with_the_site_s_words(site: WireSite) -> None:
    with pytest.raises(SiteRefused) as refused:
        introduce(SiteClient(site.url, "wrong"), HELLO)
    assert refused.value.status == 401


def wait_for_file(path: Path) -> None:
    for _ in range(200):
        if path.exists():
            return
        threading.Event().wait(0.05)
    raise AssertionError(f"{path} did not appear")


def letter(name: int) -> Letter:
    from uuid import UUID

    report = Report(verdict=Verdict.PASSED, provenance=Provenance())
    return Letter(UUID(int=name), "secret", report.model_dump_json().encode(), {"a" * 64: b"log"})


def test_a_final_refusal_drops_the_letter(site: WireSite, tmp_path: Path) -> None:
    site.refuse["report"] = (409, WireError(code="superseded", message="another took it"))
    box = Outbox(tmp_path / "outbox")
    assert box.deliver(site.client(), letter(1))
    assert list((tmp_path / "outbox").iterdir()) == []


def change_the_verdict(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"passed", b"failed"))


def cut_it_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def make_it_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("restarted", [True, False])
@pytest.mark.parametrize("damage", [change_the_verdict, cut_it_short, make_it_a_folder])
def test_a_damaged_letter_is_dropped_and_does_not_hold_up_the_others(
    site: WireSite, tmp_path: Path, damage: Callable[[Path], None], restarted: bool
) -> None:
    box = Outbox(tmp_path / "outbox")
    box._keep(letter(1))
    (path,) = (tmp_path / "outbox").iterdir()
    box._keep(letter(2))
    damage(path)
    if restarted:
        box = Outbox(tmp_path / "outbox")
    assert box.flush(site.client()) == 0
    assert list(site.reports) == [letter(2).attempt]
    assert site.put == {"a" * 64: b"log"}
    assert (box.n_waiting(), list((tmp_path / "outbox").iterdir())) == (0, [])


@pytest.mark.rest
def test_a_letter_that_the_disk_does_not_take_is_kept_in_memory(site: WireSite, tmp_path: Path) -> None:
    box = Outbox(tmp_path / "outbox")
    (tmp_path / "outbox").rmdir()
    (tmp_path / "outbox").write_bytes(b"no folder: as on a full disk, no file can be made")
    site.away = True
    assert not box.deliver(site.client(), letter(1))
    assert (box.n_waiting(), box.flush(site.client())) == (1, 1)
    site.away = False
    assert (box.flush(site.client()), box.n_waiting()) == (0, 0)
    assert list(site.reports) == [letter(1).attempt]


def test_the_outbox_module_keeps_bytes_as_they_are(tmp_path: Path) -> None:
    one = letter(3)
    Outbox(tmp_path)._keep(one)
    (path,) = tmp_path.iterdir()
    assert outbox_module._read(path) == one


def test_work_of_a_gpu_track_goes_to_gpus_of_its_kind(site: WireSite, machine: Machine, tmp_path: Path) -> None:
    kinds = [("GPU-a", "NVIDIA H200"), ("GPU-b", "NVIDIA L4"), ("GPU-c", "NVIDIA H200")]
    gpus = [GpuCapability(uuid=uuid, name=name, compute_capability="9.0") for uuid, name in kinds]
    environment = replace(machine.environment, capabilities=Capabilities(gpus=gpus))
    grader = Grader(site.client(), Judges(environment), ProblemStore(tmp_path / "problems"))
    for hardware, device, expected in (
        ("NVIDIA H200", "gpu", ("GPU-a", "GPU-c")),
        ("nvidia l4", "gpu", ("GPU-b",)),
        ("", "gpu", ("GPU-a", "GPU-b", "GPU-c")),
        ("Xeon", "cpu", ()),
    ):
        track = TrackSpec(slug="t", device=device, hardware_name=hardware)
        work = site.add(shell_problem(), GOOD, track=track)
        assert grader.job(work).devices == expected

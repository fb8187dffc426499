"""A node at work: Celery workers whose task claims one job, grades it and reports it."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from celery import Celery, Task
from celery.exceptions import Reject

from runners.agent.claims import Claims
from runners.agent.fitness import Fitness, Obstacle
from runners.agent.grading import Grader
from runners.agent.ground.errors import Cancelled, SiteRefused, SiteUnavailable
from runners.agent.leases import LeasedAttempt, Leases
from runners.agent.link.client import SiteClient
from runners.agent.link.outbox import Outbox
from runners.agent.stage_worker import StageWorker, make_app
from runners.agent.upkeep import Upkeep
from runners.wire.job import Work
from runners.wire.log_lines import lines_about
from runners.wire.protocol import Hello, HelloReply, Report, Stage, Verdict
from runners.wire.queues import CLAIMED_EVENT, GRADE, queue_name

logger = logging.getLogger(__name__)

SPARE_SLOTS = 1
"""Jobs of a stage beyond its lane's slots. Their files are transferred while other jobs use the slots."""
LOOK_SECONDS = 0.5
IDLE = "idle"


class Agent:
    """Serves the site's `terms` with `slots` jobs in each lane at a time, and one that is being fetched.

    `celery` is what `runners.wire.broker.celery_settings` returns.

    `drain` and `resume` may be called from any thread. `complaint` is called before a failed job is reported; it
    returns "" if the hardware is healthy.
    """

    def __init__(
        self,
        client: SiteClient,
        grader: Grader,
        outbox: Outbox,
        hello: Hello,
        terms: HelloReply,
        slots: int,
        celery: Mapping[str, Any],
        complaint: Callable[[], str] = str,
    ) -> None:
        self._grader, self._complaint = grader, complaint
        self._slots, self._name = slots, terms.node
        self._stopping = threading.Event()
        self._fitness = Fitness()
        boot_id = uuid4()
        self._upkeep = Upkeep(
            client, outbox, hello, terms, self._fitness, grader.self_test, grader.shortage, self._give_up, boot_id
        )
        self._leases = Leases(
            client, outbox, terms.heartbeat_seconds, lambda: self._upkeep.known_boot_id, self._upkeep.failed
        )
        client.alive = self._leases.attempts
        self._claims = Claims(client, boot_id)
        self._app = self._make_app(celery)
        self._workers: dict[Stage, StageWorker] = {}
        self.refused: SiteRefused | None = None
        """The final refusal of this node by the site, if any."""

    def start(self) -> None:
        self._upkeep.start()
        self._leases.start()
        self._start_workers()

    def wait(self, until_idle_seconds: float | None = None) -> None:
        """Return once the node is stopping, or has had no work for so long. Meanwhile, start a worker for each stage
        that is granted later."""
        busy_at = time.monotonic()
        while not self._stopping.wait(LOOK_SECONDS):
            self._start_workers()
            if self._leases.attempts():
                busy_at = time.monotonic()
            if until_idle_seconds is not None and time.monotonic() - busy_at >= until_idle_seconds:
                logger.info("no work for %.0f s", until_idle_seconds)
                return

    def drain(self, reason: str) -> None:
        """Take no work until `resume`, and return running jobs to the site, because the hardware may be faulty."""
        self._fitness.put(Obstacle.DRAINED, reason)
        self._leases.cancel_all()

    def resume(self) -> None:
        self._fitness.clear(Obstacle.DRAINED)

    def stop(self, grace_seconds: float = 0.0) -> None:
        """Take no more work, let begun jobs end within the grace, and return the other leases. Blocks until then."""
        self._fitness.put(Obstacle.STOPPING)
        self._stopping.set()
        end = time.monotonic() + grace_seconds
        while self._leases.attempts() and time.monotonic() < end:
            self._leases.cancel_unbegun()
            time.sleep(LOOK_SECONDS)
        self._leases.cancel_all()
        for worker in self._workers.values():
            worker.join()
        self._leases.stop()
        self._upkeep.stop()

    def _make_app(self, celery: Mapping[str, Any]) -> Celery:
        app = make_app(celery)

        @app.task(name=GRADE, bind=True, shared=False)
        def grade(task: "Task[Any, Any]", track: str, stage: str) -> dict[str, Any] | str:
            return self._grade(task, track, Stage(stage))

        return app

    def _give_up(self, refused: SiteRefused) -> None:
        logger.error("the site refuses this node: %s", refused)
        self.refused = refused
        self._stopping.set()

    def _start_workers(self) -> None:
        for stage in {grant.stage for grant in self._upkeep.terms.grants} - self._workers.keys():
            worker = StageWorker(
                self._app,
                self._worker_name(stage),
                self._jobs_of(stage),
                lambda stage=stage: self._queues(stage),  # type: ignore[misc]
                self._stopping,
                self._upkeep.note_broker,
            )
            self._workers[stage] = worker
            worker.start()

    def _jobs_of(self, stage: Stage) -> int:
        """A job that is built and run here needs slots of both lanes in turn, so each lane gets as many."""
        lanes = 2 if stage is Stage.BOTH else 1
        return lanes * self._slots + SPARE_SLOTS

    def _worker_name(self, stage: Stage) -> str:
        return f"{stage.value}@{self._name}"

    def _queues(self, stage: Stage) -> list[str]:
        """The queues to consume now; none while there is an obstacle."""
        grants = self._upkeep.terms.grants if self._fitness.is_fit else []
        return [queue_name(one.track, stage) for one in grants if one.stage is stage]

    def _grade(self, task: "Task[Any, Any]", track: str, stage: Stage) -> dict[str, Any] | str:
        """The Celery task: one job of this queue. A message whose job this node does not do goes back to its queue."""
        work = self._claim(track, stage)
        if work is None:
            return IDLE
        self._tell(task, work)
        about = lines_about(attempt=work.attempt, evaluation=work.evaluation)
        with about, self._leases.holding(work) as lease:
            if not self._may_work():  # since the claim began
                lease.live.cancel()
            verdict = self._do(lease)
        return {"evaluation": work.evaluation, "attempt": str(work.attempt), "verdict": verdict}

    def _claim(self, track: str, stage: Stage) -> Work | None:
        self._upkeep.check_disk()
        if not self._fitness.is_fit:
            raise Reject("this node takes no work", requeue=True)
        try:
            return self._claims.take(track, stage)
        except (SiteUnavailable, SiteRefused) as error:
            self._upkeep.failed(error)
            raise Reject(str(error), requeue=True) from error

    def _tell(self, task: "Task[Any, Any]", work: Work) -> None:
        """Add the evaluation's name to the task's Celery events. A job does not depend on the broker's taking it."""
        if not task.app.conf.worker_send_task_events:
            return
        names = {"uuid": task.request.id, "evaluation": work.evaluation, "attempt": str(work.attempt)}
        errors = task.app.connection_for_write()  # of this transport; it does not connect
        try:
            with task.app.events.default_dispatcher(hostname=self._worker_name(work.rules.stage)) as dispatcher:
                dispatcher.send(CLAIMED_EVENT, **names)
        except (*errors.connection_errors, *errors.channel_errors) as error:
            logger.warning("the broker takes no event: %s", error)

    def _may_work(self) -> bool:
        return not (self._fitness.has(Obstacle.STOPPING) or self._fitness.has(Obstacle.DRAINED))

    def _do(self, lease: LeasedAttempt) -> str:
        """Grade and report; returns the verdict. Raises Reject for a lease that goes back."""
        try:
            finished = self._grader.grade(lease)
        except Cancelled:
            if self._may_work():
                return "cancelled"
            raise self._given_back(lease, "this node takes no work") from None
        except SiteUnavailable as error:
            self._upkeep.failed(error)
            raise self._given_back(lease, f"its files cannot be fetched: {error}") from error
        except SiteRefused as refused:
            logger.warning("attempt %s is dropped: %s", lease.work.attempt, refused)
            return "dropped"
        if _went_badly(finished.report) and (complaint := self._complaint() or self._upkeep.check_disk()):
            raise self._given_back(lease, f"this machine may be to blame: {complaint}")
        if finished.report.fault:
            self._upkeep.doubt(finished.report.fault)
        self._upkeep.deliver(lease.letter(finished))
        return finished.report.verdict.value

    def _given_back(self, lease: LeasedAttempt, reason: str) -> Reject:
        logger.warning("attempt %s goes back: %s", lease.work.attempt, reason)
        self._leases.give_back(lease)
        return Reject(reason, requeue=True)


def _went_badly(report: Report) -> bool:
    """Whether the report shows a failure that faulty hardware could have caused."""
    return bool(report.fault) or report.verdict not in {Verdict.PASSED, Verdict.INVALID, Verdict.SKIPPED}

"""Celery workers inside the node's process: one for each stage that the node is granted."""

import logging
import threading
import time
import warnings
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from celery import Celery, signals
from celery.bootsteps import RUN  # type: ignore[attr-defined]
from celery.concurrency.thread import TaskPool
from celery.exceptions import SecurityWarning, WorkerShutdown
from celery.worker.consumer import Consumer

from runners.agent.inbox import Inbox
from runners.wire.broker import Rarely, log_rarely, refusal

TICK_SECONDS = 0.05
"""Interval at which a worker checks its queues and its free slots."""
BEAT_SECONDS = 1.0
RETRY_SECONDS, RETRY_AT_MOST_SECONDS = 1.0, 5.0

logger = logging.getLogger(__name__)


def make_app(settings: Mapping[str, Any]) -> Celery:
    """A Celery app that loads no Django, even where a shell exports DJANGO_SETTINGS_MODULE."""
    signals.setup_logging.connect(_leave_logging_alone)
    # The agent may be root: every command runs as another user, in a sandbox.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    logging.getLogger("celery").setLevel(logging.WARNING)
    log_rarely()
    # node.py logs a rejected message without a traceback.
    logging.getLogger("celery.app.trace").setLevel(logging.ERROR)
    app = Celery("podium-node", set_as_current=False, fixups=[])
    app.conf.update(settings)
    return app


def _leave_logging_alone(**_: Any) -> None:
    """Celery sets up no logging if a function is connected to this signal."""


class StageWorker:
    """Runs a Celery worker named `name` in a thread of its own, from `start` until `stopping` is set.

    `wanted` is asked continually for the names of the queues to read. `tell` is called with the reason why the broker
    cannot be used, and with "" once it can.
    """

    def __init__(
        self,
        app: Celery,
        name: str,
        slots: int,
        wanted: Callable[[], Collection[str]],
        stopping: threading.Event,
        tell: Callable[[str], object] = str,
    ) -> None:
        self._app, self._name, self._slots = app, name, slots
        self._consumer = partial(StageConsumer, wanted=wanted, stopping=stopping, tell=tell)
        self._stopping = stopping
        self._thread = threading.Thread(target=self._run, name=name)

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        """Return when the tasks under way have ended, after `stopping` was set."""
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._controller().start()  # returns when stopping, or after an error that Celery has logged
            self._stopping.wait(RETRY_SECONDS)

    def _controller(self) -> Any:
        sends_events = self._app.conf.worker_send_task_events
        return self._app.WorkController(
            hostname=self._name,
            concurrency=self._slots,
            pool=AppPool,
            consumer_cls=self._consumer,
            exclude_queues=[self._app.conf.task_default_queue],
            use_eventloop=False,  # Celery has one event loop in a process, and here are several workers
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=not sends_events,
        )


class AppPool(TaskPool):
    """A thread pool that gives each task its app and counts open tasks. Celery's pool relies on one app per process."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._guard, self._n_open = threading.Lock(), 0

    @property
    def room(self) -> int:
        """How many more tasks it can begin at once."""
        with self._guard:
            return int(self.limit) - self._n_open

    def on_apply(self, target: Any, args: Any = None, kwargs: Any = None, *rest: Any, **options: Any) -> Any:
        self._count(1)
        applied = super().on_apply(target, args, {**(kwargs or {}), "app": self.app}, *rest, **options)
        applied.f.add_done_callback(lambda _: self._count(-1))
        return applied

    def _count(self, change: int) -> None:
        with self._guard:
            self._n_open += change


class StageConsumer(Consumer):
    """Fetches messages, one at a time, from the queues that `wanted` returns, while the pool has room for their tasks.

    The node therefore holds as many messages as the pool has threads, over all queues. A broker's prefetch count does
    not bound that: RabbitMQ 4.3 counts for each queue apart, older ones for the channel or for each queue.
    """

    def __init__(
        self,
        *arguments: Any,
        wanted: Callable[[], Collection[str]],
        stopping: threading.Event,
        tell: Callable[[str], object],
        **options: Any,
    ) -> None:
        self._wanted, self._stopping, self._tell = wanted, stopping, tell
        super().__init__(*arguments, **options)
        self.amqheartbeat = self.app.conf.broker_heartbeat
        self._beat_at = 0.0
        self._rarely = Rarely()

    def ensure_connected(self, conn: Any) -> Any:
        return conn.ensure_connection(
            self._say_why, None, RETRY_SECONDS, RETRY_SECONDS, RETRY_AT_MOST_SECONDS, callback=self._leave_if_stopping
        )

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """The broker answered and refused this node, so another try at once would fail too."""
        self._say_why(exc, RETRY_AT_MOST_SECONDS)
        self._stopping.wait(RETRY_AT_MOST_SECONDS)
        self._leave_if_stopping()

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        super().on_connection_error_after_connected(exc)
        self._stopping.wait(RETRY_SECONDS)

    def call_soon_ack(self, acknowledge: Any, *arguments: Any, **options: Any) -> Any:
        """Acknowledge in this thread. Celery would use the task's, but one thread at a time may use a connection."""
        return self.call_soon(acknowledge, *arguments, **options)

    def loop(self, _: Any, connection: Any, _consumer: Any, blueprint: Any, *_rest: Any) -> None:
        """Replaces Celery's loop, which waits 2 s for messages and accepts no queue changes from another thread."""
        receive = self.create_task_handler()
        inbox = Inbox(connection, self.app.conf.accept_content, self._rarely)
        self.on_ready()
        self._tell("")
        while blueprint.state == RUN and self.connection:
            self._leave_if_stopping()
            room = self.pool.room  # counted first, so that what has ended is acknowledged before more is fetched
            self.perform_pending_operations()
            for message in inbox.fetch(self._wanted(), room):
                receive(message)
            self._beat(connection)
            try:
                connection.drain_events(timeout=TICK_SECONDS)
            except TimeoutError:
                continue

    def _leave_if_stopping(self) -> None:
        if self._stopping.is_set():
            raise WorkerShutdown(0)

    def _beat(self, connection: Any) -> None:
        """Keep the AMQP connection alive. Raises if it has died."""
        if connection.supports_heartbeats and time.monotonic() >= self._beat_at:
            self._beat_at = time.monotonic() + BEAT_SECONDS
            connection.heartbeat_check()

    def _say_why(self, error: Exception, interval_seconds: float) -> None:
        self._tell(refusal(error))
        if self._rarely.due("broker"):
            logger.warning("the broker is away, trying again every %.0f s: %s", interval_seconds, error)

"""Measures Celery's own cost on the folder broker: a large submission's messages, published and fetched, jobs empty."""

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from celery import Celery

from benchmarks.figures import BenchFigure, show
from runners.agent.stage_worker import StageWorker, make_app
from runners.fleet.queue.messages import publish
from runners.wire.broker import celery_settings
from runners.wire.protocol import Stage
from runners.wire.queues import GRADE, declared_by_site, queue_name

MESSAGES, LIMIT_S = 5660, 10.0
SLOTS, RUNS = 4, 20
TRACK = "bench"
RUN_LIMIT_S = 1.0
PATIENCE_S = 300.0


class Counter:
    """Counts the tasks of each stage; `reached` waits."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._n: dict[str, int] = {}

    def add(self, stage: str) -> None:
        with self._changed:
            self._n[stage] = self._n.get(stage, 0) + 1
            self._changed.notify_all()

    def reached(self, stage: Stage, n: int) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: self._n.get(stage.value, 0) >= n, PATIENCE_S):
                raise RuntimeError(f"only {self._n} of {n} messages were fetched")


def run() -> list[BenchFigure]:
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        settings = celery_settings("filesystem://", Path(folder))
        site = Celery("bench", set_as_current=False, fixups=[])
        site.conf.update(settings)
        counter = Counter()
        began_s = time.process_time()
        send(site, Stage.BUILD, MESSAGES)
        published_s = time.process_time()
        with node(settings, counter):
            waits_s = sorted(_wait_of_a_run(site, counter, n) for n in range(1, RUNS + 1))
            counter.reached(Stage.BUILD, MESSAGES)
        ended_s = time.process_time()
    return [
        BenchFigure(f"publish {MESSAGES} messages, processor time", published_s - began_s, "s", None, "max"),
        BenchFigure(f"publish and fetch {MESSAGES} messages, processor time", ended_s - began_s, "s", LIMIT_S, "max"),
        BenchFigure(
            "a run's message waits while builds are queued, median", waits_s[RUNS // 2], "s", RUN_LIMIT_S, "max"
        ),
    ]


def send(site: Celery, stage: Stage, n: int) -> None:
    with site.connection_for_write() as connection:
        publish(site, connection, declared_by_site(queue_name(TRACK, stage)), (TRACK, stage.value), n)


def _wait_of_a_run(site: Celery, counter: Counter, n: int) -> float:
    began = time.perf_counter()
    send(site, Stage.RUN, 1)
    counter.reached(Stage.RUN, n)
    return time.perf_counter() - began


@contextmanager
def node(settings: dict[str, Any], counter: Counter) -> Iterator[None]:
    """A node's two workers, whose jobs are empty."""
    app = make_app(settings)

    @app.task(name=GRADE, shared=False)
    def grade(track: str, stage: str) -> str:  # noqa: ARG001 - a message's arguments
        counter.add(stage)
        return "idle"

    stopping = threading.Event()
    workers = [
        StageWorker(app, f"{stage}@bench", SLOTS, lambda stage=stage: [queue_name(TRACK, stage)], stopping)  # type: ignore[misc]
        for stage in (Stage.BUILD, Stage.RUN)
    ]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        stopping.set()
        for worker in workers:
            worker.join()


if __name__ == "__main__":
    sys.exit(0 if show(run()) else 1)

"""Measures a fleet of simulated nodes on a site with PostgreSQL and a broker; the simulator's and the broker's time
are left out.

    python -m benchmarks.fleet_load grade --evaluations 10000 --nodes 100
    python -m benchmarks.fleet_load idle --nodes 1000 --seconds 120
    python -m benchmarks.fleet_load claims --per-second 50 --seconds 300
    python -m benchmarks.fleet_load rush --nodes 1000
    python -m benchmarks.fleet_load queries

PODIUM_BENCH_DATABASE_URL and PODIUM_BENCH_BROKER_URL name other services than those on 127.0.0.1. The database is made
anew, and dropped at the end.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks import fleet_site
from benchmarks.figures import BenchFigure, show
from benchmarks.fleet_nodes import Messages, SeenNode, SimulatedNode
from benchmarks.fleet_site import BROKER_URL, PORT, Processes, Spent
from benchmarks.packs import trivial_problem_pack, trivial_solution_pack

PROBLEMS = 100
GRADE_LIMIT_MS, IDLE_LIMIT_PERCENT, CLAIM_LIMIT_MS, RUSH_LIMIT_S, QUERY_LIMIT = 15.0, 30.0, 100.0, 10.0, 6
BEAT_SECONDS, HELLO_SECONDS = 10.0, 60.0


class SimulatedFleet:
    """Rows of one track with nodes, and the simulated nodes of them."""

    def __init__(self, n_nodes: int) -> None:
        from benchmarks import rows
        from runners.fleet.nodes.enrol import add_node

        self.person = rows.organiser()
        self.track = rows.cpu_track(slug=f"cpu-bench-{int(time.time())}")
        self.release = rows.published_release(trivial_problem_pack(PROBLEMS), self.person, self.track)
        self.tokens = [add_node(None, f"node-{n}", [self.track])[1] for n in range(n_nodes)]
        self.seen = SeenNode()
        self.nodes = [SimulatedNode(PORT, token, self.track.slug, self.seen) for token in self.tokens]

    def submit(self, n_evaluations: int) -> None:
        """At least as many, in submissions of ten samples of each problem at most."""
        import io

        from benchmarks import rows
        from leaderboard.actions.intake.submit import submit
        from leaderboard.intake.catalogue import catalogue_of
        from leaderboard.rows.submissions import SubmissionMetadata
        from problems.formats.submission import read_submission

        left, n = n_evaluations, 0
        while left > 0:
            samples = min(10, -(-left // PROBLEMS))
            pack = io.BytesIO(trivial_solution_pack(PROBLEMS, samples, f"s{n}"))
            entrant = rows.entrant(self.person, f"Entrant {n}".replace(" ", "-"))
            draft = read_submission(pack, "internal-bench-solutions.tar.gz", catalogue_of(self.release))
            submit(self.person, SubmissionMetadata(entrant, self.release, [self.track]), draft)
            left, n = left - samples * PROBLEMS, n + 1

    def left(self) -> int:
        from runners.fleet.models import Job, JobState

        return Job.objects.filter(state__in=[JobState.QUEUED, JobState.LEASED]).count()

    async def say_hello(self) -> None:
        """All nodes, 20 at a time."""
        turns = asyncio.Semaphore(20)

        async def one(node: SimulatedNode) -> None:
            async with turns:
                await node.hello()

        await asyncio.gather(*map(one, self.nodes))


def grade(found: Processes, fleet: SimulatedFleet, n_evaluations: int) -> list[BenchFigure]:
    from leaderboard.models import Submission
    from leaderboard.standings.rank import stale_places

    fleet.submit(n_evaluations)
    n = fleet.left()
    messages = Messages(BROKER_URL, fleet.track.slug)

    async def work(node: SimulatedNode) -> None:
        while True:
            message = await messages.take()
            if taken := await node.claim():
                await node.grade(taken)
            messages.acknowledge(message)

    async def run() -> None:
        await fleet.say_hello()
        tasks = [asyncio.create_task(work(node)) for node in fleet.nodes]
        while fleet.seen.reported < n:
            await asyncio.sleep(0.2)
            for one in tasks:
                if one.done():
                    one.result()
        for one in tasks:
            one.cancel()

    start, began = found.spent(), time.perf_counter()
    asyncio.run(run())
    seconds = time.perf_counter() - began
    while Submission.objects.exclude(state="done").exists() or stale_places():
        time.sleep(0.2)
    spent = found.spent().since(start)
    messages.stop()
    return [
        BenchFigure(f"{n} evaluations, all parts for each", spent.total / n * 1000, "ms", GRADE_LIMIT_MS, "max"),
        BenchFigure("web", spent.web / n * 1000, "ms", None, "max"),
        BenchFigure("worker", spent.worker / n * 1000, "ms", None, "max"),
        BenchFigure("PostgreSQL", spent.database / n * 1000, "ms", None, "max"),
        BenchFigure("evaluations a second", n / seconds, "/s", None, "min"),
        BenchFigure("claim, median", statistics.median(fleet.seen.claim_ms), "ms", None, "max"),
        BenchFigure("report, median", statistics.median(fleet.seen.report_ms), "ms", None, "max"),
        *outcome(),
    ]  # fmt: skip


def outcome() -> list[BenchFigure]:
    """Evaluations lost, doubled and ended as platform errors."""
    from leaderboard.models import Evaluation, Result

    lost = Evaluation.objects.exclude(state="done").count()
    doubled = Result.objects.count() - Result.objects.order_by().values("evaluation").distinct().count()
    errors = Result.objects.filter(verdict="platform_error").count()
    return [
        BenchFigure("evaluations lost", lost, "", 0, "max"),
        BenchFigure("evaluations with two results", doubled, "", 0, "max"),
        BenchFigure("platform errors", errors, "", 0, "max"),
    ]


def idle(found: Processes, fleet: SimulatedFleet, seconds: float) -> list[BenchFigure]:
    """Nodes without work, each with a heartbeat every 10 s and a hello every 60 s."""

    async def live(node: SimulatedNode, n: int) -> None:
        end, next_hello = time.monotonic() + seconds, time.monotonic() + HELLO_SECONDS * n / len(fleet.nodes)
        await asyncio.sleep(BEAT_SECONDS * n / len(fleet.nodes))
        while time.monotonic() < end:
            if time.monotonic() >= next_hello:
                next_hello += HELLO_SECONDS
                await node.hello()
            else:
                await node.beat()
            await asyncio.sleep(BEAT_SECONDS)

    async def run() -> tuple[Spent, float]:
        """The processor time and the time without the nodes' first words, in the loop that holds their connections."""
        await fleet.say_hello()
        start, began = found.spent(), time.perf_counter()
        await asyncio.gather(*(live(node, n) for n, node in enumerate(fleet.nodes)))
        return found.spent().since(start), time.perf_counter() - began

    spent, elapsed = asyncio.run(run())
    percent = spent.total / elapsed * 100
    return [
        BenchFigure(f"{len(fleet.nodes)} idle nodes, part of a core", percent, "%", IDLE_LIMIT_PERCENT, "max"),
        BenchFigure("web", spent.web / elapsed * 100, "%", None, "max"),
        BenchFigure("worker", spent.worker / elapsed * 100, "%", None, "max"),
        BenchFigure("PostgreSQL", spent.database / elapsed * 100, "%", None, "max"),
    ]


def claims(found: Processes, fleet: SimulatedFleet, per_second: float, seconds: float) -> list[BenchFigure]:
    """Claims at a steady rate, of evaluations that are there for all of them. `main` makes leases long for it."""
    fleet.submit(int(per_second * seconds))

    async def run() -> None:
        await fleet.say_hello()
        fleet.seen.claim_ms.clear()
        tasks, began = [], time.monotonic()
        for n in range(int(per_second * seconds)):
            await asyncio.sleep(max(0.0, began + n / per_second - time.monotonic()))
            tasks.append(asyncio.create_task(fleet.nodes[n % len(fleet.nodes)].claim()))
        await asyncio.gather(*tasks)

    start = found.spent()
    asyncio.run(run())
    spent = found.spent().since(start)
    p95 = statistics.quantiles(fleet.seen.claim_ms, n=20)[-1]
    return [
        BenchFigure(f"{per_second:g} claims a second for {seconds:g} s, p95", p95, "ms", CLAIM_LIMIT_MS, "max"),
        BenchFigure("median", statistics.median(fleet.seen.claim_ms), "ms", None, "max"),
        BenchFigure(
            "web, worker and PostgreSQL for each", spent.total / len(fleet.seen.claim_ms) * 1000, "ms", None, "max"
        ),
    ]


def rush(fleet: SimulatedFleet) -> list[BenchFigure]:
    """All nodes are idle, then as many jobs are announced."""
    messages = Messages(BROKER_URL, fleet.track.slug)

    async def work(node: SimulatedNode) -> None:
        while not await node.claim():
            pass
        fleet.seen.busy += 1

    async def one(node: SimulatedNode) -> None:
        message = await messages.take()
        await work(node)
        messages.acknowledge(message)

    async def run() -> float:
        await fleet.say_hello()
        tasks = [asyncio.create_task(one(node)) for node in fleet.nodes]
        await asyncio.to_thread(fleet.submit, len(fleet.nodes))
        began = time.perf_counter()
        await asyncio.gather(*tasks)
        return time.perf_counter() - began

    seconds = asyncio.run(run())
    messages.stop()
    return [
        BenchFigure(f"from announcement until {len(fleet.nodes)} nodes are busy", seconds, "s", RUSH_LIMIT_S, "max")
    ]


def queries(fleet: SimulatedFleet) -> list[BenchFigure]:
    """Statements of a claim of a problem that the process knows, and of a report, without BEGIN and COMMIT."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from runners.fleet.attempts.problem_refs import problem_ref

    fleet.submit(PROBLEMS)
    client = Client(headers={"Host": "127.0.0.1", "Authorization": f"Bearer {fleet.tokens[0]}"})
    hello = {"protocol_version": _version(), "capabilities": {"cpu_cores": 2}}
    client.post("/api/node/v1/hello", json.dumps(hello), content_type="application/json")
    for one in fleet.release.problems.all():
        problem_ref(one)
    counts: dict[str, int] = {}
    for _ in range(2):
        asked = {"protocol_version": _version(), "track": fleet.track.slug, "stage": "both"}
        with CaptureQueriesContext(connection) as seen:
            answer = client.post("/api/node/v1/claim", json.dumps(asked), content_type="application/json")
        counts["claim"] = _count(seen.captured_queries)
        work = answer.json()
        report = {"verdict": "passed", "witness": "seen", "provenance": {}}
        headers = {"X-Podium-Attempt": work["attempt_token"]}
        with CaptureQueriesContext(connection) as seen:
            address = f"/api/node/v1/attempts/{work['attempt']}/report"
            client.post(address, json.dumps(report), content_type="application/json", headers=headers)
        counts["report"] = _count(seen.captured_queries)
    return [BenchFigure(f"queries of a {name}", n, "", QUERY_LIMIT, "max") for name, n in counts.items()]


def _version() -> int:
    from runners.wire.protocol import PROTOCOL_VERSION

    return PROTOCOL_VERSION


def _count(captured: Sequence[dict[str, Any]]) -> int:
    control = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")
    shown = [one["sql"] for one in captured if not one["sql"].startswith(control)]
    for one in shown:
        print(f"      {one[:110]}")
    return len(shown)


def main(words: Sequence[str]) -> int:
    reader = argparse.ArgumentParser(prog="benchmarks.fleet_load", description=__doc__)
    reader.add_argument("measure", choices=["grade", "idle", "claims", "rush", "queries"], nargs="?", default="queries")
    reader.add_argument("--nodes", type=int, default=100)
    reader.add_argument("--evaluations", type=int, default=1000)
    reader.add_argument("--seconds", type=float, default=60)
    reader.add_argument("--per-second", type=float, default=50)
    asked = reader.parse_args(words)
    if asked.measure == "claims":
        os.environ["PODIUM_LEASE_SECONDS"] = str(int(asked.seconds) + 600)
    with fleet_site.site() as (folder, database):
        fleet = SimulatedFleet(asked.nodes if asked.measure != "queries" else 1)
        if asked.measure == "queries":
            return 0 if show(queries(fleet)) else 1
        with fleet_site.processes(folder, database) as found:
            if asked.measure == "grade":
                figures = grade(found, fleet, asked.evaluations)
            elif asked.measure == "idle":
                figures = idle(found, fleet, asked.seconds)
            elif asked.measure == "claims":
                figures = claims(found, fleet, asked.per_second, asked.seconds)
            else:
                figures = rush(fleet)
        print(f"      answers: {fleet.seen.statuses}")
    return 0 if show(figures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Evaluations of a fleet whose nodes are killed, and whose broker is deleted half way: none may be lost or doubled.

    python -m benchmarks.fleet_kills --evaluations 100000 --nodes 100 --kills-per-minute 10

The broker is a virtual host of the measurement's own on the server of PODIUM_BENCH_BROKER_URL, made with rabbitmqctl.
"""

import argparse
import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

VHOST = "podium-kills"
SERVER_URL = os.environ.get("PODIUM_BENCH_BROKER_URL", "amqp://guest:guest@127.0.0.1:5672//")
URL = f"{urlsplit(SERVER_URL).scheme}://{urlsplit(SERVER_URL).netloc}/{VHOST}"
BROKER_AWAY_SECONDS = 20.0
AWAY_SECONDS = 90.0
"""A killed node that does not start again at once stays away longer than its lease of 60 s."""
SHOWN_SECONDS = 60.0


def main(words: Sequence[str]) -> int:
    reader = argparse.ArgumentParser(prog="benchmarks.fleet_kills", description=__doc__)
    reader.add_argument("--nodes", type=int, default=100)
    reader.add_argument("--evaluations", type=int, default=1000)
    reader.add_argument("--kills-per-minute", type=float, default=10)
    reader.add_argument("--seed", type=int, default=1)
    asked = reader.parse_args(words)
    make_vhost()
    os.environ["PODIUM_BENCH_BROKER_URL"] = URL
    from benchmarks import fleet_site
    from benchmarks.figures import show
    from benchmarks.fleet_load import SimulatedFleet

    try:
        with fleet_site.site() as (folder, database):
            fleet = SimulatedFleet(asked.nodes)
            with fleet_site.processes(folder, database):
                storm = Storm(fleet, asked.evaluations, 60 / asked.kills_per_minute, random.Random(asked.seed))
                figures = storm.figures()
            print(f"      answers: {fleet.seen.statuses}")
        return 0 if show(figures) else 1
    finally:
        _rabbitmqctl("delete_vhost", VHOST)


def make_vhost() -> None:
    _rabbitmqctl("add_vhost", VHOST)
    user = urlsplit(SERVER_URL).username or "guest"
    _rabbitmqctl("set_permissions", "-p", VHOST, user, ".*", ".*", ".*", check=True)


def _rabbitmqctl(*arguments: str, check: bool = False) -> None:
    subprocess.run(["rabbitmqctl", "-q", *arguments], check=check, capture_output=True)


class Storm:
    """Nodes at work until every evaluation is reported, while some are killed."""

    def __init__(self, fleet: Any, n_evaluations: int, kill_every_seconds: float, chance: random.Random) -> None:
        from benchmarks.fleet_nodes import Messages

        self._fleet, self._kill_every_seconds, self._chance = fleet, kill_every_seconds, chance
        fleet.submit(n_evaluations)
        self._n = fleet.left()
        self._messages = Messages(URL, fleet.track.slug)
        self._tasks: dict[Any, asyncio.Task[None]] = {}
        self._dead: set[Any] = set()
        self._n_killed = self._n_killed_at_work = 0

    def figures(self) -> list[Any]:
        from benchmarks.figures import BenchFigure
        from benchmarks.fleet_load import outcome
        from leaderboard.models import Submission
        from runners.fleet.models import Attempt

        began = time.perf_counter()
        asyncio.run(self._run())
        seconds = time.perf_counter() - began
        while Submission.objects.exclude(state="done").exists():
            time.sleep(0.2)
        self._messages.stop()
        expired = Attempt.objects.filter(state="expired").count()
        return [
            BenchFigure(f"{self._n} evaluations", seconds, "s", None, "max"),
            BenchFigure("nodes killed", self._n_killed, "", None, "max"),
            BenchFigure("of them with begun work", self._n_killed_at_work, "", None, "max"),
            BenchFigure("leases expired", expired, "", None, "max"),
            *outcome(),
        ]

    async def _run(self) -> None:
        await self._fleet.say_hello()
        for node in self._fleet.nodes:
            self._tasks[node] = asyncio.create_task(self._work(node))
        killing = asyncio.create_task(self._kill())
        broker_is_whole, shown_at = True, time.monotonic()
        while left := await asyncio.to_thread(self._fleet.left):
            await asyncio.sleep(1)
            for one in [killing, *self._tasks.values()]:
                if one.done() and not one.cancelled():
                    one.result()
            if broker_is_whole and left < self._n / 2:
                broker_is_whole = False
                await asyncio.to_thread(_lose_broker)
            if time.monotonic() > shown_at + SHOWN_SECONDS:
                shown_at = time.monotonic()
                print(f"      {left} left, {self._n_killed} nodes killed", flush=True)
        for task in [killing, *self._tasks.values()]:
            task.cancel()

    async def _work(self, node: Any, *, later_seconds: float | None = None) -> None:
        if later_seconds is not None:
            await asyncio.sleep(later_seconds)
            await node.start_again()
            self._dead.discard(node)
        while True:
            message = await self._messages.take()
            try:
                if taken := await node.claim():
                    await node.grade(taken)
            except asyncio.CancelledError:
                self._messages.give_back(message)
                raise
            self._messages.acknowledge(message)

    async def _kill(self) -> None:
        """Every second node starts again at once, the others stay away longer than a lease."""
        while True:
            await asyncio.sleep(self._kill_every_seconds)
            alive = [one for one in self._fleet.nodes if one not in self._dead]
            if not alive:
                continue
            node = self._chance.choice(alive)
            self._tasks[node].cancel()
            self._dead.add(node)
            self._n_killed += 1
            self._n_killed_at_work += node.is_at_work
            later_seconds = AWAY_SECONDS if self._n_killed % 2 else 0.0
            self._tasks[node] = asyncio.create_task(self._work(node, later_seconds=later_seconds))


def _lose_broker() -> None:
    _rabbitmqctl("delete_vhost", VHOST)
    print(f"      the broker's virtual host is deleted for {BROKER_AWAY_SECONDS:g} s", flush=True)
    time.sleep(BROKER_AWAY_SECONDS)
    make_vhost()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

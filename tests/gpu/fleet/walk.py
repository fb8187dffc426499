"""The path from a bare site to a ranked board, phase by phase, within a limit and with nothing left behind."""

import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import requests

from tests.gpu.fleet import organiser, participant, remains
from tests.gpu.fleet.facts import Facts
from tests.gpu.fleet.grading import check_results
from tests.gpu.fleet.machine import Machine
from tests.gpu.fleet.options import Options
from tests.gpu.fleet.organiser import NODE, Draft
from tests.gpu.fleet.packs import Packs, make_packs
from tests.gpu.fleet.pages import Browser, found_in
from tests.gpu.fleet.participant import Participant, Row
from tests.gpu.fleet.report import Failed, Report

UNDER_WAY = {"testing", "benchmarking"}
READY_SECONDS = 40
NODE_SECONDS = 120
"""Until a node has told what it is, and until it has measured its GPU: programs are compiled before."""
GRADED_SECONDS = 240
AFTER_KILL_SECONDS = 120
BOARD_SECONDS = 30


def is_well(options: Options) -> bool:
    """Walk the whole path, tell of it, and leave nothing behind but what lies in the folder that was asked for."""
    report = Report(options.out)
    with tempfile.TemporaryDirectory(prefix=remains.WORK_PREFIX, ignore_cleanup_errors=True) as work:
        machine = Machine(options.out, Path(work), report, options.kind.patience)
        try:
            with _bounded(options.limit_seconds):
                Walk(options, machine, report).whole()
        except Exception as error:  # noqa: BLE001 - whatever it is, the logs are shown and the rest is ended
            report.check(False, f"{type(error).__name__}: {error}")
        finally:
            machine.leave_nothing()
    lines = [
        line for path in sorted(options.out.glob("*.log")) for line in path.read_text(errors="replace").splitlines()
    ]
    report.conclude(machine.logs(), [one for one in lines if " ERROR " in one or one.startswith("Traceback")])
    return not report.wrong


@contextmanager
def _bounded(seconds: int) -> Iterator[None]:
    """Raises Failed when the time is over or SIGTERM comes, wherever the program is by then."""

    def too_late(number: int, _: FrameType | None) -> None:
        raise Failed(f"more than {seconds} s in all" if number == signal.SIGALRM else "ended by SIGTERM")

    before = {number: signal.signal(number, too_late) for number in (signal.SIGALRM, signal.SIGTERM)}
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)


class Walk:
    """One run."""

    def __init__(self, options: Options, machine: Machine, report: Report) -> None:
        self.options, self.machine, self.report = options, machine, report
        self.facts = Facts(machine.url, report)

    def whole(self) -> None:
        """Raises Failed, Stuck or what else ends a run; what is merely wrong is in the report."""
        options, report = self.options, self.report
        what = f"{', '.join(options.problems)}; {options.n_samples} samples, timing {options.timing}"
        report.say(
            f"{'GPU' if options.has_gpu else 'CPU'}, Python {sys.version.split()[0]}, {os.cpu_count()} cores; {what}"
        )
        with report.phase("migrate, collectstatic, start site and site worker"):
            self._start_site()
        with report.phase("organiser signs in, enrols the node, imports the draft"):
            admin = organiser.sign_in(self.machine)
            node_token = organiser.enrol(admin)
            self.machine.start_node(node_token)
            packs = make_packs(options, self.machine.work)
            draft = organiser.import_draft(admin, packs, report)
        with report.phase("the node says what it is"):
            needs = "gpus" if options.has_gpu else "cpu_model"
            self.machine.wait(lambda: self.facts.hardware(needs), "the node's hardware", NODE_SECONDS)
        with report.phase("organiser makes the track, offers and publishes; participant signs up"):
            track = organiser.make_track(admin, report)
            organiser.publish(admin, draft, report)
            pat = participant.sign_up(self.machine, packs)
        if options.has_gpu:
            with report.phase("the rest of golden program and peaks"):
                self.machine.wait(lambda: self.facts.measured(track), "golden run and peaks", NODE_SECONDS)
        self.facts.tell(track)
        evaluation = self._grade_two(pat, packs, draft, track)
        with report.phase(f"{options.kind.second}: kill -9 of the node in the midst, and its restart"):
            self._kill_in_the_midst(pat, packs, draft, track, node_token)
        if options.verifies:
            with report.phase("organiser verifies the release on the node"):
                organiser.verify(admin, draft, self.machine)
        with report.phase("board and pages"):
            self._read_board(pat, draft, track)
            self._save_pages(admin, draft, track, evaluation)
        with report.phase("shutdown"):
            for name, seconds in (("node", 60), ("worker", 20), ("site", 20)):
                self.machine.end(name, seconds)

    def _start_site(self) -> None:
        self.machine.manage("migrate", "-v0")
        self.machine.manage("collectstatic", "--no-input", "-v0")
        self.machine.start_site()
        ready = f"{self.machine.url}/readyz"
        self.machine.wait(lambda: requests.get(ready, timeout=20).ok or None, "the site answers", READY_SECONDS)

    def _grade_two(self, pat: Participant, packs: Packs, draft: Draft, track: str) -> int:
        """The good and the flawed entrant, at the same time; an evaluation that passed."""
        names = (self.options.kind.good, self.options.kind.flawed)
        with self.report.phase(f"{' and '.join(names)} are graded"):
            sent = {name: pat.submit(name, packs.entrants[name], draft, track) for name in names}
            pat.wait_until_graded(list(sent.values()), GRADED_SECONDS)
            rows = {name: self._check(name, pat, packs, one) for name, one in sent.items()}
        passed = [row for row in rows[self.options.kind.good] if row.get("verdict") == "passed"]
        if not passed:
            raise Failed(f"no sample of {self.options.kind.good} passed")
        return int(passed[0]["evaluation"])

    def _check(self, name: str, pat: Participant, packs: Packs, submission: int) -> list[Row]:
        rows = pat.results(submission)
        check_results(name, rows, packs.entrants[name], self.report)
        return rows

    def _kill_in_the_midst(self, pat: Participant, packs: Packs, draft: Draft, track: str, node_token: str) -> None:
        """Kills the agent alone, while it tests or benchmarks; then the same node goes on."""
        name, say = self.options.kind.second, self.report.say
        submission = pat.submit(name, packs.entrants[name], draft, track)

        def busy() -> Row | None:
            now = pat.api.progress(submission)
            return now if UNDER_WAY & set(now["stages"]) else None

        now = self.machine.wait(busy, "a sample is tested or timed", 60)
        below = remains.below(self.machine.processes["node"].pid)
        pid, began = self.machine.kill_node(), time.monotonic()
        say(f"kill -9 of the node ({pid}) during {now['stages']}; it had {len(below)} processes below it")
        left = self.machine.outliving(below)
        say(f"processes that outlive it after {time.monotonic() - began:.1f} s: {', '.join(map(str, left)) or 'none'}")
        self.report.check(not left, f"what a killed node ran goes on: {', '.join(map(str, left))}")
        if self.options.has_gpu:
            say(f"processes on the GPUs then: {remains.on_gpus()}")
        say(f"after the kill: {self.facts.attempts()} {pat.api.progress(submission)['states']}")
        self.machine.start_node(node_token)
        pat.wait_until_graded([submission], AFTER_KILL_SECONDS)
        say(f"all graded {time.monotonic() - began:.1f} s after the kill; {self.facts.attempts()}")
        self._check(name, pat, packs, submission)

    def _read_board(self, pat: Participant, draft: Draft, track: str) -> None:
        def complete() -> list[Row] | None:
            rows: list[Row] = pat.api.board(draft.slug, track)["standings"]
            whole = len(rows) == len(self.options.entrants) and not any(row["incomplete"] for row in rows)
            return rows if whole else None

        for row in self.machine.wait(complete, "complete standings of all entrants on the board", BOARD_SECONDS):
            plain = {name: value for name, value in row.items() if isinstance(value, int | float | str)}
            self.report.say(f"  {json.dumps(plain)[:400]}")

    def _save_pages(self, admin: Browser, draft: Draft, track: str, evaluation: int) -> None:
        """As anybody sees them; the track's, which only organisers have, as the organiser does."""
        tracks = admin.get("/admin/leaderboard/track/").text
        pattern = rf'href="(/admin/leaderboard/track/\d+/change/)[^"]*"[^>]*>{re.escape(track)}<'
        anybody = Browser(self.machine.url)
        pages = {
            "track.html": admin.get(found_in(pattern, tracks, "link to the track")),
            "node.html": anybody.get(f"/nodes/{NODE}/"),
            "board.html": anybody.get(f"/releases/{draft.slug}/?track={track}"),
            "evaluation.html": anybody.get(f"/evaluations/{evaluation}/"),
        }
        for name, answer in pages.items():
            (self.options.out / name).write_text(answer.text, encoding="utf-8")
            self.report.say(f"{name}: {len(answer.content)} bytes of {answer.url.removeprefix(self.machine.url)}")
        charts = f"/releases/{draft.slug}/charts/?track={track}"
        for path in (f"/nodes/{NODE}/golden.json", f"/evaluations/{evaluation}/runs.json", charts, "/nodes/"):
            anybody.get(path)

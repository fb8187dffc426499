"""Runs the program `podium` for tasks and verdicts. Whatever keeps it from a verdict is raised."""

import asyncio
import json
import shlex
import subprocess
from collections.abc import Iterable
from typing import Any

import verifiers.v1 as vf


class NoVerdict(Exception):
    """Podium could not grade the reply. This says nothing about the reply, and must not become a reward."""


class JudgeConfig(vf.TaskConfig):
    """Which release is asked and graded, under `--env.taskset.task.*`."""

    problems: str = ""
    """A problem pack, or a folder of problems, to grade on this machine."""
    release: str = ""
    """Instead: a release on the site of `podium login`, by its slug."""
    entrant: str = ""
    """With `release`: your entrant, for which every reply is submitted. These submissions are not counted."""
    track: str = ""
    """With `release`: the track."""
    sandbox: str = ""
    """With `problems`: docker, bubblewrap or unconfined. Empty: docker, else bubblewrap."""
    workers: int = 0
    """Replies graded at a time; 0: Podium's default."""
    podium: str = "podium"
    """The program, and words before its arguments if it needs any."""

    @property
    def command(self) -> list[str]:
        return shlex.split(self.podium)

    @property
    def source(self) -> list[str]:
        if bool(self.problems) == bool(self.release):
            raise ValueError("give --env.taskset.task.problems PACK or --env.taskset.task.release SLUG")
        return ["--problems", self.problems] if self.problems else ["--release", self.release]

    @property
    def judging(self) -> list[str]:
        options = {"--entrant": self.entrant, "--track": self.track, "--sandbox": self.sandbox}
        options |= {"--workers": str(self.workers) if self.workers else ""}
        return [word for name, value in options.items() if value for word in (name, value)]


def read_tasks(config: JudgeConfig) -> Iterable[dict[str, Any]]:
    """The problems, each with `task_id`, `kind`, `group` and `messages`. Raises RuntimeError."""
    done = subprocess.run([*config.command, "verifiers", "tasks", *config.source], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"podium verifiers tasks: {done.stderr.strip() or f'status {done.returncode}'}")
    return [json.loads(line) for line in done.stdout.splitlines()]


class Judge:
    """One `podium verifiers judge`. It ends when this program does, because its standard input ends."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._next = 0
        self._gone = ""
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, config: JudgeConfig) -> "Judge":
        pipe = asyncio.subprocess.PIPE
        words = [*config.command, "verifiers", "judge", *config.source, *config.judging]
        return cls(await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, limit=1 << 24))

    @property
    def is_gone(self) -> bool:
        return bool(self._gone)

    async def ruling(self, task_id: str, reply: str, finish_reason: str) -> dict[str, Any]:
        """`verdict`, `passed` and `reason`. Raises NoVerdict."""
        number, self._next = self._next, self._next + 1
        future = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        line = {"id": number, "task_id": task_id, "reply": reply, "finish_reason": finish_reason}
        try:
            if self._gone:
                raise NoVerdict(self._gone)
            self._process.stdin.write(json.dumps(line).encode() + b"\n")
            await self._process.stdin.drain()
            answer = await future
        except (BrokenPipeError, ConnectionResetError) as error:
            raise NoVerdict("podium verifiers judge has ended; its words are above") from error
        finally:
            self._waiting.pop(number, None)
        if answer.get("fault") or not isinstance(answer.get("passed"), bool):
            raise NoVerdict(answer.get("fault") or f"the answer is not understood: {answer}")
        return answer

    async def _read(self) -> None:
        """Pass every answer to the one who waits for it. At the end all the others get none."""
        words = "podium verifiers judge has ended; its words are above"
        try:
            while line := await self._process.stdout.readline():
                answer = json.loads(line)
                future = self._waiting.get(answer.get("id"))
                if future is not None and not future.done():
                    future.set_result(answer)
        except (ValueError, AttributeError) as error:
            words = f"podium verifiers judge wrote what is no answer: {error}"
        self._gone = words
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(NoVerdict(words))


_judges: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Task[Judge]] = {}


async def judge_for(config: JudgeConfig) -> Judge:
    """The judge of this configuration, which all rollouts of this process share. One that has ended is replaced."""
    key = (asyncio.get_running_loop(), config.model_dump_json())
    started = _judges.get(key)
    if started is None or (started.done() and (started.cancelled() or started.exception() or started.result().is_gone)):
        started = _judges[key] = asyncio.create_task(Judge.start(config))
    return await asyncio.shield(started)

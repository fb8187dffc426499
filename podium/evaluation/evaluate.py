"""`podium evaluate`: grades with a node's judges on this machine and writes ComputeEval's files and figures."""

import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from podium.ci import checks, workflow_commands
from podium.ci.outcomes import PackOutcomes, outcomes_of
from podium.config_file import ConfigFile
from podium.evaluation.event_log import EventLog
from podium.evaluation.graded_file import GradedFile, NotOurs
from podium.evaluation.hardware import local_hardware
from podium.evaluation.inputs import Pack, Reader, SampleToGrade, read_problems, solution_files
from podium.evaluation.judges import local_judges
from podium.evaluation.questions import is_question, settled
from podium.evaluation.rows import Graded
from podium.evaluation.run import GradingFault, Options, SampleGrader
from podium.evaluation.sandboxes import SandboxName
from problems.formats.compute_eval.packs import graded_filename
from problems.formats.errors import PackRefused
from problems.spec.command.problem import CommandProblem
from problems.spec.hardware import Hardware
from runners.agent.devices.gpus import UnknownGpu
from runners.agent.devices.tool import ToolUnavailable
from runners.agent.ground import events as job_events
from runners.agent.ground.errors import Cancelled, ProfilerUnavailable
from runners.agent.job.job import AS_WRITTEN, DEFAULT, PLAIN_MODES, BuildPolicy
from runners.agent.native_programs import make_needed
from runners.agent.profilers import require_profiler
from runners.agent.sandbox import SandboxUnavailable
from runners.wire.protocol import Profiler, TimingPolicy

DONE, INCOMPLETE, BAD_INPUT, INTERRUPTED, BELOW = 0, 1, 2, 3, 4
SHOWN = 20

told = Console(stderr=True, soft_wrap=True)
"""Console for messages, on standard error. Standard output carries only the summary."""


@dataclass(frozen=True)
class Arguments:
    """The values of the command line."""

    problems: Path
    solutions: tuple[Path, ...]
    out: Path | None
    out_dir: Path
    ks: tuple[int, ...]
    workers: int | None
    sandbox: str | None
    options: Options
    hardware: Hardware
    strict: bool
    events: Path | None
    """Path of the timeline, if one is wanted."""
    aggregate_times: str | None
    """Set if the summary includes times."""
    checks: checks.Checks


def evaluate(
    problems: Annotated[Path, typer.Option(exists=True, help="A problem pack, or a folder of problems or packs.")],
    solutions: Annotated[
        list[Path],
        typer.Option(exists=True, help="A solutions pack, a folder of packs or of solutions; more may follow."),
    ],
    more: Annotated[list[Path] | None, typer.Argument(exists=True, help="More solutions packs.")] = None,
    out: Annotated[Path | None, typer.Option(help="The graded file of a single pack.")] = None,
    out_dir: Annotated[Path, typer.Option(help="Folder of <datapack>-graded-solutions.jsonl.")] = Path(),
    k: Annotated[str, typer.Option("--k", help="The k of pass@k, separated by commas.")] = "1",
    workers: Annotated[
        int | None, typer.Option(min=1, max=256, help="Samples run at a time; builds go ahead of them on all cores.")
    ] = None,
    sandbox: Annotated[SandboxName | None, typer.Option(help="What confines the commands.")] = None,
    profile: Annotated[Profiler, typer.Option(help="What times kernels, regions and GPUs.")] = Profiler.NONE,
    timing: Annotated[TimingPolicy, typer.Option(help="How many processes a time rests on.")] = TimingPolicy.QUICK,
    image: Annotated[str, typer.Option(help="Image id or digest for the docker sandbox.")] = "",
    arch: Annotated[
        str, typer.Option(help="Target where a build names none: auto (this machine's GPU), as-written, or as sm_90.")
    ] = "auto",
    strict: Annotated[bool, typer.Option("--strict", help="Apply ComputeEval's own rules to whole packs.")] = False,
    events: Annotated[Path | None, typer.Option(help="Write a timeline here, one JSON object a line.")] = None,
    benchmark: Annotated[
        bool, typer.Option("--benchmark", help="Also time benchmarks of mode `process`, and references of functions.")
    ] = False,
    junit: checks.JUnit = None,
    summary: checks.StepSummary = None,
    annotations: checks.Annotations = None,
    fail_under: checks.FailUnder = None,
    config_file: ConfigFile = None,  # noqa: ARG001 - read before the other options
) -> None:
    """Grade solutions on this machine. Summary on standard output; run it again to go on where it stopped.

    Exit status: 0 done, 1 some samples could not be graded here, 2 bad input or usage, 3 interrupted,
    4 pass@1 is below --fail-under.
    """
    hardware = local_hardware()
    policy = _build_policy(arch, hardware)
    order = Arguments(
        problems=problems,
        solutions=(*solutions, *(more or [])),
        out=out,
        out_dir=out_dir,
        ks=_parse_ks(k),
        workers=workers,
        sandbox=sandbox.value if sandbox else None,
        options=Options(timing, profile, _timed_modes(profile, benchmark=benchmark), image, policy),
        hardware=hardware,
        strict=strict,
        events=events,
        aggregate_times=profile.value if profile is not Profiler.NONE else "process" if benchmark else None,
        checks=checks.Checks(junit, summary, annotations, fail_under),
    )
    raise typer.Exit(_guarded(order))


def _parse_ks(text: str) -> tuple[int, ...]:
    try:
        ks = tuple(int(word) for word in text.strip("()[] ").split(",") if word.strip())
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of whole numbers such as 1,3", param_hint="--k") from None
    if min(ks, default=0) < 1:
        raise typer.BadParameter("k must be positive", param_hint="--k")
    return ks


def _build_policy(arch: str, hardware: Hardware) -> BuildPolicy:
    """The build policy of `--arch`. With `auto` and no GPU, build commands run unchanged."""
    if arch == "as-written":
        return AS_WRITTEN
    if arch == "auto":
        capability = hardware.compute_capability
        return BuildPolicy.for_capability(f"{capability[0]}.{capability[1]}" if capability else "")
    if not re.fullmatch(r"sm_\d{2,3}[af]?", arch):
        raise typer.BadParameter(f"{arch!r} is not auto, as-written or an architecture as sm_90", param_hint="--arch")
    return BuildPolicy(DEFAULT, arch)


def _timed_modes(profiler: Profiler, *, benchmark: bool) -> frozenset[str]:
    """The timing modes to run. Without a profiler, ComputeEval only takes times that benchmarks print."""
    return PLAIN_MODES if benchmark or profiler is not Profiler.NONE else frozenset({"custom"})


def _guarded(order: Arguments) -> int:
    try:
        return Grading(order).run()
    except (PackRefused, NotOurs, SandboxUnavailable, ProfilerUnavailable, ToolUnavailable, UnknownGpu) as error:
        words = str(error)
    except OSError as error:
        words = f"{error.filename or 'A file'} cannot be used: {error.strerror or error}"
    if order.checks.annotates:
        _command(workflow_commands.error_line(words))
    _say(words, style="red")
    return BAD_INPUT


def _say(words: str, style: str = "") -> None:
    told.print(
        workflow_commands.harmless(words).encode(errors="backslashreplace").decode(),
        style=style,
        markup=False,
        highlight=False,
    )


def _command(line: str) -> None:
    """Print a workflow command. GitHub reads them on standard error too."""
    sys.stderr.write(line.encode(errors="backslashreplace").decode() + "\n")


class Grading:
    """One run of the command."""

    def __init__(self, order: Arguments) -> None:
        self._order = order

    def run(self) -> int:
        """Grade all packs and return the exit status.

        Raises PackRefused, NotOurs, SandboxUnavailable, ProfilerUnavailable.
        """
        with ThreadPoolExecutor(1) as beside:
            beside.submit(make_needed)
            packs = self._read()
        with self._files(packs) as files:
            todo = [sample for pack in packs for sample in pack.samples if sample.key not in files[pack.name].rows]
            _say_kept(files)
            try:
                faults = self._grade(todo, files) if todo else []
            except Cancelled:
                _say("Interrupted. What is graded is kept: run the same command again to go on.", style="yellow")
                return INTERRUPTED
            for pack in packs:
                self._conclude(pack, files[pack.name])
            below = self._report(packs, files, faults) if self._order.checks.wanted else ""
        _say_faults(faults)
        if below and not faults:
            _say(f"The check fails: {below}", style="red")
            return BELOW
        return INCOMPLETE if faults else DONE

    def _read(self) -> list[Pack]:
        order = self._order
        sources = solution_files(order.solutions)
        problems = read_problems(order.problems, sources)
        packs = Reader(problems, order.hardware, self._digest(), order.strict).read(sources)
        if order.out and len(packs) > 1:
            raise PackRefused("one_out", "--out names one file, but there are several packs: use --out-dir")
        for notice in [notice for pack in packs for notice in pack.notices]:
            _say(notice, style="yellow")
        self._check_profiler(packs)
        return packs

    def _digest(self) -> str:
        return f"{self._order.options.digest} {self._order.sandbox or ''}"

    def _check_profiler(self, packs: Sequence[Pack]) -> None:
        """Fail early where a problem's timing mode needs the profiler and this machine lacks it."""
        profiler = self._order.options.profiler
        samples = [sample for pack in packs for sample in pack.samples if not sample.skip_reason]
        if profiler is not Profiler.NONE and any(_needs_profiler(sample) for sample in samples):
            require_profiler(profiler)

    @contextmanager
    def _files(self, packs: Sequence[Pack]) -> Iterator[dict[str, GradedFile]]:
        files: dict[str, GradedFile] = {}
        try:
            for pack in packs:
                path = self._order.out or self._order.out_dir / graded_filename(pack.name)
                files[pack.name] = GradedFile(path, {sample.key: sample.inputs_digest for sample in pack.samples})
            yield files
        finally:
            for file in files.values():
                file.close()

    def _grade(self, todo: Sequence[SampleToGrade], files: dict[str, GradedFile]) -> list[GradingFault]:
        """Questions first: they need neither a sandbox nor a build."""
        for sample in filter(is_question, todo):
            files[sample.pack].add(settled(sample))
        for_judges = [sample for sample in todo if not is_question(sample)]
        return self._judge(for_judges, files) if for_judges else []

    def _judge(self, todo: Sequence[SampleToGrade], files: dict[str, GradedFile]) -> list[GradingFault]:
        order = self._order
        with (
            local_judges(order.sandbox, order.workers, bounded=any(map(_declares_work, todo))) as judges,
            _interrupts() as cancelled,
            _events(order.events, cancelled) as progress,
            _progress(len(todo)) as advance,
        ):

            def report(sample: SampleToGrade, rows: list[Graded]) -> None:
                for row in rows:
                    files[row.sample.pack].add(row)
                advance(sample.incoming.task_id)
                # numpy loads slowly. Imported here, it loads while samples run.
                import problems.formats.compute_eval.summary  # noqa: F401

            grader = SampleGrader(judges, order.options, judges.environment.lanes.run_slots, progress)
            return grader.grade(todo, report)

    def _conclude(self, pack: Pack, file: GradedFile) -> None:
        # Imported here so that the first build does not wait for numpy.
        from problems.formats.compute_eval.summary import dump_summary, summary

        rows = [file.rows[sample.key] for sample in pack.samples if sample.key in file.rows]
        counts = Counter(file.verdicts.values())
        words = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
        _say(f"{pack.name}: {words or 'nothing graded'}. Rows are in {file.path}.")
        text = dump_summary(summary(rows, pack.groups, self._order.ks, self._order.aggregate_times))
        sys.stdout.write(workflow_commands.harmless_json(text) + "\n")
        sys.stdout.flush()

    def _report(self, packs: Sequence[Pack], files: dict[str, GradedFile], faults: Sequence[GradingFault]) -> str:
        """Write the reports. Returns why the check fails, or ""."""
        found = [_outcomes(pack, files[pack.name], faults) for pack in packs]
        return checks.report(self._order.checks, found, _command)


def _outcomes(pack: Pack, file: GradedFile, faults: Sequence[GradingFault]) -> PackOutcomes:
    from problems.formats.compute_eval.summary import summary

    known = summary(file.rows.values(), None, (1,), None)["pass_at_k"].get("pass@1")
    return outcomes_of(pack, file.path, faults, known)


@contextmanager
def _events(path: Path | None, cancelled: Event) -> Iterator[job_events.Progress]:
    """A progress that writes events to `path`, if one is given."""
    if path is None:
        yield job_events.Progress(cancelled=cancelled)
        return
    with closing(EventLog(path)) as log:
        yield job_events.Progress(log.tell, cancelled)


def _needs_profiler(sample: SampleToGrade) -> bool:
    problem = sample.problem
    if not isinstance(problem, CommandProblem):
        return False
    return bool(problem.benchmark_command) and problem.timing_mode.type not in PLAIN_MODES


def _declares_work(sample: SampleToGrade) -> bool:
    return any(case.is_declared for case in sample.problem.cases) and not sample.skip_reason


def _say_kept(files: dict[str, GradedFile]) -> None:
    for file in files.values():
        if file.rows:
            _say(f"{file.path} has {len(file.rows)} finished rows; going on from there.")
        if file.n_dropped:
            words = f"{file.path}: {file.n_dropped} rows of other inputs or cut short were left out"
            _say(f"{words}; {file.before.name} holds the file as it was.", style="yellow")


def _say_faults(faults: Sequence[GradingFault]) -> None:
    for fault in faults[:SHOWN]:
        _say(
            f"{fault.sample.incoming.task_id} sample {fault.sample.incoming.index + 1} was not graded: {fault.reason}",
            "red",
        )
    if faults:
        _say(f"{len(faults)} samples could not be graded on this machine: the summary lacks them.", style="red")


@contextmanager
def _interrupts() -> Iterator[Event]:
    """An event that Ctrl-C and SIGTERM set."""
    cancelled = Event()

    def stop(*_: Any) -> None:
        cancelled.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancelled
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _progress(total: int) -> Iterator[Any]:
    columns = (TextColumn("Grading"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=told, transient=True) as bar:
        task = bar.add_task("", total=total)

        def advance(task_id: str) -> None:
            bar.update(task, advance=1, description=task_id.replace("[", r"\["))

        yield advance

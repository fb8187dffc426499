"""Judges the sample with a node's judges on this machine, and says in what the machine differs from that one."""

from collections.abc import Iterator

from podium.evaluation.judges import local_judges
from podium.evaluation.run import Options, SampleGrader, limits_of
from podium.reproduction.published import CannotReproduce, Published
from podium.reproduction.subject import ReproducedSample
from problems.spec.hardware import Hardware
from runners.agent import capabilities
from runners.agent.ground.errors import SandboxFault, UnusableProblem
from runners.agent.ground.events import Progress
from runners.agent.job.job import AS_WRITTEN, COMPUTE_EVAL, PLAIN_MODES, BuildPolicy, Job, why_invalid
from runners.agent.judges.registry import Judges
from runners.agent.profilers import require_profiler
from runners.wire.job import JobPurpose, JobRules, Sides
from runners.wire.protocol import Profiler, Report

_CONFINING = ("docker", "bubblewrap")


def other_hardware(published: Published, hardware: Hardware) -> str:
    """The differences of this machine's hardware from the measured one, in words; empty if there are none."""
    known = published.provenance
    if gpu := known.get("gpu"):
        here = hardware.gpu_name or "no GPU"
        return "" if here.lower() == gpu.lower() else f"it was judged on {gpu}, and this machine has {here}"
    cpu, here = known.get("cpu_model") or "", capabilities.cpu_model()
    return "" if not cpu or cpu == here else f"it was judged on {cpu}, and this machine is {here}"


def other_software(published: Published, report: Report) -> Iterator[str]:
    """The judge and the tools that differ, in words."""
    known, here = published.provenance, report.provenance
    if published.told["judge_version"] != here.judge_version:
        words = f"The judge here is {here.judge_version}, and the published one was {published.told['judge_version']}"
        version = known.get("agent_version")
        yield f"{words}{f', of Podium {version}' if version else ''}."
    for name, label in (("toolkit", "tools"), ("driver", "driver"), ("image", "image"), ("sandbox", "sandbox")):
        before, now = str(known.get(name) or ""), str(getattr(here, name) or "")
        if before and before != now:
            yield f"Other {label}: {now or 'none'} here, {before} there."


def judged(subject: ReproducedSample, published: Published, sandbox: str | None) -> Report:
    """Raises CannotReproduce after a fault of this machine, SandboxUnavailable, ProfilerUnavailable, UnknownGpu,
    ToolUnavailable."""
    if subject.is_whole and published.profiler is not Profiler.NONE:
        require_profiler(published.profiler)
    chosen = sandbox or _recorded_sandbox(published)
    bounded = subject.is_whole and any(case.is_declared for case in subject.problem.cases)
    with local_judges(chosen, 1, bounded=bounded) as judges:
        try:
            return _whole(judges, subject, published) if subject.is_whole else _part(judges, subject, published)
        except (SandboxFault, UnusableProblem, OSError) as error:
            raise CannotReproduce(f"This machine could not judge it: {error}") from error


def _recorded_sandbox(published: Published) -> str | None:
    named = published.provenance.get("sandbox")
    return named if named in _CONFINING else None


def _whole(judges: Judges, subject: ReproducedSample, published: Published) -> Report:
    cases = published.timed_cases
    options = Options(
        timing=published.timing,
        profiler=published.profiler,
        timed_modes=PLAIN_MODES,
        image=_image(judges, published),
        build_policy=_build_policy(published),
        timed_cases=None if cases is None else tuple(cases),
    )
    return SampleGrader(judges, options, 1, Progress()).judged(subject.sample).report


def _part(judges: Judges, subject: ReproducedSample, published: Published) -> Report:
    """Build, and the visible tests if the problem has a command for them."""
    sample = subject.sample
    job = Job(
        problem=subject.problem,
        problem_sha256=sample.record.md5,
        solution=sample.solution,
        rules=JobRules(
            purpose=JobPurpose.TRIAL,
            sides=Sides.NONE,
            limits=limits_of(subject.problem),
            withheld=tuple(subject.stand_ins),
        ),
        image=judges.environment.image_for(_image(judges, published)),
        build_policy=_build_policy(published),
        invalid_reason=why_invalid(subject.problem, sample.solution, subject.problem.rules()),
        tenant=sample.pack,
    )
    return judges.judge(job, Progress()).report


def _image(judges: Judges, published: Published) -> str:
    """The image of the published result, where this machine's sandbox has images."""
    return str(published.provenance.get("image") or "") if judges.environment.sandbox.name == "docker" else ""


def _build_policy(published: Published) -> BuildPolicy:
    known = published.provenance
    named = str(known.get("build_policy") or "")
    return AS_WRITTEN if named in ("", COMPUTE_EVAL) else BuildPolicy(named, str(known.get("arch") or ""))

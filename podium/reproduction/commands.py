"""The command `podium reproduce`."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer

from podium.evaluation.hardware import local_hardware
from podium.evaluation.sandboxes import SandboxName
from podium.refusals import refusing, say
from podium.remote.api_client import ApiRefused
from podium.remote.site_config import NotConfigured
from podium.reproduction.compared import ReproducedEnding, ReproductionComparison, as_json
from podium.reproduction.here import judged, other_hardware, other_software
from podium.reproduction.published import CannotReproduce, client_for, fetched
from podium.reproduction.subject import subject_of
from problems.formats.errors import PackRefused
from problems.spec.errors import RecordError
from runners.agent.devices.gpus import UnknownGpu
from runners.agent.devices.tool import ToolUnavailable
from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.native_programs import make_needed
from runners.agent.sandbox import SandboxUnavailable

STATUS = {ReproducedEnding.REPRODUCED: 0, ReproducedEnding.DIFFERS: 1, ReproducedEnding.PARTLY: 4}
INTERRUPTED = 3


def reproduce(
    evaluation: Annotated[str, typer.Argument(help="Its number, or the address of its page.")],
    problems: Annotated[
        Path | None, typer.Option(exists=True, help="The release's problem pack, which has the held-out files.")
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Run on other hardware than the published result's.")
    ] = False,
    sandbox: Annotated[SandboxName | None, typer.Option(help="What confines the commands. Default: as there.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="The comparison as JSON on standard output.")] = False,
) -> None:
    """Judge a published sample again on this machine, and say whether verdict and times agree.

    Exit status: 0 reproduced, 1 it differs, 2 it cannot be run here, 3 interrupted, 4 what could be compared agrees.
    """
    try:
        found, notes = _compared(evaluation, problems, sandbox.value if sandbox else None, anyway=anyway)
    except KeyboardInterrupt:
        say("Interrupted. Nothing is kept.")
        raise typer.Exit(INTERRUPTED) from None
    for line in [*notes, *found.lines]:
        say(line)
    if json_:
        typer.echo(json.dumps(as_json(found, notes), ensure_ascii=False, indent=2))
    raise typer.Exit(STATUS[found.ending])


def _compared(
    evaluation: str, problems: Path | None, sandbox: str | None, *, anyway: bool
) -> tuple[ReproductionComparison, list[str]]:
    """The comparison, and in what judge and tools differ. Ends the command with status 2 if there is none."""
    with refusing(
        CannotReproduce, ApiRefused, NotConfigured, PackRefused, RecordError, SandboxUnavailable, ProfilerUnavailable,
        ToolUnavailable, UnknownGpu,
    ):  # fmt: skip
        client, pk = client_for(evaluation)
        with ThreadPoolExecutor(1) as beside:
            beside.submit(make_needed)
            published, hardware = fetched(client, pk), local_hardware()
            say(f"Evaluation {pk} of {client.site.url}: {published.task_id} on {published.track}.")
            subject = subject_of(client, published, problems, hardware)
            differing = other_hardware(published, hardware)
            if differing and not anyway:
                raise CannotReproduce(
                    f"Its times cannot be reproduced here: {differing}. Run with --anyway to compare the verdict alone."
                )
        report = judged(subject, published, sandbox)
        return ReproductionComparison(published, subject, report, differing), list(other_software(published, report))

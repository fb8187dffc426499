"""`podium node`: assembles a node and runs it. Needs two variables and no database."""

import logging
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from runners.agent import capabilities
from runners.agent.assembly import assemble, keeper_of
from runners.agent.devices.gpus import Gpus, UnknownGpu
from runners.agent.devices.tool import ToolUnavailable
from runners.agent.grading import Grader
from runners.agent.ground.errors import MissingSetting, SiteRefused, SiteUnavailable
from runners.agent.identity import Joined, state_id
from runners.agent.link.client import SiteClient
from runners.agent.link.outbox import Outbox
from runners.agent.link.problem_store import ProblemStore
from runners.agent.link.shared_builds import SharedBuilds
from runners.agent.native_programs import make_needed
from runners.agent.node import Agent
from runners.agent.sandbox import Sandbox, SandboxUnavailable, choose
from runners.agent.settings import NodeSettings
from runners.agent.upkeep import introduce
from runners.wire.broker import celery_settings
from runners.wire.log_lines import JSON, JsonLines
from runners.wire.protocol import PROTOCOL_VERSION, Capabilities, Hello, HelloReply

logger = logging.getLogger("podium.node")
CANNOT_START = 2


JOIN_HELP = "Make this machine a node with this join token, or with that of PODIUM_JOIN_TOKEN."


def node(
    join: Annotated[str, typer.Option(envvar="PODIUM_JOIN_TOKEN", metavar="TOKEN", help=JOIN_HELP)] = "",
    until_idle: Annotated[
        float | None, typer.Option(min=1, metavar="SECONDS", help="Stop after so long without work.")
    ] = None,
    grace: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Time for begun work to end when the node is stopped.")
    ] = 0.0,
) -> None:
    """Serve the tracks that this node is granted. Stops on Ctrl-C or SIGTERM and gives its leases back.

    Needs PODIUM_SITE_URL, and PODIUM_NODE_TOKEN or --join; PODIUM_BROKER_URL if the site tells none. May have
    PODIUM_SANDBOX, PODIUM_VAR_DIR, PODIUM_NODE_SLOTS, PODIUM_NODE_NAME, PODIUM_LOG_FORMAT and PODIUM_CELERY_EVENTS.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        settings = NodeSettings.read(joins=bool(join))
        if settings.log_format == JSON:
            for handler in logging.getLogger().handlers:
                handler.setFormatter(JsonLines())
        for made in make_needed():
            if not made.was_there:
                logger.log(logging.INFO if made.path else logging.WARNING, made.words)
        sandbox = choose(settings.sandbox)
        serve(settings, sandbox, capabilities.find_out(sandbox), Stay(join, until_idle, grace))
    except (
        MissingSetting, SandboxUnavailable, ToolUnavailable, UnknownGpu, SiteRefused, SiteUnavailable
    ) as error:  # fmt: skip
        sys.stderr.write(f"podium node cannot start: {error}\n")
        raise typer.Exit(CANNOT_START) from None
    except KeyboardInterrupt:
        logger.info("stopped")


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


@dataclass(frozen=True)
class Stay:
    """How a node comes and goes."""

    join_token: str = ""
    until_idle_seconds: float | None = None
    grace_seconds: float = 0.0


def serve(settings: NodeSettings, sandbox: Sandbox, found: Capabilities, stay: Stay = Stay()) -> None:
    """Work until stopped. Raises the errors that `node` reports, and KeyboardInterrupt before the work has begun."""
    folder = settings.var_dir / "node"
    hello = Hello(protocol_version=PROTOCOL_VERSION, capabilities=found, state_id=state_id(folder))
    client, terms = _introduced(settings, hello, folder, stay.join_token)
    gpus = Gpus.open() if found.gpus else None
    keeper = keeper_of(found.gpus, gpus, folder, client.health)
    slots = settings.slots
    judges = assemble(
        terms.node, folder, sandbox, found, gpus, keeper, build_slots=slots, run_slots=slots,
        elsewhere=SharedBuilds(client, found.gpus),
    )  # fmt: skip
    environment = judges.environment
    grader = Grader(client, judges, ProblemStore(folder / "problems"))
    if stay.join_token and (complaint := grader.self_test()):
        raise SandboxUnavailable(f"this machine fails the self-test: {complaint}")
    outbox = Outbox(folder / "outbox" / terms.node)
    celery = celery_settings(
        settings.broker(terms.broker_url), settings.var_dir / "broker", settings.celery_events
    )  # fmt: skip
    worker = Agent(client, grader, outbox, hello, terms, slots, celery, keeper.complaint if keeper else str)
    try:
        if keeper:
            keeper.begin(environment.lanes)
            keeper.start(worker.drain, worker.resume)
        tracks = ", ".join(f"{grant.track} ({grant.stage.value})" for grant in terms.grants)
        logger.info("node %s serves %s", terms.node, tracks)
        worker.start()
        worker.wait(stay.until_idle_seconds)
    finally:
        worker.stop(stay.grace_seconds)
        if stay.join_token and not worker.refused and not outbox.n_waiting():
            _leave(client, Joined(folder, settings.site_url, stay.join_token))
        if keeper:
            keeper.stop()
        environment.close()
    if worker.refused:
        raise worker.refused


def _introduced(settings: NodeSettings, hello: Hello, folder: Path, join_token: str) -> tuple[SiteClient, HelloReply]:
    """The client of this node and the site's terms. A node that was retired meanwhile joins anew."""
    if not join_token:
        client = SiteClient(settings.site_url, settings.token)
        return client, introduce(client, hello)
    joined = Joined(folder, settings.site_url, join_token)
    client = SiteClient(settings.site_url, joined.token())
    try:
        return client, introduce(client, hello)
    except SiteRefused as refused:
        if refused.error.code != "unknown_node":
            raise
    client = SiteClient(settings.site_url, joined.join())
    return client, introduce(client, hello)


def _leave(client: SiteClient, joined: Joined) -> None:
    try:
        client.leave()
        joined.forget()
    except (SiteUnavailable, SiteRefused) as error:
        logger.warning("the site does not know yet that this node has gone: %s", error)

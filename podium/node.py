"""`podium node`: assembles a node and runs it. Needs three variables and no database."""

import logging
import signal
import sys
from typing import Any

import typer

from runners.agent import capabilities
from runners.agent.assembly import assemble, keeper_of
from runners.agent.devices.gpus import Gpus, UnknownGpu
from runners.agent.devices.tool import ToolUnavailable
from runners.agent.grading import Grader
from runners.agent.ground.errors import MissingSetting, SiteRefused
from runners.agent.link.client import SiteClient
from runners.agent.link.outbox import Outbox
from runners.agent.link.problem_store import ProblemStore
from runners.agent.native_programs import make_needed
from runners.agent.node import Agent
from runners.agent.sandbox import Sandbox, SandboxUnavailable, choose
from runners.agent.settings import NodeSettings
from runners.agent.upkeep import introduce
from runners.wire.broker import celery_settings
from runners.wire.protocol import PROTOCOL_VERSION, Capabilities, Hello

logger = logging.getLogger("podium.node")
CANNOT_START = 2


def node() -> None:
    """Serve the tracks that this node is granted. Stops on Ctrl-C or SIGTERM and gives its leases back.

    Needs PODIUM_SITE_URL, PODIUM_NODE_TOKEN and PODIUM_BROKER_URL; may have PODIUM_SANDBOX, PODIUM_VAR_DIR,
    PODIUM_NODE_SLOTS and PODIUM_CELERY_EVENTS.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        settings = NodeSettings.read()
        for made in make_needed():
            if not made.was_there:
                logger.log(logging.INFO if made.path else logging.WARNING, made.words)
        sandbox = choose(settings.sandbox)
        serve(settings, sandbox, capabilities.find_out(sandbox))
    except (MissingSetting, SandboxUnavailable, ToolUnavailable, UnknownGpu, SiteRefused) as error:
        sys.stderr.write(f"podium node cannot start: {error}\n")
        raise typer.Exit(CANNOT_START) from None
    except KeyboardInterrupt:
        logger.info("stopped")


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def serve(settings: NodeSettings, sandbox: Sandbox, found: Capabilities) -> None:
    """Work until stopped. Raises the errors that `node` reports, and KeyboardInterrupt before the work has begun."""
    client = SiteClient(settings.site_url, settings.token)
    hello = Hello(protocol_version=PROTOCOL_VERSION, capabilities=found)
    terms = introduce(client, hello)
    folder = settings.var_dir / "node"
    gpus = Gpus.open() if found.gpus else None
    keeper = keeper_of(found.gpus, gpus, folder, client.health)
    slots = settings.slots
    judges = assemble(terms.node, folder, sandbox, found, gpus, keeper, build_slots=slots, run_slots=slots)
    environment = judges.environment
    grader = Grader(client, judges, ProblemStore(folder / "problems"))
    outbox = Outbox(folder / "outbox" / terms.node)
    celery = celery_settings(settings.broker_url, settings.var_dir / "broker", settings.celery_events)
    worker = Agent(client, grader, outbox, hello, terms, slots, celery, keeper.complaint if keeper else str)
    try:
        if keeper:
            keeper.begin(environment.lanes)
            keeper.start(worker.drain, worker.resume)
        tracks = ", ".join(f"{grant.track} ({grant.stage.value})" for grant in terms.grants)
        logger.info("node %s serves %s", terms.node, tracks)
        worker.start()
        worker.wait()
    finally:
        worker.stop()
        if keeper:
            keeper.stop()
        environment.close()
    if worker.refused:
        raise worker.refused

"""`podium node`: the agent, served by a Celery worker. Needs three variables and no database."""

import logging
import os
import signal
import sys
from typing import Any

import typer

from runners.agent import capabilities
from runners.agent.agent import Agent, introduce
from runners.agent.attempt import Worker
from runners.agent.client import SiteClient
from runners.agent.environment import NodeEnvironment, unmeasured
from runners.agent.errors import MissingSetting, SiteRefused
from runners.agent.gpu.devices import Gpus
from runners.agent.gpu.keeper import Keeper, Unwatched
from runners.agent.gpu.ledger import Ledger
from runners.agent.gpu.tool import GpuTool, ToolUnavailable
from runners.agent.native import default_cache_directory
from runners.agent.native_programs import make_needed
from runners.agent.outbox import Outbox
from runners.agent.pipeline import Pipeline
from runners.agent.problem_store import ProblemStore
from runners.agent.profilers.cupti import gate_library
from runners.agent.sandbox import Sandbox, SandboxUnavailable, choose
from runners.agent.settings import NodeSettings
from runners.agent.slots import Lanes
from runners.protocol import PROTOCOL_VERSION, Capabilities, Hello, HelloReply

logger = logging.getLogger("podium.node")
CANNOT_START = 2
SPARE_ATTEMPTS = 2
"""Attempts beyond the slots: while their files travel, the slots are busy with others."""


def node() -> None:
    """Serve the tracks that this node is granted. Stops on Ctrl-C or SIGTERM and gives its leases back.

    Needs PODIUM_SITE_URL, PODIUM_NODE_TOKEN and PODIUM_BROKER_URL; may have PODIUM_SANDBOX, PODIUM_VAR_DIR and
    PODIUM_NODE_SLOTS.
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
    except (MissingSetting, SandboxUnavailable, ToolUnavailable, SiteRefused) as error:
        sys.stderr.write(f"podium node cannot start: {error}\n")
        raise typer.Exit(CANNOT_START) from None
    except KeyboardInterrupt:
        logger.info("stopped")


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def serve(settings: NodeSettings, sandbox: Sandbox, found: Capabilities) -> None:
    """Work until told to stop. Raises as `node` tells, and KeyboardInterrupt before the work has begun."""
    client = SiteClient(settings.site_url, settings.token)
    hello = Hello(protocol_version=PROTOCOL_VERSION, capabilities=found)
    terms = introduce(client, hello)
    uuids = tuple(gpu.uuid for gpu in found.gpus)
    if words := sandbox.why_no_gpus(uuids):
        raise SandboxUnavailable(words)
    gpus = Gpus.open() if uuids else None
    keeper = _keeper(settings, client, found, gpus)
    lanes = Lanes(settings.slots, settings.slots, uuids, keeper.clean if keeper else None)
    peaks = keeper.peaks_of if keeper else unmeasured
    gate = gate_library() if uuids else None
    environment = NodeEnvironment.open(terms.node, settings.var_dir / "node", sandbox, lanes, found, gpus, peaks, gate)
    worker = Worker(client, Pipeline(environment), ProblemStore(settings.var_dir / "node" / "problems"))
    outbox = Outbox(settings.var_dir / "node" / "outbox" / terms.node)
    slots = settings.slots + SPARE_ATTEMPTS
    agent = Agent(client, worker, outbox, hello, terms, slots, _leave, keeper.complaint if keeper else str)
    try:
        if keeper:
            keeper.begin(lanes)
            keeper.start(agent.drain, agent.resume)
        _listen(settings, agent, terms)
    finally:
        agent.stop()
        if keeper:
            keeper.stop()
        environment.close()


def _keeper(settings: NodeSettings, client: SiteClient, found: Capabilities, gpus: Gpus | None) -> Keeper | None:
    """Of this machine's GPUs, if any. Raises ToolUnavailable: without its program nothing would be cleaned."""
    if not found.gpus:
        return None
    tool = GpuTool.build(default_cache_directory())
    ledger = Ledger(settings.var_dir / "node" / "gpus")
    return Keeper(gpus or Unwatched(), found.gpus, tool, ledger, client.health)


def _listen(settings: NodeSettings, agent: Agent, terms: HelloReply) -> None:
    """Run agent and Celery worker until a signal ends the latter."""
    # Celery is an extra: `podium node` names it where it is missing, other commands do without.
    from runners.agent.celery_app import make_app, make_worker

    tracks = ", ".join(f"{grant.track} ({grant.stage.value})" for grant in terms.grants)
    logger.info("node %s serves %s", terms.node, tracks)
    app = make_app(settings.broker_url, settings.var_dir / "broker", agent.ring)
    worker = make_worker(app, terms.grants, agent.stop)
    agent.start()
    worker.start()


def _leave() -> None:
    """End the Celery worker, and with it this process, in its own orderly way."""
    os.kill(os.getpid(), signal.SIGTERM)

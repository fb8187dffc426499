"""A node's self-test: it runs a trivial command in the sandbox."""

from runners.agent.ground.errors import SandboxFault
from runners.agent.job.environment import NodeEnvironment
from runners.agent.sandbox.policy import Command, Limits

LIMITS = Limits(
    wall_seconds=10,
    memory_bytes=256 << 20,
    processes=32,
    file_bytes=1 << 20,
    workspace_bytes=1 << 20,
    output_bytes=1 << 10,
)


def complaint_of(environment: NodeEnvironment) -> str:
    """The reason why the self-test failed, or ""."""
    try:
        with environment.lanes.test() as seat, environment.workspaces.open({"in": b"well\n"}) as workspace:
            outcome = environment.sandbox.run(Command("cat in", workspace, LIMITS, slot=seat.slot))
    except (SandboxFault, OSError) as error:
        return f"{type(error).__name__}: {error}"
    return "" if outcome.succeeded and outcome.stdout == "well\n" else f"`cat` printed {outcome.stdout!r}"

"""What a busy machine does to times of functions on a CPU: the host's records of both sides, and their flag."""

from collections.abc import Mapping, Sequence

from runners.agent.judges.function.contest import Contest
from runners.agent.judges.host import HostRecord, disturbance, over
from runners.agent.judges.judgement import Finding
from runners.wire.protocol import MeasurementReport, Role

Sides = Mapping[Role, Sequence[Contest]]


def host_of(runs: Sequence[Contest]) -> HostRecord | None:
    """The medians over the processes; None on a GPU."""
    return over([one.host for one in runs if one.host is not None])


def busy_host(sides: Sides) -> list[Finding]:
    """The flag of a comparison of which the machine's other work lengthened one side, in all attempts."""
    words = {Role.CANDIDATE: "The solution", Role.BASELINE: "The reference"}
    return disturbance({words[role]: host_of(runs) for role, runs in sides.items()})


def with_hosts(measurements: Sequence[MeasurementReport], sides: Sides) -> list[MeasurementReport]:
    """The measurements with the host's record of their side among the facts."""
    facts = {role: host.facts for role, runs in sides.items() if (host := host_of(runs)) is not None}
    return [one.model_copy(update={"device": {**one.device, **facts.get(one.role, {})}}) for one in measurements]

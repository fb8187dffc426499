"""A build's limits: wall time and the processor time of its cores together, and a multiple of the first in any case."""

import os
from dataclasses import replace
from typing import Any

import pytest

from runners.agent.devices.lanes import Lanes
from runners.agent.ground.events import Progress
from runners.agent.job.build_cache import Build
from runners.agent.job.building import (
    BUILD_JOBS,
    BUILD_NICENESS,
    FEWEST_CORES,
    build,
    build_limits,
    why_out_of_time,
)
from runners.agent.job.toolchain import cores
from runners.agent.sandbox.policy import PATIENCE
from runners.wire.protocol import Report, Verdict
from tests.agent.machine import LIMITS, Machine, shell_problem, subject_of


def built_with(machine: Machine, command: str, **limits: float) -> Report:
    """The report on a sample with this build command."""
    problem = shell_problem(build_command=command, test_command="cat product", baseline_solution=None)
    return machine.judge(problem, {"solution.sh": command}, limits=LIMITS.model_copy(update=limits)).report


def test_a_build_that_waits_for_the_cores_longer_than_its_limit_passes(fresh_machine: Machine) -> None:
    """It sleeps, as beside a load that gets all the cores."""
    report = built_with(fresh_machine, "sleep 1.5; echo made > product", build_seconds=1)
    assert report.verdict is Verdict.PASSED
    assert report.steps[0].wall_ms > 1000


def test_a_build_that_keeps_its_cores_busy_is_out_of_time_by_both_clocks(fresh_machine: Machine) -> None:
    environment = replace(fresh_machine.environment, lanes=Lanes(cores(), 1))
    subject = subject_of(shell_problem(), {}, limits=LIMITS.model_copy(update={"build_seconds": 90}))
    limits = build_limits(environment, subject.build_order)
    assert (limits.wall_seconds, limits.processor_seconds) == (90, 90 * FEWEST_CORES)
    busy = Build("k", None, 9, timed_out=True, wall_ms=95e3, cpu_ms=180e3)
    words = why_out_of_time(environment, subject.build_order, busy)
    assert words == f"within 90 seconds and {90 * FEWEST_CORES} seconds of processor time"


def test_a_build_that_sleeps_is_out_of_time_after_a_multiple_of_its_limit(fresh_machine: Machine) -> None:
    report = built_with(fresh_machine, "sleep 30", build_seconds=0.3)
    assert report.verdict is Verdict.TIMED_OUT
    assert report.reason == f"The build did not end within {PATIENCE * 0.3:g} seconds, {PATIENCE} times its limit."


def told(machine: Machine, command: str) -> str:
    subject = subject_of(shell_problem(build_command=command), {"solution.sh": command})
    return build(machine.environment, subject.build_order, Progress()).stdout


@pytest.mark.parametrize("build_slots", [1, 1000])
def test_a_build_compiles_as_many_sources_at_a_time_as_it_has_cores(fresh_machine: Machine, build_slots: int) -> None:
    fresh_machine.environment = replace(fresh_machine.environment, lanes=Lanes(build_slots, 1))
    assert int(told(fresh_machine, f"echo ${BUILD_JOBS}")) == max(FEWEST_CORES, cores() // build_slots)


def test_on_a_node_with_gpus_runs_have_the_cores_before_builds(fresh_machine: Machine) -> None:
    assert int(told(fresh_machine, "nice # without")) == os.nice(0)
    gpus: Any = object()  # a build never touches them
    fresh_machine.environment = replace(fresh_machine.environment, gpus=gpus)
    assert int(told(fresh_machine, "nice # with")) == os.nice(0) + BUILD_NICENESS

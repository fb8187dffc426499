"""CUDA is compiled for the track's GPU unless the problem names another, and otherwise as nvcc alone would do it.

Compiled for real; nothing here runs on a GPU.
"""

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from problems.spec.command.problem import CommandProblem
from runners.agent.job import toolchain
from runners.agent.job.job import AS_WRITTEN, BuildPolicy, architecture_of
from runners.agent.judges.report import Finished
from runners.wire.protocol import ResourceLimits, TrackSpec, Verdict
from tests.agent.machine import Machine, job_of, shell_problem
from tests.requirements import requires

pytestmark = [requires("nvcc"), requires("bubblewrap")]

H200 = BuildPolicy("default", "sm_90")
A100 = BuildPolicy("default", "sm_80")
KERNEL = """\
#include "task.h"
__global__ void kernel(float* x) { x[threadIdx.x] *= 2.0f; }
void solve(float* x) { kernel<<<1, 32>>>(x); }
"""
HARNESS = '#include "task.h"\n#include <cstdio>\nint main() { std::puts("built"); return 0; }\n'
HEADER = "#pragma once\nvoid solve(float* x);\n"
COMMAND = "nvcc -std=c++17 -I include -o test.out solution.cu test/*.cu"


def cuda_problem(build_command: str = COMMAND, **changes: object) -> CommandProblem:
    facts = {
        "context": {"include/task.h": HEADER},
        "tests": {"test/main.cu": HARNESS},
        "baseline": {"solution.cu": KERNEL},
        "test_command": "true",
        "timeout_seconds": 300,
    }
    return shell_problem(build_command=build_command, **{**facts, **changes})


def judge(machine: Machine, problem: CommandProblem, policy: BuildPolicy, solution: str = KERNEL) -> Finished:
    task = job_of(problem, {"solution.cu": solution}, limits=ResourceLimits())
    return machine.judges.judge(replace(task, build_policy=policy))


def targets(output: str | None) -> set[str]:
    """The architectures that a dry run compiles for."""
    return set(re.findall(r"ptxas -arch=(sm_\w+)", output or ""))


def dry_run(machine: Machine, flags: str, policy: BuildPolicy = H200) -> set[str]:
    problem = cuda_problem(f"nvcc --dryrun -I include -o test.out solution.cu test/*.cu {flags}".strip())
    finished = judge(machine, problem, policy)
    assert finished.report.verdict is Verdict.PASSED, finished.texts
    return targets(finished.texts.build)


@pytest.mark.parametrize("flags", ["", "-arch=native", "-arch native", "--gpu-architecture=native"])
def test_a_build_that_names_no_architecture_gets_the_tracks(machine: Machine, flags: str) -> None:
    assert dry_run(machine, flags) == {"sm_90"}


@pytest.mark.parametrize(
    "flags",
    [
        "-arch=sm_80",
        "-arch sm_80",
        "--gpu-architecture=sm_80",
        "-gencode arch=compute_80,code=sm_80",
        "--generate-code=arch=compute_80,code=sm_80",
        "-arch=compute_80 -code=sm_80",
    ],
)
def test_an_architecture_that_the_problem_names_stays(machine: Machine, flags: str) -> None:
    assert dry_run(machine, flags) == {"sm_80"}


def test_an_architecture_named_in_the_environment_or_in_a_file_of_options_stays(machine: Machine) -> None:
    by_environment = cuda_problem("NVCC_APPEND_FLAGS=-arch=sm_80 nvcc --dryrun -o test.out -I include solution.cu")
    options = {"include/task.h": HEADER, "options": "-arch=sm_80\n"}
    by_file = cuda_problem("nvcc --dryrun -o test.out -I include solution.cu -optf options", context=options)
    for problem in (by_environment, by_file):
        assert targets(judge(machine, problem, H200).texts.build) == {"sm_80"}


def test_the_policy_of_compute_eval_leaves_the_build_as_it_was_written(machine: Machine) -> None:
    assert "sm_90" not in dry_run(machine, "", AS_WRITTEN)
    assert "sm_90" not in dry_run(machine, "-arch=native", AS_WRITTEN)


def test_the_architecture_reaches_nvcc_through_make(machine: Machine) -> None:
    makefile = "test.out:\n\tnvcc --dryrun -I include -o $@ solution.cu\n"
    problem = cuda_problem("true && make", context={"include/task.h": HEADER, "Makefile": makefile})
    assert targets(judge(machine, problem, H200).texts.build) == {"sm_90"}


def test_a_report_says_for_what_and_under_which_policy_it_was_built(machine: Machine) -> None:
    problem = cuda_problem()
    told, as_written = (judge(machine, problem, policy).report.provenance for policy in (H200, AS_WRITTEN))
    assert (told.arch, told.build_policy) == ("sm_90", "default")
    assert (as_written.arch, as_written.build_policy) == ("", "compute-eval")
    assert told.artefact_key != as_written.artefact_key


def test_builds_for_two_architectures_are_two_builds(fresh_machine: Machine) -> None:
    problem = cuda_problem()
    first, second, again = (judge(fresh_machine, problem, policy).report for policy in (H200, A100, H200))
    assert [one.provenance.build_cached for one in (first, second, again)] == [False, False, True]
    assert len({one.provenance.artefact_key for one in (first, second, again)}) == 2


@pytest.mark.parametrize(
    ("capability", "arch"), [("9.0", "sm_90"), ("10.0", "sm_100"), ("8.6", "sm_86"), ("", ""), ("new", "")]
)
def test_an_architecture_follows_from_the_compute_capability(capability: str, arch: str) -> None:
    assert architecture_of(capability) == arch


def test_a_tracks_image_policy_decides() -> None:
    track = TrackSpec(slug="t", device="gpu", compute_capability="9.0")
    assert BuildPolicy.of_track(track) == H200
    assert BuildPolicy.of_track(track.model_copy(update={"image_policy": "compute-eval"})) == AS_WRITTEN
    assert BuildPolicy.of_track(TrackSpec(slug="cpu", device="cpu")).environment == {}


# ---- the host compiler's memory -----------------------------------------------------------------------------------

HEAP = re.compile(r"--param=ggc-min-heapsize=(\d+)")


def heaps(machine: Machine, flags: str = "", policy: BuildPolicy = H200, prefix: str = "") -> set[str]:
    problem = cuda_problem(f"{prefix}nvcc --dryrun -I include -o test.out solution.cu test/*.cu {flags}".strip())
    return set(HEAP.findall(judge(machine, problem, policy).texts.build or ""))


def test_the_host_compiler_may_fill_a_quarter_of_the_limit(machine: Machine) -> None:
    assert heaps(machine) == {str(2 << 20)}
    problem = cuda_problem("nvcc --dryrun -I include -o small.out solution.cu test/*.cu")
    task = job_of(problem, {"solution.cu": KERNEL}, limits=ResourceLimits(memory_bytes=1 << 30))
    finished = machine.judges.judge(replace(task, build_policy=H200))
    assert set(HEAP.findall(finished.texts.build or "")) == {str(256 << 10)}


@pytest.mark.parametrize(
    ("flags", "policy", "prefix"),
    [
        ("", AS_WRITTEN, ""),
        ("-ccbin g++", H200, ""),
        ("--compiler-bindir=g++", H200, ""),
        ("", H200, "NVCC_CCBIN=g++ "),
    ],
)
def test_a_build_as_written_and_another_host_compiler_are_left_alone(
    machine: Machine, flags: str, policy: BuildPolicy, prefix: str
) -> None:
    assert heaps(machine, flags, policy, prefix) == set()


def test_what_is_built_is_the_same_whatever_the_host_compiler_may_fill(machine: Machine) -> None:
    unset = "env -u PODIUM_NVCC_HOST_HEAP_KIB"
    source = "#include <map>\n#include <regex>\n#include <string>\n" + KERNEL
    compile_both = (
        f"nvcc -I include -c -o one.o solution.cu && {unset} nvcc -I include -c -o two.o solution.cu && "
        "objcopy -j .text -j .rodata -O binary one.o one.bin && objcopy -j .text -j .rodata -O binary two.o two.bin && "
        "test -s one.bin && cmp one.bin two.bin && echo same"
    )
    finished = judge(machine, cuda_problem(compile_both), H200, source)
    assert finished.report.verdict is Verdict.PASSED, finished.texts.build
    assert "same" in (finished.texts.build or "")


# ---- several sources in one command ---------------------------------------------------------------------------------

WARNS = "#warning harness\nint main() { return 0; }\n"
BROKEN = "void solve(float* x) { undeclared = x; }\n"


@pytest.mark.parametrize(
    ("solution", "harness", "order"),
    [
        (KERNEL, WARNS, "solution.cu test/main.cu"),
        (BROKEN, WARNS, "solution.cu test/main.cu"),
        (BROKEN, WARNS, "test/main.cu solution.cu"),
        (KERNEL, BROKEN, "solution.cu test/main.cu"),
        (BROKEN, BROKEN, "test/main.cu solution.cu"),
    ],
    ids=["warning", "broken solution", "broken solution after a warning", "broken harness", "both broken"],
)
def test_sources_compiled_side_by_side_end_and_read_as_nvcc_alone(
    machine: Machine, tmp_path: Path, solution: str, harness: str, order: str
) -> None:
    command = f"nvcc -std=c++17 -arch=sm_90 -I include -o test.out {order}"
    problem = cuda_problem(command, tests={"test/main.cu": harness})
    step = judge(machine, problem, H200, solution).report.steps[0]
    for path, text in {"include/task.h": HEADER, "solution.cu": solution, "test/main.cu": harness}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    alone = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert step.exit_code == alone.returncode
    assert step.log.text.strip() == f"{alone.stdout}\n{alone.stderr}".strip()


@pytest.mark.parametrize(("jobs", "at_a_time"), [("1", 1), ("2", 2), ("", 2)])
def test_sources_are_compiled_as_many_at_a_time_as_is_said(machine: Machine, jobs: str, at_a_time: int) -> None:
    watch = r"(while sleep 0.01; do grep -lxsE 'cicc|cudafe\+\+' /proc/[0-9]*/comm | wc -l; done > seen) &"
    command = f"{watch} export PODIUM_NVCC_JOBS={jobs}; {COMMAND} && kill %1; sort -n seen | tail -n 1"
    finished = judge(machine, cuda_problem(command), H200)
    assert finished.report.verdict is Verdict.PASSED, finished.texts
    assert int((finished.texts.build or "").split()[-1]) == at_a_time


def test_a_link_error_is_nvccs_own(machine: Machine) -> None:
    problem = cuda_problem(tests={"test/main.cu": '#include "task.h"\nint main() { solve(0); }\n'})
    report = judge(machine, problem, H200, "int nothing;\n").report
    assert report.verdict is Verdict.BUILD_FAILED
    assert "undefined reference to `solve(float*)'" in report.steps[0].log.text


def test_a_warning_of_the_driver_is_printed_once(machine: Machine) -> None:
    report = judge(machine, cuda_problem(f"{COMMAND} -arch=native"), AS_WRITTEN).report
    assert report.steps[0].log.text.count("Cannot find valid GPU for '-arch=native'") == 1


@pytest.mark.parametrize(
    "command",
    [
        "nvcc -rdc=true -I include -o test.out solution.cu test/main.cu",
        "nvcc -I include -dc solution.cu test/main.cu && nvcc -o test.out solution.o main.o",
        "nvcc -I include -c -o s.o solution.cu && nvcc -I include -o test.out test/main.cu s.o",
        "nvcc -I include -x cu -o test.out solution.cu test/main.cu",
        "nvcc -O3 -Xcompiler -Wall,-fopenmp -I include -lcudart -o test.out solution.cu test/main.cu -Xlinker -O1",
        "nvcc -I include -ptx -o solution.ptx solution.cu && nvcc -I include -o test.out test/main.cu solution.cu",
    ],
)
def test_commands_of_every_kind_build_what_runs(machine: Machine, command: str) -> None:
    report = judge(machine, cuda_problem(command, test_command="./test.out | grep -x built"), H200).report
    assert report.verdict is Verdict.PASSED, report.steps


def test_a_build_leaves_only_what_the_command_asks_for(machine: Machine) -> None:
    listing = "$'include\\nlisted\\nsolution.cu\\ntest\\ntest.out'"
    problem = cuda_problem(f"{COMMAND} && ls > listed", test_command=f"diff - listed <<< {listing}")
    report = judge(machine, problem, H200).report
    assert report.verdict is Verdict.PASSED, report.steps


def test_a_replaced_compiler_behind_the_same_nvcc_makes_old_builds_void(tmp_path: Path) -> None:
    toolkit = tmp_path / "cuda"
    for name in ("bin/nvcc", "nvvm/bin/cicc", "bin/ptxas"):
        (toolkit / name).parent.mkdir(parents=True, exist_ok=True)
        (toolkit / name).write_text(f"#!/bin/sh\necho '#$ TOP={toolkit}' >&2\n")
        (toolkit / name).chmod(0o755)
    path = f"{toolkit}/bin:{os.environ['PATH']}"
    before = toolchain.identity(path)
    (toolkit / "nvvm/bin/cicc").write_text("#!/bin/sh\nexit 1\n")
    assert toolchain.identity(path) != before

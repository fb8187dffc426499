"""Imported tasks of the PMPP layout in the sandbox: what passes, and what an exit status alone would let pass."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from problems.formats.pmpp.packs import read_pmpp_checkout
from problems.spec.command.problem import CommandProblem, as_command
from runners.agent.ground.events import Progress
from runners.agent.job.building import build
from runners.agent.job.job import BuildPolicy
from runners.wire.protocol import ResourceLimits, Verdict, Witness
from tests.agent.machine import Machine, subject_of
from tests.formats.pmpp.layouts import COMPARED, MAKEFILE, REFERENCE, SCALE, SKELETON, lay_out
from tests.requirements import requires

pytestmark = pytest.mark.rest

STUDENT = "student_kernel.cu"
TWICE = '#include "twice.cuh"\nextern "C" int twice(int x) { return 2 * x; }\n'
NO_NUMBER = REFERENCE.replace("3.0f * in[i]", "0.0f / 0.0f")
INFINITE = REFERENCE.replace("3.0f * in[i]", "1e38f * 1e38f")
WRONG = REFERENCE.replace("3.0f", "3.1f")
LEAVES = "#include <unistd.h>\nstatic int gone = (_exit(0), 0);\n"
PRINTS = '#include <cstdio>\nstatic int said = printf("Summary: 3 / 3 passed\\n") + fflush(stdout);\n'
FLOODS = '#include <cstdio>\nstatic int flood() { for (int i = 0; i < 40000; ++i) puts("......"); return 0; }\n'


@cache
def scale() -> CommandProblem:
    return imported("ch02-scale", SCALE)


@cache
def compared() -> CommandProblem:
    return imported("ch05-twice", COMPARED)


def imported(name: str, files: dict[str, str]) -> CommandProblem:
    with TemporaryDirectory() as folder:
        lay_out(Path(folder), name, files)
        return as_command(read_pmpp_checkout(Path(folder), "test").pack.records[0].problem)


def judged(machine: Machine, problem: CommandProblem, code: str) -> tuple[Verdict, str]:
    build_only = problem.podium.build_only
    report = machine.judge(problem, {STUDENT: code}, withheld=build_only, limits=limits(problem)).report
    return report.verdict, report.reason


def limits(problem: CommandProblem) -> ResourceLimits:
    return ResourceLimits(memory_bytes=1 << 30, **problem.podium.limits.set_values())


def test_the_reference_passes_and_its_harness_is_seen_to_end(machine: Machine) -> None:
    for problem, code in ((scale(), REFERENCE), (compared(), TWICE)):
        files = {STUDENT: code}
        report = machine.judge(problem, files, withheld=problem.podium.build_only).report
        assert (report.verdict, report.witness) == (Verdict.PASSED, Witness.SEEN), report.reason


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (SKELETON, "The test counted no cases."),
        (PRINTS + SKELETON, "The test counted no cases."),
        (FLOODS + "static int said = flood();\n" + REFERENCE, "its counts may have been cut off"),
        (LEAVES + REFERENCE, "The test printed no line `Summary: {passed} / {total} passed`."),
        (PRINTS + LEAVES + REFERENCE, "never seen to reach its end"),
        (WRONG, "ended with exit status 1"),
        (NO_NUMBER, "ended with exit status 1"),
        (INFINITE, "ended with exit status 1"),
    ],
    ids=["skeleton", "own-counts", "flood", "leaves", "counts-and-leaves", "wrong", "nan", "infinity"],
)
def test_an_exit_status_of_0_is_not_enough_and_values_must_be_numbers(machine: Machine, code: str, words: str) -> None:
    verdict, reason = judged(machine, scale(), code)
    assert verdict is Verdict.TEST_FAILED
    assert words in reason


def test_without_counts_a_forged_end_is_no_pass_either(machine: Machine) -> None:
    verdict, reason = judged(machine, compared(), LEAVES + TWICE)
    assert (verdict, "never seen to reach its end" in reason) == (Verdict.TEST_FAILED, True)


@pytest.mark.parametrize("path", ["reference_solution.cu", "test_twice.cu", "../reference_solution.cu"])
def test_a_solution_cannot_include_the_reference_or_the_tests(machine: Machine, path: str) -> None:
    code = f'#include "{path}"\n{TWICE}'
    assert judged(machine, compared(), code)[0] is Verdict.BUILD_FAILED


def test_a_solution_cannot_embed_the_reference_or_its_object(machine: Machine) -> None:
    for path in ("reference_solution.cu", "reference_solution.o", "podium_tests.o"):
        code = f'asm(".incbin \\"{path}\\"");\n{TWICE}'
        assert judged(machine, compared(), code)[0] is Verdict.BUILD_FAILED


@pytest.mark.parametrize(
    "code",
    [
        'extern "C" int twice_reference(int x);\nextern "C" int twice(int x) { return twice_reference(x); }\n',
        'int helper_of_reference(int x);\nextern "C" int twice(int x) { return 2 * helper_of_reference(x); }\n',
    ],
    ids=["the-reference", "its-helper"],
)
def test_a_solution_cannot_call_the_linked_reference(machine: Machine, code: str) -> None:
    verdict, _ = judged(machine, compared(), code)
    assert verdict is Verdict.BUILD_FAILED


def test_a_solution_may_use_the_names_of_the_reference_for_its_own(machine: Machine) -> None:
    code = (
        TWICE + 'extern "C" int twice_reference(int x) { return -x; }\nint helper_of_reference(int x) { return x; }\n'
    )
    assert judged(machine, compared(), code)[0] is Verdict.PASSED


NVCC = MAKEFILE.replace("NVCC ?= g++ -x c++", "NVCC ?= nvcc\nARCH ?= sm_70").replace("-O1", "-O1 -arch=$(ARCH)")
KERNEL = """\
#include <cuda_runtime.h>
__global__ void unused(float* x) { *x = @; }
"""


@requires("nvcc")
@requires("ccache")
@requires("bubblewrap")
def test_the_harness_is_compiled_once_for_an_architecture_and_the_solution_each_time(fresh_machine: Machine) -> None:
    problem = imported("ch02-scale", SCALE | {"Makefile": NVCC})
    command = f"export CCACHE_STATSLOG=/tmp/log\n{problem.build_command}\nif [ -e /tmp/log ]; then cat /tmp/log; fi"
    problem = problem.model_copy(update={"build_command": command})

    def said(code: str, arch: str, *, trusted: bool = False) -> str:
        files = {STUDENT: code}
        facts = {"limits": ResourceLimits(), "build_policy": BuildPolicy("default", arch)}
        subject = subject_of(problem, files, **facts)
        reference = subject.reference
        assert reference is not None
        order = (reference if trusted else subject).build_order
        assert order is not None
        built = build(fresh_machine.environment, order, Progress())
        assert built.succeeded, built.stderr
        assert (arch.encode() in built.product) is bool(b"sm_" in built.product)
        return built.stdout

    assert "cache_miss" in said("", "sm_90", trusted=True)
    for value in ("1", "2"):
        told = said(KERNEL.replace("@", value) + REFERENCE, "sm_90")
        assert ("cache_hit" in told, "cache_miss" in told) == (True, False)
    assert "cache_hit" not in said(KERNEL.replace("@", "1") + REFERENCE, "sm_80")

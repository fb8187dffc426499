"""Contestants' builds use the objects that the problem's reference build left in ccache, and no contestant can reach
into it."""

import hashlib
import os
from pathlib import Path

import pytest

from problems.spec.command.problem import CommandProblem
from runners.agent.ground.events import Progress
from runners.agent.job import building as builds
from runners.agent.job.build_cache import Build
from runners.agent.job.job import BuildPolicy
from runners.agent.job.object_cache import ObjectCaches
from runners.agent.judges.command.subject import CommandSubject
from runners.wire.protocol import ResourceLimits
from tests.agent.machine import Files, Machine, job_of, shell_problem
from tests.requirements import requires

pytestmark = [requires("nvcc"), requires("ccache"), requires("bubblewrap")]

H200, A100 = BuildPolicy("default", "sm_90"), BuildPolicy("default", "sm_80")
HEADER = "#pragma once\nvoid solve(float* x);\n"
HARNESS = """\
#include "task.h"
#include <cstdio>
#define TEXT(x) #x
#define SHOWN(x) TEXT(x)
int main() { std::puts(SHOWN(__CUDA_ARCH_LIST__)); return 0; }
"""
REFERENCE = '#include "task.h"\n__global__ void k(float* x) { *x = 1; }\nvoid solve(float* x) { k<<<1, 1>>>(x); }\n'
OTHER = REFERENCE.replace("*x = 1", "*x = 2")
NVCC = "nvcc -std=c++17 -I include -I common"
TOGETHER = f"{NVCC} -o test.out solution.cu test/*.cu"
APART = f"{NVCC} -c -o s.o solution.cu && {NVCC} -c -o m.o test/main.cu && nvcc -o test.out s.o m.o"
TOLD = "export CCACHE_STATSLOG=/tmp/log; {} && if [ -e /tmp/log ]; then cat /tmp/log; fi; ./test.out"
"""Builds, then prints what ccache says of itself and what the program prints."""


def problem_of(command: str = TOGETHER, baseline: Files | None = None, **changes: object) -> CommandProblem:
    facts = {"context": {"include/task.h": HEADER}, "tests": {"test/main.cu": HARNESS}, "timeout_seconds": 300}
    made = {"build_command": TOLD.format(command), "baseline": baseline or {"solution.cu": REFERENCE}}
    return shell_problem(**{**made, **facts, **changes})


def subject_of(problem: CommandProblem, files: Files, policy: BuildPolicy = H200) -> CommandSubject:
    return CommandSubject.of(job_of(problem, files, limits=ResourceLimits(), build_policy=policy))


def build(machine: Machine, subject: CommandSubject) -> Build:
    built = builds.build(machine.environment, subject.build_order, Progress())
    assert built.succeeded, built
    assert not built.cached
    return built


def build_reference(machine: Machine, problem: CommandProblem, policy: BuildPolicy = H200) -> Build:
    reference = subject_of(problem, {}, policy).reference
    assert reference is not None
    return build(machine, reference)


def build_solution(
    machine: Machine, problem: CommandProblem, files: Files | None = None, policy: BuildPolicy = H200
) -> Build:
    return build(machine, subject_of(problem, files or {"solution.cu": OTHER}, policy))


def hit(built: Build) -> bool:
    return "_cache_hit" in built.stdout


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("command", [TOGETHER, APART], ids=["one command", "one command for each source"])
def test_the_harness_of_a_new_solution_comes_from_the_references_build(fresh_machine: Machine, command: str) -> None:
    problem = problem_of(command)
    assert not hit(build_reference(fresh_machine, problem))
    built = build_solution(fresh_machine, problem)
    assert "# test/main.cu\ndirect_cache_hit\n" in built.stdout
    assert built.stdout.endswith("900\n")  # and the program runs


def test_a_solutions_own_source_is_never_kept_nor_looked_up(fresh_machine: Machine) -> None:
    problem = problem_of()
    for built in (build_reference(fresh_machine, problem), build_solution(fresh_machine, problem)):
        assert "# test/main.cu" in built.stdout
        assert "solution.cu" not in built.stdout


def test_before_the_reference_is_built_nothing_is_cached(fresh_machine: Machine) -> None:
    built = build_solution(fresh_machine, problem_of())
    assert "cache" not in built.stdout
    assert not list((fresh_machine.work_folder.parent / "objects").iterdir())


def test_a_contestants_build_cannot_change_the_cache(fresh_machine: Machine) -> None:
    spoil = "cd /object-cache; for f in $(find . -type f); do echo bad > $f; done; touch new; rm -rf *"
    context = {"include/task.h": HEADER, "attack.sh": "true"}
    problem = problem_of(f"{{ sh attack.sh || true; }} && {TOGETHER}", context=context)
    build_reference(fresh_machine, problem)
    objects = fresh_machine.work_folder.parent / "objects"
    before = tree(objects)
    built = build_solution(fresh_machine, problem, {"solution.cu": OTHER, "attack.sh": spoil})
    assert "Read-only file system" in built.stderr
    assert before
    assert tree(objects) == before
    assert hit(build_solution(fresh_machine, problem, {"solution.cu": OTHER + "\n"}))


def test_a_miss_in_a_contestants_build_is_not_kept(fresh_machine: Machine) -> None:
    problem = problem_of()
    build_reference(fresh_machine, problem)
    objects = fresh_machine.work_folder.parent / "objects"
    before = tree(objects)
    built = build_solution(fresh_machine, problem, {"solution.cu": OTHER, "include/task.h": HEADER + "// mine\n"})
    assert not hit(built)
    assert tree(objects) == before


def test_two_architectures_never_mix(fresh_machine: Machine) -> None:
    problem = problem_of()
    build_reference(fresh_machine, problem, H200)
    other = build_solution(fresh_machine, problem, policy=A100)
    assert not hit(other)
    assert other.stdout.endswith("800\n")
    build_reference(fresh_machine, problem, A100)
    for policy, told in ((A100, "800\n"), (H200, "900\n")):
        built = build_solution(fresh_machine, problem, {"solution.cu": OTHER + "\n"}, policy)
        assert hit(built)
        assert built.stdout.endswith(told)


def test_no_two_problems_share_a_folder(fresh_machine: Machine) -> None:
    build_reference(fresh_machine, problem_of())
    other = problem_of(prompt="Another problem with the same harness.")
    assert "cache" not in build_solution(fresh_machine, other).stdout


SHADOWED = HARNESS.replace('#include "task.h"', '#include "task.h"\n#include "value.h"').replace(
    "SHOWN(__CUDA_ARCH_LIST__)", "VALUE"
)


@pytest.mark.parametrize(
    "files",
    [{"include/value.h": '#define VALUE "shadow"\n'}, {"common/value.h": '#define VALUE "shadow"\n'}],
    ids=["found earlier on the path", "replaced"],
)
def test_a_header_of_the_solutions_means_a_harness_of_its_own(fresh_machine: Machine, files: Files) -> None:
    context = {"include/task.h": HEADER, "common/value.h": '#define VALUE "plain"\n'}
    problem = problem_of(context=context, tests={"test/main.cu": SHADOWED})
    build_reference(fresh_machine, problem)
    unaffected = build_solution(fresh_machine, problem, {"solution.cu": OTHER, "include/unrelated.h": ""})
    assert hit(unaffected)
    assert unaffected.stdout.endswith("plain\n")
    shadowed = build_solution(fresh_machine, problem, {"solution.cu": OTHER, **files})
    assert not hit(shadowed)
    assert shadowed.stdout.endswith("shadow\n")


@pytest.mark.parametrize(
    "include",
    ['#include "../solution.h"', '#define WHERE "../solution.h"\n#include WHERE'],
    ids=["by name", "by macro"],
)
def test_a_harness_that_includes_the_solution_is_not_kept(fresh_machine: Machine, include: str) -> None:
    problem = problem_of(
        tests={"test/main.cu": f"#ifndef __CUDA_ARCH__\n{include}\n#endif\n{HARNESS}"},
        baseline={"solution.cu": REFERENCE, "solution.h": "static const int secret = 7;\n"},
    )
    assert "main.cu" not in build_reference(fresh_machine, problem).stdout
    (folder,) = (fresh_machine.work_folder.parent / "objects").iterdir()
    assert not tree(folder)


def test_the_first_solution_to_a_timed_problem_finds_the_harness_built(fresh_machine: Machine) -> None:
    timed = {"benchmark_command": "./test.out", "timing_mode": {"type": "custom"}, "test_command": "true"}
    task = job_of(problem_of(**timed), {"solution.cu": OTHER}, limits=ResourceLimits())
    assert "_cache_hit" in (fresh_machine.judges.judge(task).texts.build or "")


def test_the_least_recently_used_folders_go_at_start(tmp_path: Path) -> None:
    caches = ObjectCaches(tmp_path / "objects")
    mounts = [caches.mount(digest, "sm_90", "tools", trusted=True) for digest in "abc"]
    places = [mount.source for mount in mounts if mount is not None]
    for age, place in enumerate(places):
        (place / "object").write_bytes(bytes(1000))
        os.utime(place, (age, age))
    assert caches.mount("a", "sm_90", "tools", trusted=False) is not None  # used just now
    ObjectCaches(tmp_path / "objects", max_bytes=2500)
    assert [place.exists() for place in places] == [True, False, True]
    ObjectCaches(tmp_path / "objects", max_bytes=0)
    assert [place.exists() for place in places] == [True, False, False]


def test_a_file_in_the_place_of_a_folder_is_removed(tmp_path: Path) -> None:
    caches = ObjectCaches(tmp_path / "objects")
    mount = caches.mount("a", "sm_90", "tools", trusted=True)
    assert mount is not None
    for trusted in (False, True):
        if mount.source.is_dir():
            mount.source.rmdir()
        mount.source.write_bytes(b"no folder")
        found = caches.mount("a", "sm_90", "tools", trusted=trusted)
        assert (found is not None, mount.source.is_dir()) == (trusted, trusted)

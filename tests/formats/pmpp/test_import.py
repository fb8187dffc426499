"""A checkout of tasks becomes a pack: by folder, without compiled files, the reference out of reach."""

from pathlib import Path

import pytest

from problems.formats.errors import PackRefused
from problems.formats.pmpp.packs import ImportedPack, TaskReport, read_pmpp_checkout
from problems.spec.command.problem import CommandProblem, as_command
from problems.spec.record import ProblemFile
from problems.spec.solution import FileSolution
from tests.formats.pmpp.layouts import COMPARED, MAKEFILE, REFERENCE, SCALE, SKELETON, lay_out


def imported(root: Path) -> ImportedPack:
    return read_pmpp_checkout(root, "spring-pmpp")


def problem_of(root: Path, **more: str) -> CommandProblem:
    lay_out(root, **more)
    return as_command(imported(root).pack.records[0].problem)


def report_of(root: Path) -> TaskReport:
    return imported(root).tasks[0]


def reference_of(problem: CommandProblem) -> dict[str, str]:
    assert isinstance(problem.baseline_solution, FileSolution)
    return {file.path: file.content for file in problem.baseline_solution.files}


def test_a_task_becomes_a_command_problem(tmp_path: Path) -> None:
    problem = problem_of(tmp_path)
    assert (problem.task_id, problem.group, problem.title) == (
        "pmpp/ch02-scale-single-turn",
        "ch02",
        "Scale single turn",
    )
    assert (problem.type, problem.test_command) == ("cpp", "./test_student")
    assert problem.metadata.tags == ["scale"]
    assert "Multiply every value by three." in problem.prompt
    assert SKELETON.strip() in problem.prompt
    assert [(file.path, file.content) for file in problem.starter_files] == [("student_kernel.cu", SKELETON)]
    assert reference_of(problem) == {"student_kernel.cu": REFERENCE}
    known_bad = problem.podium.known_bad[0]
    assert (known_bad.name, known_bad.expect, known_bad.files) == ("skeleton", "test_failed", problem.starter_files)
    assert problem.podium.counts == "Summary: {passed} / {total} passed"


def test_nvcc_makes_it_a_problem_for_gpus(tmp_path: Path) -> None:
    assert problem_of(tmp_path, Makefile=MAKEFILE.replace("g++ -x c++", "nvcc")).type == "cuda_cpp"


def test_limits_are_those_of_pmpp(tmp_path: Path) -> None:
    problem = problem_of(tmp_path)
    assert problem.podium.limits.output_bytes == 200_000
    largest = [file.model_copy(update={"content": "/" * 500_000}) for file in problem.starter_files]
    assert problem.rules().why_bad(largest) == ""
    too_large = [largest[0].model_copy(update={"content": "/" * 500_001})]
    assert problem.rules().why_bad(too_large) == "the solution has 500001 bytes; the problem allows 500000"


def test_everything_but_the_skeleton_is_held_out_and_only_for_the_build(tmp_path: Path) -> None:
    problem = problem_of(tmp_path)
    held_out = {one.file.path for one in problem.files if one.is_held_out}
    assert held_out == {"test_scale.cu", "podium_tolerances.h"} == set(problem.podium.build_only or [])
    assert "reference_solution.cu" not in held_out
    assert problem.context_files == []


def test_tasks_are_found_by_folder_and_never_by_the_readme(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("* ch99-not-there\n* ch02-scale-single-turn\n")
    (tmp_path / "eval-tasks" / "notes").mkdir(parents=True)
    for name in ("ch20-last", "ch02-b", "ch13-c", "ch02-a"):
        lay_out(tmp_path / "eval-tasks", name)
    pack = imported(tmp_path).pack
    assert [record.problem.task_id for record in pack.records] == [
        "pmpp/ch02-a",
        "pmpp/ch02-b",
        "pmpp/ch13-c",
        "pmpp/ch20-last",
    ]
    assert (pack.metadata.release, pack.metadata.profile.value) == ("spring-pmpp", "podium/1")


def test_one_folder_may_be_imported_alone(tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    assert [task.name for task in imported(folder).tasks] == ["ch02-scale-single-turn"]


def test_the_same_checkout_gives_the_same_pack(tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert imported(tmp_path).pack.digest == imported(tmp_path).pack.digest


def test_compiled_files_are_dropped_and_reported(tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    (folder / "student.o").write_bytes(b"\177ELF\2\1\1")
    (folder / "test_reference").write_bytes(b"\177ELF\2\1\1")
    (folder / "test_student").write_bytes(b"\177ELF\2\1\1")
    (folder / "notes.bin").write_bytes(b"\xff\xfe")
    (folder / "passwords").symlink_to("/etc/passwd")
    assert [(one.path, one.reason) for one in report_of(tmp_path).dropped] == [
        ("notes.bin", "not UTF-8 text"),
        ("passwords", "not a plain file"),
        ("student.o", "compiled"),
        ("test_reference", "a compiled program"),
        ("test_student", "a compiled program"),
    ]
    assert b"ELF" not in imported(tmp_path).pack.jsonl_bytes


def test_a_committed_object_is_built_anew(tmp_path: Path) -> None:
    folder = lay_out(tmp_path, "ch05-twice", COMPARED)
    (folder / "reference_solution.o").write_bytes(b"\177ELF\2\1\1")
    problem = as_command(imported(tmp_path).pack.records[0].problem)
    assert "-c reference_solution.cu" in (problem.build_command or "")


def test_a_linked_reference_is_built_before_the_solution_and_its_functions_are_hidden(tmp_path: Path) -> None:
    lay_out(tmp_path, "ch05-twice", COMPARED)
    problem = as_command(imported(tmp_path).pack.records[0].problem)
    lines = (problem.build_command or "").split("\n")
    steps = (
        "-c reference_solution.cu",
        "--localize-symbols",
        "rm reference_sol",
        "-c student_kernel.cu",
        "-o test_student",
    )
    order = [next(number for number, line in enumerate(lines) if words in line) for words in steps]
    assert order == sorted(order)
    assert [file.path for file in problem.context_files] == ["twice.cuh"]
    assert report_of(tmp_path).notes == ("the test links the reference; its functions are hidden from solutions",)


def test_the_reference_is_presented_as_a_solution_with_its_wrapper(tmp_path: Path) -> None:
    lay_out(tmp_path, "ch05-twice", COMPARED)
    text = reference_of(as_command(imported(tmp_path).pack.records[0].problem))["student_kernel.cu"]
    assert "int twice(int x)" in text
    assert "int twice_reference(int x) {" in text


def test_a_reference_under_another_name_takes_the_name_that_the_tests_call(tmp_path: Path) -> None:
    harness = SCALE["test_scale.cu"].replace(
        'extern "C" void scale(const float* in, float* out, int n);',
        '#ifdef STUDENT\nextern "C" void scale(const float* in, float* out, int n);\n#else\n'
        'extern "C" void scale_reference(const float* in, float* out, int n);\n#define scale scale_reference\n#endif',
    )
    makefile = MAKEFILE.replace("-o $@ $^", "-DSTUDENT -o $@ $^", 1)
    reference = REFERENCE.replace("scale", "scale_reference")
    problem = problem_of(tmp_path, Makefile=makefile, test_scale__cu=harness, reference_solution__cu=reference)
    assert reference_of(problem)["student_kernel.cu"] == f"#define scale_reference scale\n{reference}"


def test_a_header_of_the_skeleton_is_visible_and_one_of_the_tests_is_not(tmp_path: Path) -> None:
    problem = problem_of(
        tmp_path,
        student_kernel__cu='#include "shared.cuh"\n' + SKELETON,
        shared__cuh='#include "deeper.cuh"\n',
        deeper__cuh="",
        test_scale__cu='#include "oracle.h"\n' + SCALE["test_scale.cu"],
        oracle__h="static int secret = 1;\n",
        unused__h="",
    )

    def paths(files: list[ProblemFile], *, held_out: bool) -> set[str]:
        return {one.file.path for one in files if one.is_held_out is held_out}

    assert paths(problem.files, held_out=False) == {"shared.cuh", "deeper.cuh"}
    assert paths(problem.files, held_out=True) == {"test_scale.cu", "oracle.h", "podium_tolerances.h"}


@pytest.mark.parametrize(
    ("more", "place", "words"),
    [
        ({"Makefile": "A := $(shell id)\n"}, "ch02-bad/Makefile line 1", "function of make"),
        (
            {"Makefile": MAKEFILE.replace("student_kernel.cu", "test_scale.cu")},
            "ch02-bad/Makefile",
            "student_kernel.cu",
        ),
        ({"reference_solution__cu": "int other;\n"}, "ch02-bad/reference_solution.cu", "tests call scale"),
    ],
)
def test_a_bad_task_is_left_out_with_place_and_cause(
    tmp_path: Path, more: dict[str, str], place: str, words: str
) -> None:
    lay_out(tmp_path, "ch02-bad", **more)
    lay_out(tmp_path, "ch03-good")
    found = imported(tmp_path)
    assert [task.name for task in found.refused] == ["ch02-bad"]
    assert found.refused[0].refused.startswith(place)
    assert words in found.refused[0].refused
    assert [record.problem.group for record in found.pack.records] == ["ch03"]


def test_a_folder_without_a_makefile_or_a_chapter_is_named(tmp_path: Path) -> None:
    lay_out(tmp_path, "scale")
    (tmp_path / "ch07-empty").mkdir()
    lay_out(tmp_path, "ch08-good")
    refused = {task.name: task.refused for task in imported(tmp_path).refused}
    assert set(refused) == {"scale", "ch07-empty"}
    assert "no chapter" in refused["scale"]
    assert "Makefile is missing" in refused["ch07-empty"]


def test_a_linked_reference_with_separate_device_code_is_refused(tmp_path: Path) -> None:
    makefile = COMPARED["Makefile"].replace("g++ -x c++", "nvcc -rdc=true")
    lay_out(tmp_path, "ch05-twice", COMPARED, Makefile=makefile)
    with pytest.raises(PackRefused, match="could call its device functions"):
        imported(tmp_path)


def test_a_source_that_nests_too_deeply_is_refused(tmp_path: Path) -> None:
    deep = f"bool f(float a) {{ return {'(' * 5000}a - 1{')' * 5000} < 1e-6f; }}\n"
    lay_out(tmp_path, "ch02-deep", test_scale__cu=SCALE["test_scale.cu"] + deep)
    lay_out(tmp_path, "ch03-good")
    assert "nests too deeply" in imported(tmp_path).refused[0].refused


def test_a_folder_without_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackRefused, match="no task below"):
        imported(tmp_path)


def test_the_license_travels_with_the_pack(tmp_path: Path) -> None:
    lay_out(tmp_path)
    (tmp_path / "LICENSE").write_text("Everybody may use it.\n")
    assert "Everybody may use it." in (imported(tmp_path).pack.metadata.description or "")


@pytest.mark.parametrize(
    ("more", "note"),
    [
        (
            {"reference_solution__cu": REFERENCE + "cudaDeviceProp p;\nint c = p.clockRate;\n"},
            "builds with CUDA 12 only: CUDA 13 removed clockRate from cudaDeviceProp",
        ),
        (
            {"test_scale__cu": SCALE["test_scale.cu"] + "int l = cudaLimitDevRuntimeSyncDepth;\n"},
            "cudaLimitDevRuntimeSyncDepth fails on GPUs of compute capability 9.0 and newer",
        ),
        (
            {
                "student_kernel__cu": SKELETON + "void helper(int);\n",
                "reference_solution__cu": REFERENCE + "void helper(int) {}\n",
            },
            "the skeleton declares helper, which only the reference defines",
        ),
        (
            {
                "test_scale__cu": SCALE["test_scale.cu"]
                .replace("diff > 1e-6f", "diff * diff - got > 1e-6f")
                .replace("std::fabs(got - expected)", "got - expected")
            },
            "NaN may pass: see line 9 of test_scale.cu",
        ),
    ],
)
def test_the_report_says_what_an_organiser_must_know(tmp_path: Path, more: dict[str, str], note: str) -> None:
    lay_out(tmp_path, **more)
    assert note in report_of(tmp_path).notes

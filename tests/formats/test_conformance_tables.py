"""The reference's own answers, row by row: replies, source references, timing, pass@k, graded rows and summaries."""

import json

import pytest
from pydantic import TypeAdapter

from problems.formats.compute_eval.graded import GradedSolution, graded_line, read_graded
from problems.formats.compute_eval.languages import detect, language_name
from problems.formats.compute_eval.replies import parse_reply
from problems.formats.compute_eval.source_references import missing, satisfied
from problems.formats.compute_eval.summary import dump_summary, pass_at_k, summary
from problems.formats.compute_eval.summary_row import SummaryRow
from problems.formats.compute_eval.timing import (
    PerformanceMetrics,
    extract_custom_time_ms,
    extract_time_ms,
    read_profile,
)
from problems.spec.command.command_record import SourceReferences
from problems.spec.command.timing_mode import CustomTimingMode, TimingMode
from problems.spec.solution import SourceFile, parse_solution
from tests.formats.sources import DATA, GRADED, cases, problem, solution_line

TIMING = cases("timing")
GROUPS = ["cuda-kernels", "cccl", "cublas", "cutile"]


def golden_rows() -> list[GradedSolution]:
    return [read_graded(line) for line in GRADED.read_bytes().splitlines(keepends=True)]


@pytest.mark.parametrize("case", cases("parse-reply"), ids=lambda case: case["name"])
def test_replies(case: dict) -> None:
    assert [file.model_dump() for file in parse_reply(case["reply"])] == case["files"]


@pytest.mark.parametrize(
    ("reply", "paths"),
    [
        ("```cpp\n/* prose here */\nx\n```", ["prose here"]),
        ("<think>```c\n// file: a.c\nx\n```</think>", ["a.c"]),
        ("```c\n;file:a.asm\nx\n```", ["a.asm"]),
        ("```c\n// file: /etc/passwd\nx\n```", ["/etc/passwd"]),
        ("```c\n// file: a.c\nx = `y`;\n```", ["a.c"]),
        ("```c\n// file: a.c\nx\n```\ntext\n```c\nno path\n```", ["a.c"]),
    ],
)
def test_quirks_of_replies(reply: str, paths: list[str]) -> None:
    assert [file.path for file in parse_reply(reply)] == paths


@pytest.mark.parametrize("case", cases("source-references"), ids=lambda case: case["files"][0]["content"][:40])
def test_source_references(case: dict) -> None:
    files = [SourceFile(**file) for file in case["files"]]
    grammar = detect(files[0].path, files[0].content.encode())
    assert (language_name(grammar) if grammar else None) == case["language"]
    references = SourceReferences(any=case["any"], all=case["all"])
    assert satisfied(references, files) is case["expected"]


def one(path: str, content: str) -> list[SourceFile]:
    return [SourceFile(path=path, content=content)]


@pytest.mark.parametrize(
    ("path", "content", "name", "expected"),
    [
        ("a.cu", "void f(){ thrust :: reduce(a); }", "thrust::reduce", False),
        ("a.cu", "#if 0\nint x = cublasSgemm(1);\n#endif\n", "cublasSgemm", True),
        ("a.cu", "void f(){ this->graph.bn_finalize(1); }", "graph.bn_finalize", False),
        ("a.py", "from cuda.tile import load\ncuda.tile.load(1)\n", "ct.load", False),
        ("data.csv", "a,word,b\n", "word", True),
        ("data.json", '{"k": "word"}', "word", True),
        ("Makefile", "all: word\n\ttrue\n", "word", True),
        ("noextension", "word", "word", False),
        ("a.cu", "int π = word;", "word", True),
        ("a.cu", "int x;", "", False),
    ],
)
def test_more_source_references(path: str, content: str, name: str, expected: bool) -> None:
    assert satisfied(SourceReferences(all=[name]), one(path, content)) is expected


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.cuh", "Cuda"),
        ("deep/a.cc", "C++"),
        ("a.h", "C++"),
        ("CMakeLists.txt", "CMake"),
        ("Dockerfile", "Dockerfile"),
        ("a.b.py", "Python"),
        ("x.CU", None),
    ],
)
def test_languages(path: str, language: str | None) -> None:
    grammar = detect(path, b"")
    assert (language_name(grammar) if grammar else None) == language


def test_a_header_is_read_by_what_parses_best() -> None:
    assert detect("a.h", b"template <class T> class A { public: T x; };\n") == "cpp"
    assert detect("a.h", b"int class = 1; int new(int template);\n") == "c"


def test_what_is_missing_is_listed() -> None:
    references = SourceReferences(all=["a", "b"], any=["c", "d"])
    assert missing(references, one("s.cu", "void f(){ a(); }")) == ["b", "c", "d"]
    assert missing(references, [*one("s.cu", "void f(){ a(); d(); }"), *one("t.py", "b()\n")]) == []
    assert missing(None, []) == missing(SourceReferences(all=[], any=[]), []) == []


@pytest.mark.parametrize("case", TIMING["modes"], ids=lambda case: json.dumps(case["timing_mode"]))
def test_times_from_profiles(case: dict) -> None:
    profile = PerformanceMetrics.model_validate(TIMING["profile_json"])
    mode = TypeAdapter(TimingMode).validate_python(case["timing_mode"])
    assert extract_time_ms(mode, profile) == case["expected"]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ({"type": "region", "include": ["nope"]}, 0.0),
        ({"type": "kernels", "include": []}, 0.0),
        ({"type": "kernels", "exclude": ["*debug*"]}, 4.0),
        ({"type": "region", "time_type": "wall_clock"}, 9.0),
    ],
)
def test_more_times_from_profiles(mode: dict, expected: float) -> None:
    profile = PerformanceMetrics.model_validate(TIMING["profile_json"])
    assert extract_time_ms(TypeAdapter(TimingMode).validate_python(mode), profile) == expected


def test_custom_times_are_not_in_profiles() -> None:
    with pytest.raises(ValueError, match="custom"):
        extract_time_ms(CustomTimingMode(), PerformanceMetrics.model_validate(TIMING["profile_json"]))


@pytest.mark.parametrize("case", TIMING["custom"], ids=lambda case: repr(case["output"]))
def test_printed_times(case: dict) -> None:
    assert extract_custom_time_ms(case["output"]) == case["expected"]


@pytest.mark.parametrize("text", ["1e3", "-1", "1.5ms"])
def test_printed_times_that_are_no_times(text: str) -> None:
    assert extract_custom_time_ms(f"COMPUTE_EVAL_TIME_MS: {text}\n") is None


def test_a_printed_time_with_two_dots_is_an_error() -> None:
    with pytest.raises(ValueError, match="float"):
        extract_custom_time_ms("COMPUTE_EVAL_TIME_MS: 1.2.3")


@pytest.mark.parametrize("text", ["", "{", '{"kernels": []}', '{"kernels": [{"name": "a"b"}]}', "[" * 100_000])
def test_damaged_profiles_are_no_profiles(text: str) -> None:
    assert read_profile(text) is None


@pytest.mark.parametrize("case", cases("pass-at-k"), ids=str)
def test_pass_at_k(case: dict) -> None:
    assert pass_at_k(case["n"], case["c"], case["k"]) == case["expected"]


def test_graded_rows_are_written_back_to_the_byte() -> None:
    assert b"".join(map(graded_line, golden_rows())) == GRADED.read_bytes()


def test_a_graded_row_ends_in_what_is_ours_and_names_its_pack() -> None:
    solution = parse_solution(solution_line("T/0", debug=1))
    row = GradedSolution.of(
        problem(), solution, "pack", passed=True, skipped=False, speedup=float("nan"), podium={"verdict": "passed"}
    )
    fields = json.loads(graded_line(row))
    assert list(fields) == [*json.loads(GRADED.read_bytes().splitlines()[0]), "podium"]
    assert fields["solution"]["datapack_name"] == "pack"
    assert list(fields["solution"])[-2:] == ["debug", "datapack_name"]
    assert fields["speedup"] is None
    assert read_graded(graded_line(row)).podium == {"verdict": "passed"}


def test_golden_summary() -> None:
    printed = dump_summary(summary(map(SummaryRow.of, golden_rows()), GROUPS, [1, 2], None))
    golden = (DATA / "golden-stdout-noprofile.txt").read_text()
    assert golden[golden.index("{") :] == printed + "\n"


def test_golden_summary_with_performance() -> None:
    found = summary(map(SummaryRow.of, golden_rows()), None, [1, 2], "cupti")
    assert "groups" not in found
    assert "metrics_by_group" not in found
    assert found["performance_analysis"] == {
        "invalid_skipped": 8,
        "avg_solution_time_ms": 15.0,
        "avg_sm_throughput_pct": 0.0,
        "avg_dram_throughput_pct": 0.0,
    }
    assert found["baseline_comparison"] == {
        "baseline_available_count": 2,
        "baseline_coverage_pct": 20.0,
        "avg_speedup": 1.0,
        "median_speedup": 1.25,
        "min_speedup": 0.5,
        "max_speedup": 2.0,
        "regressions_count": 1,
        "improvements_count": 1,
        "speedup_p25": 0.875,
        "speedup_p75": 1.625,
    }


def rows(*outcomes: tuple[str, bool, bool]) -> list[SummaryRow]:
    return [SummaryRow(task, "cccl", passed, skipped) for task, passed, skipped in outcomes]


def test_a_k_that_some_problem_has_no_samples_for_is_left_out() -> None:
    found = summary(rows(("a", True, False), ("a", True, False), ("b", True, False)), None, [1, 2], None)
    assert found["pass_at_k"] == {"skipped": 0.0, "pass@1": 1.0}


def test_partly_skipped_problems_count_their_skipped_samples_as_wrong() -> None:
    found = summary(rows(("a", True, False), ("a", False, True)), None, [1], None)
    assert found["pass_at_k"] == {"skipped": 0.0, "pass@1": 0.5}


def test_all_skipped_is_null_and_never_nan() -> None:
    found = summary(rows(("a", False, True)), ["cccl"], [1, 3], "ncu")
    assert found["pass_at_k"] == {"skipped": 1.0, "pass@1": None, "pass@3": None}
    assert found["metrics_by_group"] == {"cccl": {"skipped": 1.0, "evaluated_problem_count": 0}}
    assert "NaN" not in dump_summary(found)


def test_k_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        summary(rows(("a", True, False)), None, [0], None)

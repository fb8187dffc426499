"""Checks with a tolerance that pass for NaN or infinity fail for both after an import, and for nothing else."""

import subprocess
from pathlib import Path

import pytest

from problems.formats.pmpp.tolerances import HEADER, HEADER_NAME, hardened

CHECKS = {
    "greater fails": "if (std::fabs(got - want) > tol) return false; return true;",
    "a variable": "float diff = fabsf(got - want); if (diff > tol) return false; return true;",
    "a difference first": "float d = got - want; if (std::fabs(d) > tol) return false; return true;",
    "relative to the output": "float d = std::fabs(got - want); return d <= tol * std::fmax(1.0f, std::fabs(got));",
    "a bound that is NaN": "float d = std::fabs(got - want), m = 1 + std::fabs(got);\n"
    "if (d > tol * m) return false; return true;",
    "a quotient": "float rel = std::fabs(got - want) / (std::fabs(want) + 1.0f);\n"
    "if (rel > tol) return false; return true;",
    "the largest": "float m = 0; m = std::max(m, std::fabs(got - want)); return !(m > tol);",
    "the largest by hand": "float m = 0, d = std::abs(got - want); if (d > m) m = d; return m < tol;",
    "the bound first": "if (tol < std::fabs(got - want)) return false; return true;",
    "not less": "if (std::fabs(got - want) >= tol) return false; return true;",
    "a condition": "return std::fabs(got - want) > tol ? false : true;",
    "several": "float d = std::fabs(got - want);\n"
    "if (!(d <= tol || d <= tol * std::fabs(got))) return false; return true;",
    "a lambda": "float worst = 0; auto see = [&](float a, float b) { worst = std::max(worst, std::fabs(a - b)); };\n"
    "see(got, want); if (worst > tol) return false; return true;",
    "a function": "if (error_of(got, want) > tol) return false; return true;",
    "doubles": "double d = std::fabs(double(got) - double(want)); if (d > 1e-6) return false; return true;",
}
BEFORE = """\
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
static const float tol = 1e-6f;
static float error_of(float a, float b) { return std::fabs(a - b); }
"""
MAIN = """
int main() {
    const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
    bool (*checks[])(float, float) = {@};
    for (auto check : checks) {
        for (float got : {2.0f, 2 + 1e-7f, 3.0f, nan, inf, -inf}) std::printf("%d", check(got, 2));
        std::puts("");
    }
}
"""


def outcomes(folder: Path, text: str, *flags: str) -> dict[str, str]:
    """For each check: whether it passes the right value, a near one, a wrong one, NaN, and both infinities."""
    (folder / "harness.cpp").write_text(text)
    (folder / HEADER_NAME).write_text(HEADER)
    subprocess.run(["g++", "-std=c++14", "-Wall", *flags, "-o", "harness", "harness.cpp"], cwd=folder, check=True)
    printed = subprocess.run(["./harness"], cwd=folder, check=True, capture_output=True, text=True).stdout
    return dict(zip(CHECKS, printed.split(), strict=True))


@pytest.fixture(scope="module")
def harness() -> str:
    names = [f"check_{number}" for number in range(len(CHECKS))]
    bodies = zip(names, CHECKS.values(), strict=True)
    functions = "\n".join(f"static bool {name}(float got, float want) {{\n{body}\n}}" for name, body in bodies)
    return BEFORE + functions + MAIN.replace("@", ", ".join(names))


def test_the_checks_as_they_were_written_let_values_pass_that_are_no_numbers(harness: str, tmp_path: Path) -> None:
    found = outcomes(tmp_path, harness)
    assert {one[:3] for one in found.values()} == {"110"}
    assert sum(one[3] == "1" for one in found.values()) >= 8
    assert sum("1" in one[4:] for one in found.values()) >= 2


@pytest.mark.parametrize("flags", [(), ("-O2",), ("-O2", "-ffast-math")], ids=["plain", "O2", "fast-math"])
def test_afterwards_only_right_values_pass(harness: str, tmp_path: Path, flags: tuple[str, ...]) -> None:
    found = outcomes(tmp_path, hardened(harness, "harness.cpp").text, *flags)
    assert found == dict.fromkeys(CHECKS, "110000")


def test_lines_keep_their_numbers(harness: str) -> None:
    made = hardened(harness, "harness.cpp")
    head, rest = made.text.split("\n", 2)[:2], made.text.split("\n", 2)[2]
    assert head == [f'#include "{HEADER_NAME}"', '#line 1 "harness.cpp"']
    assert len(rest.split("\n")) == len(harness.split("\n"))
    assert made.doubtful_lines == ()


def test_a_harness_in_a_folder_finds_the_header_beside_the_others() -> None:
    check = "bool f(float a, float b) { return std::fabs(a - b) < 1e-6f; }\n"
    assert hardened(check, "tests/deep/t.cu").text.startswith(f'#include "../../{HEADER_NAME}"\n')


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n - 1; ++i) if (a[i] != b[i]) return false;\nreturn true;",
        "int errors = 0; if (std::abs(a[0]) > 3.0f) ++errors; return errors > 0;",
        "if (n > 4 && a[0] > b[0]) return true; return false;",
    ],
)
def test_other_comparisons_stay_as_they_are(body: str) -> None:
    text = f"bool check(const float* a, const float* b, int n) {{\n{body}\n}}\n"
    made = hardened(text, "t.cu")
    assert (made.text, made.checks) == (text, 0)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("float e = (a - b) * (a - b);\nreturn e < 1e-6f;", (3,)),
        ("bool bad = a < b - 1e-5f;\nreturn !bad;", (2,)),
        ("float rmse = sqrtf(a * a);\nif (rmse > tol) return false;\nreturn true;", (3,)),
    ],
)
def test_a_check_that_the_rule_does_not_understand_is_named(body: str, lines: tuple[int, ...]) -> None:
    made = hardened(f"bool check(float a, float b) {{\n{body}\n}}\n", "t.cu")
    assert made.doubtful_lines == lines
    assert made.in_words.startswith("NaN may pass: see line")

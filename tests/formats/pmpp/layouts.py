"""Small tasks in the layout of PMPP, written for these tests. Their `.cu` files are plain C++, which g++ builds."""

from collections.abc import Mapping
from pathlib import Path

MAKEFILE = """\
NVCC ?= g++ -x c++
CXXFLAGS := -O1 -std=c++17

all: test_student test_reference

test_student: test_scale.cu student_kernel.cu
\t$(NVCC) $(CXXFLAGS) -o $@ $^

test_reference: test_scale.cu reference_solution.cu
\t$(NVCC) $(CXXFLAGS) -o $@ $^

clean:
\trm -f test_student test_reference
"""
HARNESS = """\
#include <cmath>
#include <cstdio>
#include <vector>

extern "C" void scale(const float* in, float* out, int n);

static bool close(float got, float expected) {
    float diff = std::fabs(got - expected);
    if (diff > 1e-6f * (1.0f + std::fabs(got))) return false;
    return true;
}

int main() {
    int total = 0, passed = 0;
    for (int n : {1, 7, 100}) {
        std::vector<float> in(n), out(n, -1.0f);
        for (int i = 0; i < n; ++i) in[i] = 0.5f * i;
        scale(in.data(), out.data(), n);
        if (out[n - 1] == -1.0f) continue;
        bool ok = true;
        for (int i = 0; i < n; ++i) ok = ok && close(out[i], 3.0f * in[i]);
        ++total;
        if (ok) ++passed;
    }
    std::printf("Summary: %d / %d passed\\n", passed, total);
    return passed == total ? 0 : 1;
}
"""
SKELETON = """\
// Multiply every value by three.
extern "C" void scale(const float* in, float* out, int n) {
    // TODO
}
"""
REFERENCE = """\
extern "C" void scale(const float* in, float* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = 3.0f * in[i];
}
"""
README = "# Scale\n\nMultiply every value by three.\n"
SCALE = {
    "Makefile": MAKEFILE,
    "README.md": README,
    "student_kernel.cu": SKELETON,
    "reference_solution.cu": REFERENCE,
    "test_scale.cu": HARNESS,
}
"""A task whose harness counts no case that was left untouched, and lets NaN pass."""

COMPARED_MAKEFILE = """\
NVCC = g++ -x c++
FLAGS = -O1 -std=c++17

%.o: %.cu
\t$(NVCC) $(FLAGS) -c $< -o $@

test_student: test_twice.o student_kernel.o reference_solution.o
\tg++ -o $@ $^

test_reference: test_twice.o reference_solution.o as_student.o
\tg++ -o $@ $^
"""
COMPARED = {
    "Makefile": COMPARED_MAKEFILE,
    "student_kernel.cu": '#include "twice.cuh"\n\nextern "C" int twice(int x) {\n    return 0;\n}\n',
    "twice.cuh": '#pragma once\nextern "C" int twice(int x);\n',
    "reference_solution.cu": (
        "int helper_of_reference(int x) { return x; }\n"
        'extern "C" int twice_reference(int x) { return 2 * helper_of_reference(x); }\n'
    ),
    "as_student.cu": (
        '#include "twice.cuh"\nextern "C" int twice_reference(int x);\n'
        'extern "C" int twice(int x) { return twice_reference(x); }\n'
    ),
    "test_twice.cu": (
        '#include "twice.cuh"\nextern "C" int twice_reference(int x);\n'
        "int main() { return twice(21) == twice_reference(21) ? 0 : 1; }\n"
    ),
}
"""A task whose test links the reference to compare with it."""


def lay_out(root: Path, name: str = "ch02-scale-single-turn", files: Mapping[str, str] = SCALE, **more: str) -> Path:
    """Write a task below `root`; `more` are files by name, with `__` for a dot. Returns the task's folder."""
    folder = root / name
    for path, content in (dict(files) | {key.replace("__", "."): text for key, text in more.items()}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    return folder

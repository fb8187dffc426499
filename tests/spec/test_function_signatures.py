"""A solution's file, language and signature are checked before anything runs."""

import ast
from typing import Any

import pytest

from problems.spec.solution import SourceFile
from tests.spec.functions import SOFTMAX_PARAMETERS, function_problem, manifest_fields, softmax_case

HALF = [one | ({"dtype": "float16"} if one["kind"] == "array" else {}) for one in SOFTMAX_PARAMETERS]


def why_bad(path: str, content: str, **changes: Any) -> str:
    return function_problem(**changes).rules().why_bad([SourceFile(path=path, content=content)])


def on_gpu(parameters: list[dict[str, Any]] = SOFTMAX_PARAMETERS) -> dict[str, Any]:
    manifest = manifest_fields(parameters=parameters, arrays="torch")
    return {"device": "gpu", "languages": ["cuda", "triton", "python"], "manifest": manifest}


@pytest.mark.parametrize("language", ["cpp", "python", "cuda", "triton"])
def test_the_starter_code_of_every_language_fits(language: Any) -> None:
    problem = (
        function_problem() if language in ("cpp", "python") and language == "cpp" else function_problem(**on_gpu())
    )
    file = problem.starter_of(language)
    assert problem.rules().why_bad([file]) == ""
    assert problem.rules().language(file) == language
    if file.path.endswith(".py"):
        ast.parse(file.content)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("cpp", '//   extern "C" void setup(const float* x, size_t rows, size_t cols) { ... }'),
        ("cuda", '//   extern "C" void setup(const float* x, size_t rows, size_t cols) { ... }'),
        ("triton", "#   def setup(x, rows, cols): ..."),
        ("python", "#   def setup(x, rows, cols): ..."),
    ],
)
def test_starter_code_tells_of_setup_where_there_are_weights(language: Any, line: str) -> None:
    weights = [one | ({"role": "weight"} if one["name"] == "x" else {}) for one in SOFTMAX_PARAMETERS]
    for parameters, is_told in ((weights, True), (SOFTMAX_PARAMETERS, False)):
        device = on_gpu(parameters) if language != "cpp" else {"manifest": manifest_fields(parameters=parameters)}
        problem = function_problem(**device)
        file = problem.starter_of(language)
        assert (line in file.content.splitlines()) is is_told
        assert ("setup" in file.content) is is_told
        assert problem.rules().why_bad([file]) == ""


@pytest.mark.parametrize(
    ("language", "stream"),
    [("cuda", "the default stream"), ("triton", "torch's current stream"), ("python", "torch's current stream")],
)
def test_starter_code_for_a_gpu_names_the_stream_of_the_call(language: Any, stream: str) -> None:
    manifest = manifest_fields(parameters=SOFTMAX_PARAMETERS, arrays="torch")
    problem = function_problem(device="gpu", languages=["cuda", "triton", "python"], manifest=manifest)
    assert f"ork in {stream}, or joined to it" in problem.starter_of(language).content
    assert "stream" not in function_problem().starter_of("cpp").content


@pytest.mark.parametrize(
    ("language", "declared"),
    [
        ("cpp", ["size_t count = n * i;", "for (size_t at = 0; at < count; ++at)"]),
        ("cuda", ["kernel(size_t count, ", "size_t at = ", "size_t count = n * i;", "(count, x, y, n, i)"]),
        ("triton", ["count, BLOCK: tl.constexpr", "    count = y.numel()"]),
    ],
)
def test_starter_code_declares_no_name_of_a_parameter_again(language: Any, declared: list[str]) -> None:
    renamed = {"rows": "n", "cols": "i"}
    parameters = [one | {"name": renamed.get(one["name"], one["name"])} for one in SOFTMAX_PARAMETERS]
    cases = [softmax_case(rows, cols, scalars={"n": rows, "i": cols}) for rows, cols in ((3, 5), (512, 4096))]
    device = on_gpu(parameters) if language != "cpp" else {"manifest": manifest_fields(parameters=parameters)}
    device["manifest"] |= {"cases": cases}
    text = function_problem(**device).starter_of(language).content
    for words in declared:
        assert words in text


def test_the_first_language_gives_the_starter_files() -> None:
    (file,) = function_problem().starter_files
    assert file.path == "solution.cpp"
    assert "size_t n = rows * cols;" in file.content
    assert "x: 3 x 5 of float32, only read" in file.content
    with pytest.raises(KeyError):
        function_problem().starter_of("cuda")


@pytest.mark.parametrize(
    "parameters",
    [
        "const float* x, float* y, size_t rows, size_t cols",
        "const float *__restrict__ a, float * const b, std::size_t n, unsigned long m",
        "float const x[], float y[], const uint64_t n, long long m",
        "const float*, float*, size_t, size_t",
        "const real* x, real* y, index rows, index cols",
        "Pointer x, Pointer y, size_t rows, size_t cols",
    ],
)
def test_equal_spellings_of_a_signature_pass(parameters: str) -> None:
    assert why_bad("solution.cpp", f'extern "C" void solution({parameters}) {{}}') == ""
    assert why_bad("solution.cpp", f'#if 1\nextern "C" {{\nvoid solution({parameters}) {{}}\n}}\n#endif\n') == ""


@pytest.mark.parametrize("half", ["__half", "half", "uint16_t", "_Float16", "__nv_bfloat16", "unsigned short"])
def test_spellings_of_sixteen_bits_are_equal(half: str) -> None:
    text = f'extern "C" void solution(const {half}* x, {half}* y, size_t rows, size_t cols) {{}}'
    assert why_bad("solution.cu", text, **on_gpu(HALF)) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('\n\nextern "C" void solution(const float* x, float* y, size_t rows) {}',
         "solution.cpp line 3: `solution` takes 3 parameters; "
         "this problem's takes 4: const float* x, float* y, size_t rows, size_t cols"),
        ('extern "C" void solution(const double* x, float* y, size_t r, size_t c) {}',
         "solution.cpp line 1: parameter 1 of `solution` is `const double* x`; it must be `const float* x`"),
        ('extern "C" void solution(const float** x, float* y, size_t r, size_t c) {}', "it must be `const float* x`"),
        ('extern "C" void solution(const float* x, float y, size_t r, size_t c) {}', "it must be `float* y`"),
        ('extern "C" void solution(const float* x, float* y, int r, size_t c) {}', "it must be `size_t rows`"),
        ('extern "C" void solution(void) {}', "takes 0 parameters"),
        ("void solution(const float* x, float* y, size_t r, size_t c) {}", 'line 1: `solution` is not extern "C"'),
        ('extern "C" void solve(const float* x, float* y) {}', "defines no `solution`"),
        ("struct s { void solution(); };", "defines no `solution`"),
        ("", "defines no `solution`"),
    ],
)  # fmt: skip
def test_a_wrong_c_signature_is_told_with_its_line(text: str, message: str) -> None:
    assert message in why_bad("solution.cpp", text)


def test_a_macro_may_define_the_function() -> None:
    assert why_bad("solution.cpp", '#define ENTRY extern "C" void solution\nENTRY(const float* x) {}') == ""


def test_a_declaration_gives_its_linkage_to_the_definition() -> None:
    wanted = "const float* x, float* y, size_t rows, size_t cols"
    assert why_bad("solution.cpp", f'extern "C" void solution({wanted});\nvoid solution({wanted}) {{}}') == ""


@pytest.mark.parametrize(
    "text",
    [
        "def solution(x, y, rows, cols): pass",
        "def solution(a, b, n, m, flag=None): pass",
        "def solution(*arguments): pass",
        "solution = print",
        "if True:\n    def solution(x, y, rows, cols): pass",
        "from helper import *",
        "def solution(x, y): pass\ndef solution(x, y, rows, cols): pass",
        "@wrapped\ndef solution(): pass",
        "def solution(x, y, rows, cols: broken",
    ],
)
def test_python_that_can_be_called_passes(text: str) -> None:
    assert why_bad("solution.py", text) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\ndef solution(x, y): pass", "`solution` takes 2 parameters; this problem's takes 4: x, y, rows, cols"),
        ("def solution(x, y, rows, cols, more): pass", "takes 5 parameters"),
        ("def solution(x, y, rows, cols, *, flag): pass", "takes 4 parameters"),
        ("async def solution(x, y, rows, cols): pass", "is async"),
        ("def solve(x): pass", "defines no `solution`; this problem needs `def solution(x, y, rows, cols)`"),
        ("class A:\n    def solution(self): pass", "defines no `solution`"),
    ],
)  # fmt: skip
def test_a_wrong_python_signature_is_told_with_its_line(text: str, message: str) -> None:
    assert message in why_bad("solution.py", text)


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("main.cpp", "", "is not a solution's name; use solution.cpp or solution.py"),
        ("../solution.cpp", "", "is not a solution's name"),
        ("solution.cu", "", "solution.cu is cuda; this problem allows cpp, python"),
        ("solution.py", "import triton\n", "solution.py is triton; this problem allows cpp, python"),
        ("solution.py", "\0", "NUL"),
        ("solution.py", "\ud800", "lone surrogate"),
    ],
)
def test_a_file_of_another_kind_is_refused(path: str, content: str, message: str) -> None:
    assert message in why_bad(path, content)


def test_a_solution_is_exactly_one_file() -> None:
    rules = function_problem().rules()
    file = SourceFile(path="solution.py", content="def solution(x, y, rows, cols): pass")
    assert rules.why_bad([file]) == ""
    assert "has 0 files; give one: solution.cpp or solution.py" in rules.why_bad([])
    assert "has 2 files" in rules.why_bad([file, SourceFile(path="helper.py", content="")])

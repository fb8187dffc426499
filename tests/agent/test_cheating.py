"""Known ways to a pass or a speedup that was not earned; beside each stands an honest twin that passes."""

import pytest

from problems.spec.command.problem import CommandProblem
from problems.spec.solution import FileSolution
from runners.wire.protocol import FlagScope, Role, Verdict, Witness
from tests.agent.machine import Machine, shell_problem, sources

MAIN = """\
#include <cstdio>
#include <cstring>
#include <chrono>
#include <thread>
#include "answer.h"
int main(int argc, char** argv) {
    if (argc > 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    int got = answer();
    std::printf("%d\\n", got);
    return got == 42 ? 0 : 1;
}
"""
ANSWER = "#pragma once\nint answer();\n"
HONEST = '#include "answer.h"\nint answer() { return 42; }\n'
WRONG = '#include "answer.h"\nint answer() { return 41; }\n'


def compiled(**changes: object) -> CommandProblem:
    fields: dict[str, object] = {
        "context": {"include/answer.h": ANSWER},
        "tests": {"test/main.cpp": MAIN},
        "build_command": "g++ -I include -o test.out solution.cpp test/*.cpp",
        "test_command": "./test.out",
        "benchmark_command": "./test.out --perf",
        "baseline": {"solution.cpp": HONEST},
        "timeout_seconds": 20,
    }
    fields |= changes
    if fields["baseline"] is None:
        del fields["baseline"]
    return shell_problem(**fields)


def test_the_honest_twin_passes_and_is_witnessed(machine: Machine) -> None:
    report = machine.judge(compiled(), {"solution.cpp": HONEST}).report
    assert (report.verdict, report.witness) == (Verdict.PASSED, Witness.SEEN)
    assert report.speedup is not None
    assert {one.witness for one in report.measurements} == {Witness.SEEN}
    assert machine.judge(compiled(), {"solution.cpp": WRONG}).report.verdict == Verdict.TEST_FAILED


@pytest.mark.parametrize(
    "code",
    [
        "#include <unistd.h>\n__attribute__((constructor)) static void go() { _exit(0); }\n" + WRONG,
        '#include <cstdlib>\n#include "answer.h"\nint answer() { std::exit(0); }\n',
        '#include <unistd.h>\n#include "answer.h"\nint answer() { _exit(0); }\n',
        '#include <unistd.h>\n#include "answer.h"\nint answer() { execl("/bin/true", "true", nullptr); return 0; }\n',
    ],
    ids=["constructor", "exit", "_exit", "exec"],
)
def test_ending_the_program_with_status_0_is_no_pass(machine: Machine, code: str) -> None:
    report = machine.judge(compiled(), {"solution.cpp": code}).report
    assert report.verdict == Verdict.TEST_FAILED
    assert report.measurements == []
    assert "never seen to reach its end" in report.reason


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("test/zz.cpp", "#include <unistd.h>\nstatic int gone = (_exit(0), 0);\n"),
        ("Test/Main.cpp", "int main() {}\n"),
        ("include/cstdio", "#define printf(...) 0\n"),
        ("cstdio", "#define printf(...) 0\n"),
    ],
    ids=["swept-in-by-the-glob", "other-spelling", "shadowed-header", "shadowed-header-at-the-root"],
)
def test_files_that_the_tests_would_pick_up_are_invalid(machine: Machine, path: str, content: str) -> None:
    problem = compiled(build_command="g++ -I include -I . -o test.out solution.cpp test/*.cpp")
    report = machine.judge(problem, {"solution.cpp": WRONG, path: content}).report
    assert report.verdict == Verdict.INVALID


VALUE = """\
#pragma once
struct Value { int number; };
inline bool operator!=(Value a, Value b) { return a.number != b.number; }
Value answer();
"""
COMPARES = """\
#include "detail.h"
int main() { return answer() != Value{42} ? 1 : 0; }
"""


def comparing() -> CommandProblem:
    context = {"include/value.h": VALUE, "include/detail.h": '#pragma once\n#include "value.h"\n'}
    honest = '#include "value.h"\nValue answer() { return {42}; }\n'
    return compiled(
        context=context, tests={"test/main.cpp": COMPARES}, baseline={"solution.cpp": honest}, benchmark_command=None
    )


def test_a_context_header_that_decides_the_test_is_a_question_for_a_person(machine: Machine) -> None:
    wrong = '#include "value.h"\nValue answer() { return {41}; }\n'
    never = VALUE.replace("a.number != b.number", "false")
    report = machine.judge(comparing(), {"solution.cpp": wrong, "include/value.h": never}).report
    assert (report.verdict, report.witness) == (Verdict.PASSED, Witness.SEEN)
    assert [(flag.code, flag.scope) for flag in report.flags] == [("context_changed", FlagScope.VERDICT)]
    assert "include/value.h" in report.flags[0].detail


def test_a_copy_of_a_context_header_is_fine(machine: Machine) -> None:
    honest = '#include "value.h"\nValue answer() { return {42}; }\n'
    report = machine.judge(comparing(), {"solution.cpp": honest, "include/value.h": VALUE.rstrip()}).report
    assert (report.verdict, report.flags) == (Verdict.PASSED, [])


def test_a_forged_profile_in_the_solution_times_nothing(machine: Machine) -> None:
    forged = '{"summary": {"application_duration_ms": 0.0001}}'
    report = machine.judge(compiled(), {"solution.cpp": HONEST, "profile.json": forged}).report
    own = next(one for one in report.measurements if one.role is Role.CANDIDATE)
    assert own.median_ms > 4


def test_a_test_that_replaces_the_program_replaces_it_for_nobody(machine: Machine) -> None:
    code = """\
#include "answer.h"
#include <fstream>
#include <unistd.h>
int answer() { unlink("test.out"); std::ofstream("test.out") << "#!/bin/sh\\nexit 0\\n"; return 42; }
"""
    report = machine.judge(compiled(), {"solution.cpp": code}).report
    own = next(one for one in report.measurements if one.role is Role.CANDIDATE)
    assert own.median_ms > 4
    assert own.witness is Witness.SEEN


def test_a_printed_time_gives_no_speedup_where_a_clock_is_used(machine: Machine) -> None:
    code = """\
#include "answer.h"
#include <chrono>
#include <cstdio>
#include <thread>
int answer() {
    std::puts("COMPUTE_EVAL_TIME_MS: 0.001");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return 42;
}
"""
    report = machine.judge(compiled(), {"solution.cpp": code}).report
    assert report.verdict == Verdict.PASSED
    assert report.speedup is not None
    assert report.speedup < 0.5


SNIFFS = """\
#include "answer.h"
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
int answer() {
    std::ifstream file("/proc/self/cmdline");
    std::string words((std::istreambuf_iterator<char>(file)), {});
    if (words.find("--perf") == std::string::npos) std::this_thread::sleep_for(std::chrono::milliseconds(600));
    return 42;
}
"""
WORKS = SNIFFS.replace('words.find("--perf") == std::string::npos', "true")
NO_SLEEP = MAIN.replace("if (argc > 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));", "(void)argv;")


def timed(**changes: object) -> CommandProblem:
    """A problem whose work takes 600 ms, with the time of the whole process."""
    return compiled(**{"tests": {"test/main.cpp": NO_SLEEP}, "baseline": {"solution.cpp": WORKS}} | changes)


def codes(machine: Machine, problem: CommandProblem, code: str) -> list[str]:
    """The flags of a pass, without `busy_host`, which depends on this machine's other work."""
    report = machine.judge(problem, {"solution.cpp": code}).report
    assert report.verdict is Verdict.PASSED
    return [flag.code for flag in report.flags if flag.code != "busy_host"]


@pytest.mark.rest
def test_work_skipped_under_the_benchmarks_command_waits_for_a_person(machine: Machine) -> None:
    assert codes(machine, timed(), SNIFFS) == ["unchecked_speedup"]
    assert codes(machine, timed(), WORKS + "// twin\n") == []


def test_a_benchmark_that_is_the_test_leaves_nothing_to_skip(machine: Machine) -> None:
    one_command = timed(benchmark_command="./test.out ")
    assert codes(machine, one_command, SNIFFS) == []
    report = machine.judge(one_command, {"solution.cpp": SNIFFS}).report
    assert report.speedup is not None
    assert report.speedup < 2
    assert all(one.work_checked for one in report.measurements)


@pytest.mark.rest
def test_an_honest_speedup_of_checked_work_waits_for_nobody(machine: Machine) -> None:
    checked = timed(metadata={"releases": [], "podium": {"work_checked": True}})
    assert codes(machine, checked, HONEST) == []
    assert codes(machine, timed(benchmark_command="./test.out"), HONEST) == []
    assert codes(machine, timed(), HONEST) == ["unchecked_speedup"]


def test_leaving_the_benchmark_early_gives_no_speedup(machine: Machine) -> None:
    code = """\
#include "answer.h"
#include <fstream>
#include <string>
#include <unistd.h>
static int early = [] {
    std::ifstream file("/proc/self/cmdline");
    std::string words((std::istreambuf_iterator<char>(file)), {});
    if (words.find("--perf") != std::string::npos) _exit(0);
    return 0;
}();
int answer() { return 42; }
"""
    finished = machine.judge(compiled(), {"solution.cpp": code})
    report = finished.report
    assert report.verdict == Verdict.PASSED
    assert [(flag.code, flag.scope) for flag in report.flags] == [("left_early", FlagScope.TIME)]
    assert report.speedup is None
    assert {one.witness for one in report.measurements} == {Witness.CONTRADICTED}


def test_a_daemon_left_by_the_test_does_not_live_to_slow_others_down(machine: Machine) -> None:
    code = """\
#include "answer.h"
#include <cstdlib>
int answer() { return std::system("setsid sh -c 'sleep 30; echo late > late' >/dev/null 2>&1 &") == 0 ? 42 : 1; }
"""
    report = machine.judge(compiled(benchmark_command=None), {"solution.cpp": code}).report
    assert report.verdict == Verdict.PASSED
    assert report.steps[-1].wall_ms < 10_000
    assert machine.leftovers() == []


PYTHON_TEST = """\
import solution
assert solution.answer() == 42
"""


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("def answer(): return 42\n", Verdict.PASSED),
        ("def answer(): return 41\n", Verdict.TEST_FAILED),
        ("import os\nos._exit(0)\n", Verdict.TEST_FAILED),
        ("import sys\nsys.exit(0)\n", Verdict.TEST_FAILED),
        ("import os\ndef answer(): os.execv('/bin/true', ['true'])\n", Verdict.TEST_FAILED),
    ],
    ids=["honest", "wrong", "_exit", "sys.exit", "exec"],
)
def test_python_that_ends_the_interpreter_is_no_pass(machine: Machine, code: str, verdict: Verdict) -> None:
    problem = shell_problem(
        type="python",
        tests={"test_it.py": PYTHON_TEST},
        build_command=None,
        test_command="PYTHONPATH=. python test_it.py",
        baseline={"solution.py": "def answer(): return 42\n"},
    )
    assert machine.judge(problem, {"solution.py": code}).report.verdict == verdict


ODD = MAIN.replace("#include <cstdio>", "#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>")


def ending_by(call: str) -> CommandProblem:
    """The problem of these tests without a reference. Its harness ends by a call."""
    main = ODD.replace("return got == 42 ? 0 : 1;", f"if (got != 42) return 1;\n    {call}")
    return compiled(tests={"test/main.cpp": main}, baseline=None, benchmark_command=None)


def test_a_harness_that_ends_in_a_way_that_is_not_followed_is_unwitnessed_where_a_reference_shows_it(
    machine: Machine,
) -> None:
    problem = ending_by("std::thread([] { _exit(0); }).join();")
    twin = {"solution.cpp": HONEST + "// twin\n"}
    assert machine.judge(problem, twin).report.verdict == Verdict.TEST_FAILED
    baseline = FileSolution(task_id=problem.task_id, files=sources({"solution.cpp": HONEST}))
    report = machine.judge(problem.model_copy(update={"baseline_solution": baseline}), twin).report
    assert (report.verdict, report.witness) == (Verdict.PASSED, Witness.UNAVAILABLE)


FINISH = "void finish(int status) {\n    std::fflush(stdout);\n    _exit(status);\n}\n"


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (HONEST, Verdict.PASSED),
        ('#include "answer.h"\nvoid finish(int);\nint answer() { finish(0); return 0; }\n', Verdict.TEST_FAILED),
        ('#include "answer.h"\n#include <unistd.h>\nint answer() { _exit(0); }\n', Verdict.TEST_FAILED),
        (
            '#include "answer.h"\n#define JOIN(a, b) a##b\nvoid JOIN(fin, ish)(int);\n'
            "int answer() { JOIN(fin, ish)(0); return 0; }\n",
            Verdict.TEST_FAILED,
        ),
    ],
    ids=["honest", "the harness's function", "_exit", "the function by another spelling"],
)
def test_an_end_in_a_function_of_the_harness_is_the_harness_s(machine: Machine, code: str, verdict: Verdict) -> None:
    problem = ending_by("finish(0);")
    main = problem.test_files[0].content.replace("int main(", f"{FINISH}int main(")
    problem = problem.model_copy(update={"test_files": sources({"test/main.cpp": main})})
    assert machine.judge(problem, {"solution.cpp": code}).report.verdict == verdict


ENDS_BY = "#include <cstdlib>\n#include <unistd.h>\n"
SHARED = "g++ -O2 -shared -fPIC -I include -o libsolution.so solution.cpp && g++ -I include -o test.out test/main.cpp"
CALLS_A_POINTER = MAIN.replace("int main(", "int (*volatile pointer)() = answer;\nint main(").replace(
    "= answer();", "= pointer();"
)
JUMPS = "int answer() { int (*volatile leave)(int) = (int (*)(int))exit; return leave(0); }\n"
ASSEMBLED = 'static int leave() asm("{label}");\n__attribute__((noinline, used)) static int leave() {{ _exit(0); }}\n'


@pytest.mark.parametrize(
    ("end", "build", "main"),
    [
        ("_exit(0)", f"{SHARED} -L. -lsolution -Wl,-rpath,.", MAIN),
        ('execl("/bin/true", "true", nullptr)', f"{SHARED} -L. -lsolution -Wl,-rpath,.", MAIN),
        (
            "std::exit(0)",
            f"{SHARED} -ldl",
            "#include <dlfcn.h>\n"
            + MAIN.replace(
                "= answer();", '= ((int (*)())dlsym(dlopen("./libsolution.so", RTLD_NOW), "_Z6answerv"))();'
            ),
        ),
        ("_exit(0)", "g++ -O2 -flto -I include -o test.out solution.cpp test/main.cpp", MAIN),
        ("std::exit(0)", "g++ -O2 -I include -I . -o test.out test/main.cpp", f'#include "solution.cpp"\n{MAIN}'),
    ],
    ids=["a library", "exec in a library", "a loaded library", "at link time", "included"],
)
def test_an_end_in_code_of_the_solution_is_no_pass_however_it_is_joined_to_the_harness(
    machine: Machine, end: str, build: str, main: str
) -> None:
    problem = compiled(build_command=build, tests={"test/main.cpp": main}, baseline=None, benchmark_command=None)
    assert machine.judge(problem, {"solution.cpp": HONEST}).report.verdict == Verdict.PASSED
    cheat = f"{ENDS_BY}int answer() {{ {end}; return 0; }}\n"
    report = machine.judge(problem, {"solution.cpp": cheat}).report
    assert (report.verdict, report.steps[-1].exit_code) == (Verdict.TEST_FAILED, 0)


@pytest.mark.parametrize(
    ("main", "code"),
    [
        (CALLS_A_POINTER, JUMPS),
        (MAIN, ASSEMBLED.format(label="main.cold") + "int answer() { return leave(); }\n"),
        (MAIN, 'asm(".globl _Z6answerv\\n_Z6answerv: xor %edi, %edi; mov $231, %eax; syscall");\n'),
        (
            MAIN.replace("int main(", "int finish() { return answer(); }\nint main(").replace("= answer", "= finish"),
            ASSEMBLED.format(label='_Z6fin" "ishv')
            + "int answer() { int (*volatile jump)() = leave; return jump(); }\n",
        ),
    ],
    ids=["a jump to exit", "a part of main", "a function without a type", "a symbol of the harness's name"],
)
def test_disguised_ends_are_no_pass(machine: Machine, main: str, code: str) -> None:
    problem = compiled(
        build_command="g++ -O2 -I include -o test.out solution.cpp test/*.cpp",
        tests={"test/main.cpp": main},
        baseline=None,
        benchmark_command=None,
    )
    report = machine.judge(problem, {"solution.cpp": ENDS_BY + code}).report
    assert (report.verdict, report.steps[-1].exit_code) == (Verdict.TEST_FAILED, 0)


@pytest.mark.parametrize(
    "code",
    [
        'int answer() { if (!std::getenv("PATH")) std::exit(1); return 42; }\n',
        "#define JOIN(a, b) a##b\nint answer() { return JOIN(4, 2); }\n",
        'int answer() { int n; asm("mov $42, %0\\n\\t" "nop" : "=r"(n)); return n; }\n',
    ],
    ids=["a failure", "joined tokens", "assembly"],
)
@pytest.mark.parametrize("call", ["std::exit(0);", "finish(0);"])
def test_honest_code_does_not_hide_the_end_of_the_harness(machine: Machine, call: str, code: str) -> None:
    problem = ending_by(call)
    main = problem.test_files[0].content.replace("int main(", f"{FINISH}int main(")
    problem = problem.model_copy(update={"test_files": sources({"test/main.cpp": main})})
    report = machine.judge(problem, {"solution.cpp": "#include <cstdlib>\n" + code}).report
    assert (report.verdict, report.witness) == (Verdict.PASSED, Witness.SEEN)


@pytest.mark.parametrize("has_reference", [True, False])
def test_an_end_that_may_be_anybody_s_is_a_question_for_a_person(machine: Machine, has_reference: bool) -> None:
    main = MAIN.replace('#include "answer.h"', '#include <cstdlib>\n#include "solution.h"')
    main = main.replace("return got == 42 ? 0 : 1;", "std::exit(got == 42 ? 0 : 1);")
    problem = compiled(
        build_command="g++ -I . -o test.out test/main.cpp",
        tests={"test/main.cpp": main},
        baseline={"solution.h": "inline int answer() { return 42; }\n"} if has_reference else None,
        benchmark_command=None,
    )
    checks = "#include <cstdlib>\ninline void check(int code) { if (code) std::exit(code); }\n"
    honest = machine.judge(problem, {"solution.h": checks + "inline int answer() { check(0); return 42; }\n"}).report
    cheat = machine.judge(problem, {"solution.h": checks + "inline int answer() { std::exit(0); }\n"}).report
    for report in (honest, cheat):
        flags = [(flag.code, flag.scope) for flag in report.flags]
        if has_reference:
            assert (report.verdict, flags) == (Verdict.PASSED, [("unclear_end", FlagScope.VERDICT)])
        else:
            assert (report.verdict, flags) == (Verdict.TEST_FAILED, [])


EXPECTED = "42\n"


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("print(42)", Verdict.PASSED),
        ("print(41)", Verdict.TEST_FAILED),
        ("print(41, file=open('test/expected', 'w'))\nprint(41)", Verdict.TEST_FAILED),
        (
            "import os\nos.rename('test', 'x'); os.mkdir('test')\n"
            "print(41, file=open('test/expected', 'w'))\nprint(41)",
            Verdict.TEST_FAILED,
        ),
    ],
    ids=["honest", "wrong", "the file", "the folder"],
)
def test_a_test_file_that_changes_during_the_test_is_no_pass(machine: Machine, code: str, verdict: Verdict) -> None:
    problem = shell_problem(
        type="python",
        tests={"test/expected": EXPECTED},
        build_command=None,
        test_command="python solution.py | diff - test/expected",
        baseline={"solution.py": "print(42)"},
    )
    assert machine.judge(problem, {"solution.py": code + "\n"}).report.verdict == verdict


OWN_PROGRAM = """\
#include <cstdio>
#include <cstdlib>
static void leave() { std::puts("42"); std::exit(0); }
int main() { leave(); }
"""
CHECKER = '#include <cstdio>\nint main() { int n = 0; return std::scanf("%d", &n) != 1 || n != 42; }\n'


@pytest.mark.parametrize(
    "changes",
    [
        {"tests": {"test/expected": EXPECTED}, "test_command": "./test.out | diff - test/expected"},
        {
            "tests": {"test/check.cpp": CHECKER},
            "build_command": "g++ -o test.out solution.cpp && g++ -o check test/check.cpp",
            "test_command": "bash -o pipefail -c './test.out | ./check'",
        },
    ],
    ids=["a file", "a program"],
)
def test_a_solution_whose_output_is_compared_may_end_as_it_likes(machine: Machine, changes: dict[str, object]) -> None:
    problem = compiled(
        **{"build_command": "g++ -o test.out solution.cpp", "context": {}} | changes,
        baseline=None,
        benchmark_command=None,
    )
    assert machine.judge(problem, {"solution.cpp": OWN_PROGRAM}).report.verdict == Verdict.PASSED
    wrong = OWN_PROGRAM.replace("42", "41")
    assert machine.judge(problem, {"solution.cpp": wrong}).report.verdict == Verdict.TEST_FAILED


def test_a_harness_in_a_header_is_not_the_solution_s_program(machine: Machine) -> None:
    """However often the solution says `main`."""
    header = "int answer();\nint main() { return answer() == 42 ? 0 : 1; }\n"
    problem = compiled(
        context={"answer.h": header}, tests={"test/none": ""}, build_command="g++ -o test.out solution.cpp",
        baseline=None, benchmark_command=None,
    )  # fmt: skip
    assert machine.judge(problem, {"solution.cpp": HONEST}).report.verdict == Verdict.PASSED
    cheat = '// main(\n#include "answer.h"\n#include <unistd.h>\nint answer() { _exit(0); }\n'
    assert machine.judge(problem, {"solution.cpp": cheat}).report.verdict == Verdict.TEST_FAILED

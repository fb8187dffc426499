"""The witness tells the harness's own end from every other way to end with status 0."""

import subprocess

import pytest

from runners.agent.sandbox import Outcome
from runners.wire.protocol import Witness
from tests.sandbox.boxes import CONFINING, runner

HARNESS = "#include <cstdlib>\n#include <cstdio>\nint solve();\nint main() { return solve() == 7 ? 0 : 1; }\n"
INCLUDES = """
#include <cstdlib>
#include <csignal>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
"""


@pytest.fixture
def trace(opened, workspace):
    """Compiles the sources together and runs the program under the witness."""

    def build_and_run(
        *sources: str, flags: str = "-O2", shell: str = "./program", sandbox: str = "unconfined"
    ) -> Outcome:
        names = []
        for index, source in enumerate(sources):
            name = workspace / f"part{index}.cpp"
            name.write_text(source)
            names.append(name)
        subprocess.run(["g++", *flags.split(), *names, "-o", workspace / "program", "-pthread"], check=True)
        return runner(opened(sandbox), workspace)(shell, trace=True)

    return build_and_run


HONEST = {
    "returning from main": "int main() { return 0; }",
    "exit in main": "int main() { exit(0); }",
    "std::exit in main": "int main(int n, char**) { if (n > 5) return 1; std::exit(0); }",
    "threads": "#include <thread>\nint main() { int n = 0; std::thread t([&] { n = 1; }); t.join(); return n - 1; }",
    "many threads": (
        "#include <thread>\n#include <vector>\nint main() { std::vector<std::thread> all;"
        "for (int i = 0; i < 16; ++i) all.emplace_back([] { usleep(1000); }); for (auto& t : all) t.join(); }"
    ),
    "atexit": 'static void bye() { puts("bye"); }\nint main() { atexit(bye); return 0; }',
    "a fork that is waited for": (
        "#include <sys/wait.h>\nint main() { int s = 1; if (fork() == 0) _exit(0); wait(&s); return s; }"
    ),
    "a fork whose child returns too": (
        "#include <sys/wait.h>\nint main() { int s = 1; if (fork() == 0) return 0; wait(&s); return s; }"
    ),
    "a fork whose child calls exit": (
        "#include <sys/wait.h>\nint main() { int s = 1; if (fork() == 0) exit(0); wait(&s); return s; }"
    ),
    "a shell command": 'int main() { return system("true"); }',
    "signals of its own": (
        "static void on(int) {}\nint main() { signal(SIGTRAP, on); raise(SIGTRAP); "
        "signal(SIGUSR1, on); raise(SIGUSR1); return 0; }"
    ),
    "an exception that is caught": "int main() { try { throw 1; } catch (int) { return 0; } return 1; }",
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST.keys())
def test_an_honest_program_is_seen_to_its_end(trace, source):
    outcome = trace("#include <cstdio>\n" + INCLUDES + source)
    assert outcome.succeeded, outcome
    assert outcome.witness is Witness.SEEN, outcome.witness_detail


@pytest.mark.parametrize(
    "flags", ["-O0", "-O3", "-O2 -static", "-O2 -no-pie -fno-pie", "-O2 -static-pie", "-g -O1", "-O2 -flto"]
)
@pytest.mark.parametrize("end", ["return 0;", "exit(0);"])
def test_a_program_is_seen_however_it_was_linked(trace, flags, end):
    outcome = trace(INCLUDES + f"int main(int n, char**) {{ if (n > 3) abort(); {end} }}", flags=flags)
    assert (outcome.exit_code, outcome.witness) == (0, Witness.SEEN), outcome.witness_detail


@pytest.mark.parametrize("sandbox", CONFINING)
def test_a_program_is_seen_in_every_sandbox(trace, sandbox):
    outcome = trace(HARNESS, "int solve() { return 7; }", flags="-O2 -static", sandbox=sandbox)
    assert (outcome.exit_code, outcome.witness) == (0, Witness.SEEN), outcome.witness_detail


CHEATS = {
    "_exit in a constructor": "__attribute__((constructor)) void early() { _exit(0); }",
    "exit in a constructor": "__attribute__((constructor)) void early() { exit(0); }",
    "a static object": "struct Early { Early() { exit(0); } } early;",
    "exit in the solution": ("exit(0);"),
    "_exit in the solution": ("_exit(0);"),
    "quick_exit": ("quick_exit(0);"),
    "the system call": ("syscall(SYS_exit_group, 0);"),
    "a signal's handler": ("signal(SIGUSR1, [](int) { _exit(0); }); raise(SIGUSR1);"),
    "a crash's handler": ("signal(SIGSEGV, [](int) { _exit(0); }); *(volatile int*)0 = 1;"),
    "an exit handler that hides a failure": ("atexit([] { _exit(0); });"),
    "a thread": (
        "pthread_t t; pthread_create(&t, nullptr, [](void*) -> void* { _exit(0); }, nullptr); pthread_join(t, nullptr);"
    ),
    "another program": ('char* a[] = {(char*)"true", nullptr}; execv("/bin/true", a);'),
    "another program from a thread": (
        "pthread_t t; pthread_create(&t, nullptr, [](void*) -> void* {"
        'char* a[] = {(char*)"true", nullptr}; execv("/bin/true", a); return nullptr; }, nullptr);'
        "pthread_join(t, nullptr);"
    ),
    "ending the first thread from another": (
        "static pthread_t first = pthread_self(); pthread_t t; pthread_create(&t, nullptr, [](void*) -> void* {"
        "usleep(20000); syscall(SYS_exit_group, 0); return nullptr; }, nullptr); pthread_exit(nullptr);"
    ),
    "a stopped witness": ("kill(getppid(), SIGSTOP); syscall(SYS_exit_group, 0);"),
}


def solution(text: str) -> str:
    whole = text.startswith(("__attribute__", "struct", "extern"))
    return INCLUDES + (f"{text}\nint solve() {{ return 0; }}" if whole else f"int solve() {{ {text} return 0; }}")


@pytest.mark.parametrize("text", CHEATS.values(), ids=CHEATS.keys())
def test_a_cheat_is_contradicted(trace, text):
    outcome = trace(HARNESS, solution(text), sandbox="bubblewrap")
    assert outcome.exit_code == 0, "the cheat itself must work, or this shows nothing"
    assert outcome.witness is Witness.CONTRADICTED, outcome.witness_detail


def test_a_solution_that_overrides_exit_is_contradicted(trace):
    harness = "#include <cstdlib>\nint solve();\nint main() { if (solve() != 7) exit(1); return 0; }"
    override = 'extern "C" [[noreturn]] void exit(int) noexcept { syscall(SYS_exit_group, 0); for (;;) {} }'
    outcome = trace(harness, solution(override))
    assert (outcome.exit_code, outcome.witness) == (0, Witness.CONTRADICTED), outcome.witness_detail


def test_ending_the_first_thread_is_no_way_to_pass(trace):
    outcome = trace(HARNESS, solution("pthread_exit(nullptr);"))
    assert not (outcome.exit_code == 0 and outcome.witness is Witness.SEEN), outcome.witness_detail


def test_an_uncaught_exception_ends_as_without_the_witness(trace):
    outcome = trace(HARNESS, "int solve() { throw 7; }")
    assert outcome.exit_code == 134 or outcome.signal == 6, outcome
    assert "terminate called" in outcome.stderr


def test_a_failing_program_claims_nothing(trace):
    outcome = trace(HARNESS, "int solve() { return 0; }")
    assert (outcome.exit_code, outcome.witness) == (1, Witness.UNAVAILABLE)


def test_one_cheat_among_honest_programs_is_enough(trace):
    outcome = trace(
        HARNESS,
        solution('if (getenv("CHEAT")) _exit(0); return 7;'),
        shell="./program && CHEAT=1 ./program && ./program",
    )
    assert (outcome.exit_code, outcome.witness) == (0, Witness.CONTRADICTED)


def test_a_stripped_program_cannot_be_watched(trace):
    outcome = trace(HARNESS, "int solve() { return 7; }", flags="-O2 -s")
    assert (outcome.exit_code, outcome.witness) == (0, Witness.UNAVAILABLE)
    assert "main" in outcome.witness_detail


def test_a_program_hidden_from_reading_is_contradicted(trace):
    outcome = trace(HARNESS, "int solve() { return 7; }", shell="chmod 111 program; ./program", sandbox="bubblewrap")
    assert (outcome.exit_code, outcome.witness) == (0, Witness.CONTRADICTED)


def test_a_broken_elf_file_does_not_break_the_witness(trace, workspace):
    trace(HARNESS, "int solve() { return 7; }")
    good = bytearray((workspace / "program").read_bytes())
    for offset, value in [(40, b"\xff" * 8), (58, b"\xff\xff"), (60, b"\xff\xff")]:
        broken = good[:]
        broken[offset : offset + len(value)] = value
        (workspace / "broken").write_bytes(broken)
        (workspace / "broken").chmod(0o755)
        outcome = trace(HARNESS, "int solve() { return 7; }", shell="./broken")
        assert outcome.witness is not Witness.SEEN


# ---- Python --------------------------------------------------------------------------------------------------------


@pytest.fixture
def python(opened, workspace):
    def write_and_run(solution: str, test: str, shell: str = "python test/run.py", **options: object) -> Outcome:
        (workspace / "test").mkdir()
        (workspace / "solution.py").write_text(solution)
        (workspace / "test/run.py").write_text(test)
        environment = {"PODIUM_SOLUTION_FILES": "solution.py", "PYTHONPATH": "."}
        return runner(opened("bubblewrap"), workspace)(shell, trace=True, environment=environment, **options)

    return write_and_run


HONEST_TESTS = {
    "falling off its end": "import solution\nassert solution.f() == 7",
    "sys.exit of the test": "import sys, solution\nsys.exit(0 if solution.f() == 7 else 1)",
    "unittest": (
        "import unittest, solution\nclass T(unittest.TestCase):\n"
        "    def test(self): self.assertEqual(solution.f(), 7)\nunittest.main()"
    ),
    "a forking pool": "import multiprocessing as m, solution\nwith m.Pool(2) as p: assert p.map(abs, [-1]) == [1]",
    "a child process": "import subprocess, sys, solution\nsubprocess.run(['python', '-c', 'print(1)'], check=True)",
}


@pytest.mark.parametrize("test", HONEST_TESTS.values(), ids=HONEST_TESTS.keys())
def test_an_honest_script_passes_unwitnessed(python, test):
    outcome = python("def f(): return 7", test)
    assert outcome.succeeded, outcome
    assert outcome.witness is Witness.UNAVAILABLE, outcome.witness_detail


def test_a_script_in_a_process_of_its_own_is_seen(python):
    outcome = python("def f(): return 7", "print('judged')", harness="separate")
    assert (outcome.exit_code, outcome.witness) == (0, Witness.SEEN)


PYTHON_CHEATS = {
    "os._exit at import": "import os; os._exit(0)",
    "sys.exit at import": "import sys; sys.exit(0)",
    "quit at import": "quit()",
    "SystemExit in a call": "def f(): raise SystemExit",
    "a thread": "import os, threading as t; t.Thread(target=os._exit, args=(0,)).start()\nimport time; time.sleep(1)",
    "another program": "import os; os.execv('/bin/true', ['true'])",
    "an exit handler": "import atexit, os; atexit.register(os._exit, 0)\ndef f(): return 0",
    "ctypes": "import ctypes; ctypes.CDLL(None).exit(0)",
}


@pytest.mark.parametrize("solution_text", PYTHON_CHEATS.values(), ids=PYTHON_CHEATS.keys())
def test_a_solution_that_ends_the_script_is_contradicted(python, solution_text):
    outcome = python(solution_text, "import solution\nassert solution.f() == 7")
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.witness is Witness.CONTRADICTED, outcome.witness_detail


@pytest.mark.parametrize(
    "shell",
    [
        "python -u test/run.py",
        "python3 -W ignore test/run.py",
        "PYTHONPATH=.:test python -m run",
        "python -c 'import solution'",
    ],
)
def test_options_do_not_hide_a_script_from_the_witness(python, shell):
    outcome = python("import os; os._exit(0)", "import solution", shell=shell)
    assert (outcome.exit_code, outcome.witness) == (0, Witness.CONTRADICTED), outcome.stderr


@pytest.mark.parametrize(
    "shell", ["python -u test/run.py a -m", "PYTHONPATH=.:test python -m run a", "python -c 'print(1)' -x"]
)
def test_options_do_not_trouble_an_honest_script(python, shell):
    outcome = python("", "import sys\nprint(sys.argv[1:])", shell=shell)
    assert (outcome.exit_code, outcome.witness) == (0, Witness.UNAVAILABLE), outcome.stderr

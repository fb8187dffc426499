"""The witness tells the harness's own end from every other way to end with status 0."""

import subprocess
import time

import pytest

from runners.agent.sandbox import Outcome
from runners.agent.sandbox.policy import SourceFacts
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
        *sources: str,
        flags: str = "-O2",
        shell: str = "./program",
        sandbox: str = "unconfined",
        **options: object,
    ) -> Outcome:
        names = []
        for index, source in enumerate(sources):
            name = workspace / f"part{index}.cpp"
            name.write_text(source)
            names.append(name)
        subprocess.run(["g++", *flags.split(), *names, "-o", workspace / "program", "-pthread"], check=True)
        return runner(opened(sandbox), workspace)(shell, trace=True, **options)

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


# ---- the harness's own ends ----------------------------------------------------------------------------------------

TRUE = 'char* a[] = {(char*)"true", nullptr}; execv("/bin/true", a);'
ENDS = {
    "_exit": "_exit(0);",
    "_Exit": "_Exit(0);",
    "quick_exit": "quick_exit(0);",
    "the system call": "syscall(SYS_exit_group, 0);",
    "pthread_exit": "pthread_exit(nullptr);",
    "another program": TRUE,
    "another program, found on PATH": 'execlp("true", "true", nullptr);',
}
FACTS = SourceFacts(harness_files=("part0",), solution_files=("part1",), harness_functions=("main", "finish", "check"))


def ending(end: str, helpers: str = "") -> str:
    return f"{INCLUDES}int solve();\n{helpers}\nint main() {{ if (solve() != 7) return 1; {end} return 2; }}"


@pytest.mark.parametrize("flags", ["-O2", "-O0", "-O2 -static"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_an_end_in_the_harness_s_main_is_seen(trace, end, flags):
    if "static" in flags and "execlp" in end:
        pytest.skip("a static program holds the C library's own functions on the way from execlp to the kernel")
    outcome = trace(ending(end), "int solve() { return 7; }", flags=flags, sources=FACTS)
    assert (outcome.exit_code, outcome.witness) == (0, Witness.SEEN), outcome.witness_detail


HELPERS = {
    "a function": ("finish(0);", 'void finish(int code) { puts(""); _exit(code); }'),
    "a static function": ("finish(0);", "__attribute__((noinline)) static void finish(int code) { exit(code); }"),
    "two functions": (
        "check(7);",
        'static void finish(int c) { _exit(c); }\nvoid check(int n) { finish(n - 7); puts(""); }',
    ),
    "a lambda": ('[] { puts(""); _exit(0); }();', ""),
    "a method": (
        "Test().finish();",
        'struct Test { __attribute__((noinline)) void finish() { puts(""); _exit(0); } };',
    ),
}


@pytest.mark.parametrize("flags", ["-O2", "-O0"])
@pytest.mark.parametrize(("end", "helpers"), HELPERS.values(), ids=HELPERS.keys())
def test_an_end_in_the_harness_s_functions_is_seen(trace, end, helpers, flags):
    outcome = trace(
        "#include <cstdio>\n" + ending(end, helpers), "int solve() { return 7; }", flags=flags, sources=FACTS
    )
    assert (outcome.exit_code, outcome.witness) == (0, Witness.SEEN), outcome.witness_detail


LEAVING_HARNESS = (
    f"{INCLUDES}int solve();\nvoid finish(int code) {{ _exit(code); }}\n"
    "int main() { if (solve() != 7) quick_exit(1); finish(0); }"
)
BORROWED_ENDS = {
    **ENDS,
    "the harness's own function": "void finish(int); finish(0);",
    "a jump to _exit": "int (*volatile f)(int) = (int (*)(int))_exit; return f(0);",
    "a jump to exit": "int (*volatile f)(int) = (int (*)(int))exit; return f(0);",
    "a jump to the harness's function": "void finish(int); int (*volatile f)(int) = (int (*)(int))finish; return f(0);",
    "a handler that hides a failure": "at_quick_exit([] { _exit(0); });",
    "a handler that is _exit": "at_quick_exit((void (*)())(void*)_exit);",
    "a function of main's name": "using One = struct { static void main() { _exit(0); } }; One::main();",
}


@pytest.mark.parametrize("flags", ["-O2", "-O0"])
@pytest.mark.parametrize("text", BORROWED_ENDS.values(), ids=BORROWED_ENDS.keys())
def test_the_harness_s_ends_are_not_the_solution_s(trace, text, flags):
    outcome = trace(LEAVING_HARNESS, solution(text), flags=flags, sources=FACTS)
    assert not (outcome.exit_code == 0 and outcome.witness is not Witness.CONTRADICTED), outcome.witness_detail


def test_a_failed_exec_of_the_harness_excuses_nothing(trace):
    harness = ending("", "").replace("if (solve", 'execl("./absent", "absent", nullptr); if (solve')
    outcome = trace(harness, solution(TRUE), sources=FACTS)
    assert (outcome.exit_code, outcome.witness) == (0, Witness.CONTRADICTED), outcome.witness_detail


@pytest.mark.parametrize("end", ["_exit(0);", TRUE], ids=["_exit", "exec"])
def test_the_solution_s_own_program_may_end_as_it_likes(trace, end):
    program = (
        f"{INCLUDES}__attribute__((noinline)) static void leave() {{ {end} }}\nint main() {{ leave(); return 1; }}"
    )
    outcome = trace(program, sources=SourceFacts(harness_files=("checker",), solution_files=("part0",)))
    assert (outcome.exit_code, outcome.witness) == (0, Witness.UNAVAILABLE), outcome.witness_detail


def test_a_program_with_code_of_both_is_the_harness_s(trace):
    outcome = trace(HARNESS, solution("_exit(0);"), sources=FACTS)
    assert (outcome.exit_code, outcome.witness) == (0, Witness.CONTRADICTED), outcome.witness_detail


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


CRAFTED = """
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <vector>
#include <string>
int main(int, char** a) {
    if (a[0][0] == 'c') return 3;
    int in = open(a[0], O_RDONLY), out = open("crafted", O_CREAT | O_WRONLY, 0755);
    struct stat facts; fstat(in, &facts);
    uint64_t size = (facts.st_size + 7) / 8 * 8, symbols = 1200000, names = 24 << 20;
    std::vector<char> whole(size); if (read(in, whole.data(), size) < 0) return 1;
    Elf64_Shdr s[3] = {};
    s[1].sh_type = SHT_SYMTAB, s[1].sh_link = 2, s[1].sh_offset = size + sizeof s, s[1].sh_size = symbols * 24;
    s[2].sh_type = SHT_STRTAB, s[2].sh_offset = s[1].sh_offset + s[1].sh_size, s[2].sh_size = names;
    auto* header = (Elf64_Ehdr*)whole.data(); header->e_shoff = size, header->e_shnum = 3;
    Elf64_Sym one = {}; one.st_name = 1, one.st_info = TYPE, one.st_shndx = 1, one.st_value = 4096, one.st_size = 9;
    std::vector<Elf64_Sym> table(symbols, one); std::string text(names, 'a'); text.back() = 0;
    if (write(out, whole.data(), size) < 0 || write(out, s, sizeof s) < 0) return 1;
    if (write(out, table.data(), symbols * 24) < 0 || write(out, text.data(), names) < 0) return 1;
    close(out); execl("./crafted", "crafted", nullptr); return 1;
}
"""


@pytest.mark.parametrize("kind", ["0", "(STB_GLOBAL << 4) | STT_FUNC"], ids=["untyped", "functions"])
def test_a_program_with_very_long_names_does_not_hold_the_supervisor(trace, kind):
    started = time.monotonic()
    outcome = trace(INCLUDES + CRAFTED.replace("TYPE", kind))
    assert outcome.exit_code == 3
    assert time.monotonic() - started < 30  # it would take 20 minutes


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
    "_exit": "import os, solution\nos._exit(solution.f() - 7)",
    "_exit in a function": "from os import _exit\nimport solution\ndef end(): _exit(solution.f() - 7)\nend()",
    "_exit in a thread": (
        "import os, threading, solution\ndef end(): os._exit(solution.f() - 7)\n"
        "t = threading.Thread(target=end); t.start(); t.join()"
    ),
    "another program": "import os, solution\nif solution.f() == 7: os.execvp('true', ['true'])",
    "the solution as a program": (
        "import subprocess\nsubprocess.run(['python', 'solution.py'], check=True)"
        "\nsubprocess.run(['python', '-m', 'solution'], check=True)"
    ),
}


@pytest.mark.parametrize("test", HONEST_TESTS.values(), ids=HONEST_TESTS.keys())
def test_an_honest_script_passes_unwitnessed(python, test):
    outcome = python("def f(): return 7", test)
    assert outcome.succeeded, outcome
    assert outcome.witness is Witness.UNAVAILABLE, outcome.witness_detail


def test_a_script_in_a_process_of_its_own_is_seen(python):
    outcome = python("def f(): return 7", "print('judged')", harness="separate")
    assert (outcome.exit_code, outcome.witness) == (0, Witness.SEEN)


OWN_PROGRAMS = {
    "os._exit": "import os; print(7, flush=True); os._exit(0)",
    "sys.exit in a function": "import sys\ndef end(): sys.exit(0)\nprint(7)\nend()",
    "another program": "import os; os.execvp('echo', ['echo', '7'])",
}


@pytest.mark.parametrize("shell", ["python solution.py", "cd test && python ../solution.py", "python -m solution"])
@pytest.mark.parametrize("text", OWN_PROGRAMS.values(), ids=OWN_PROGRAMS.keys())
def test_a_solution_that_is_the_program_may_end_as_it_likes(python, text, shell):
    outcome = python(text, "", shell=f"({shell}) > out && test $(cat out) = 7")
    assert (outcome.exit_code, outcome.witness) == (0, Witness.UNAVAILABLE), outcome.witness_detail


PYTHON_CHEATS = {
    "os._exit at import": "import os; os._exit(0)",
    "sys.exit at import": "import sys; sys.exit(0)",
    "quit at import": "quit()",
    "SystemExit in a call": "def f(): raise SystemExit",
    "a thread": "import os, threading as t; t.Thread(target=os._exit, args=(0,)).start()\nimport time; time.sleep(1)",
    "another program": "import os; os.execv('/bin/true', ['true'])",
    "an exit handler": "import atexit, os; atexit.register(os._exit, 0)\ndef f(): return 0",
    "ctypes": "import ctypes; ctypes.CDLL(None).exit(0)",
    "a module that it writes": (
        "open('helper.py', 'w').write('import os\\ndef go(): os._exit(0)\\n')\n"
        "import helper, threading, time\nthreading.Thread(target=helper.go).start()\ntime.sleep(1)"
    ),
    "SystemExit of a module that it writes": (
        "open('helper.py', 'w').write('def f(): raise SystemExit(0)\\n')\nfrom helper import f"
    ),
    "the harness's own function": "import __main__\ndef f(): __main__.end(0)",
    "code of no file": "exec('import os; os._exit(0)')",
    "code of no file in a thread": (
        "import threading as t; t.Thread(target=exec, args=('import os; os._exit(0)',)).start()\n"
        "import time; time.sleep(1)"
    ),
}


@pytest.mark.parametrize("solution_text", PYTHON_CHEATS.values(), ids=PYTHON_CHEATS.keys())
def test_a_solution_that_ends_the_script_is_contradicted(python, solution_text):
    outcome = python(
        solution_text, "import os\ndef end(c): os._exit(c)\nimport solution\nassert solution.f() == 7\nend(0)"
    )
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


def test_a_test_that_runs_elsewhere_still_knows_the_solution(python):
    outcome = python("import sys; sys.exit(0)", "import solution", shell="cd test && PYTHONPATH=.. python run.py")
    assert (outcome.exit_code, outcome.witness) == (0, Witness.CONTRADICTED), outcome.stderr


@pytest.mark.parametrize(
    "shell", ["python -u test/run.py a -m", "PYTHONPATH=.:test python -m run a", "python -c 'print(1)' -x"]
)
def test_options_do_not_trouble_an_honest_script(python, shell):
    outcome = python("", "import sys\nprint(sys.argv[1:])", shell=shell)
    assert (outcome.exit_code, outcome.witness) == (0, Witness.UNAVAILABLE), outcome.stderr

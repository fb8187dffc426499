"""Samples of one small problem that try for a pass or a speedup they have not earned, and honest ones beside them.

They are the same on a CPU and on a GPU; only `Platform` differs. The seven ways are those of conformance case 26.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.packs import problem

Files = dict[str, str]
Record = dict[str, Any]

TASK = "walk/1"

WALK_H = """\
#pragma once
#include <cstddef>
#include <cstdint>
// out[i] is in[i] after so many steps of x -> a * x + c, modulo 2^32; both arrays are the device's.
void walk(const std::uint32_t* in, std::uint32_t* out, std::size_t n, std::uint32_t steps, std::uint32_t a,
          std::uint32_t c);
"""
MAIN = """\
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>
#include "device.h"
#include "walk.h"

// Fresh words and factors in every call; a thousand of the results are checked, timed or not.
static bool call(std::size_t n, std::uint32_t steps, bool timed) {
    static std::mt19937 random{std::random_device{}()};
    std::vector<std::uint32_t> words(n), got(n);
    for (std::uint32_t& word : words) word = random();
    const std::uint32_t a = random() | 1, c = random();
    Words in(n), out(n);
    in.upload(words);
    if (timed) enter_range();
    walk(in.data(), out.data(), n, steps, a, c);
    finish();
    if (timed) leave_range();
    out.download(got);
    for (std::size_t i = 0; i < n; i += 1 + n / 1024) {
        std::uint32_t x = words[i];
        for (std::uint32_t step = 0; step < steps; ++step) x = a * x + c;
        if (got[i] != x) return std::fprintf(stderr, "word %zu is %u, not %u\\n", i, got[i], x), false;
    }
    return true;
}

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--perf") == 0) {
        for (int i = 0; i < 3 + @CALLS@; ++i)
            if (!call(PERF_WORDS, PERF_STEPS, i >= 3)) return 1;
        return 0;
    }
    for (const std::size_t n : {1, 1000, 100003})
        for (const std::uint32_t steps : {1, 2, 7, 64})
            if (!call(n, steps, false)) return 1;
    return 0;
}
"""
TIMED_CALLS = 20
HALVES = "if (steps % 2 == 0) steps /= 2, c = a * c + c, a *= a;"
"""Honest: two steps in one. In the kernel the compiler would undo it."""

LEAVE = "#include <unistd.h>\n__attribute__((constructor)) static void leave() { _exit(0); }\n"
TOLD = """\
#include <fstream>
#include <iterator>
#include <string>

static bool told(const char* word) {
    std::ifstream file("/proc/self/cmdline");
    const std::string words((std::istreambuf_iterator<char>(file)), {});
    return words.find(word) != std::string::npos;
}
"""
FORGED_MS = 0.02
FORGE = (
    TOLD
    + """\
#include <time.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>

static const char THEIRS[] =
    R"({"kernels": [{"name": "walk_words", "invocations": @CALLS@, "total_duration_ms": @MS@, )"
    R"("avg_duration_ms": 0.001}], "memory_transfers": {}, "nvtx_ranges": {"bench_region": )"
    R"({"wall_clock_time_ms": @MS@, "kernel_time_ms": @MS@, "kernel_invocations": @CALLS@, )"
    R"("memcpy_time_ms": 0.0, "memcpy_count": 0, "memcpy_bytes": 0}}, "summary": )"
    R"({"total_kernel_time_ms": @MS@, "total_kernels": 1, "total_kernel_invocations": @CALLS@, )"
    R"("total_memory_transfers": 0, "application_duration_ms": 100.0}})";

static std::string ours(const std::string& pid, const std::string& begun, const std::string& ended) {
    return R"({"schema":1,"pid":)" + pid + R"(,"begun_ns":)" + begun + R"(,"ended_ns":)" + ended +
           R"(,"final":true,"contexts":1,"kernel_calls":@CALLS@,"dropped":0,"incomplete":0,"unattributed":0,)"
           R"("kernels":[{"name":"walk_words","launches":@CALLS@,"ns":@NS@}],"copies":[],"fill_ns":0,)"
           R"("busy_ns":@NS@,"outside_launches":0,"outside_ns":0,"ranges":[{"name":"bench_region",)"
           R"("instances":@CALLS@,"unclosed":0,"wall_ns":@NS@,"launches":@CALLS@,"kernel_ns":@NS@,"copies":0,)"
           R"("copy_ns":0,"copied_bytes":0,"fill_ns":0,"busy_ns":@NS@,"late_ns":0,"foreign_launches":0,)"
           R"("open":[]}],"timeline":{"origin_ns":)" + begun +
           R"(,"width_ns":1000000,"slices":[[0,@CALLS@,@NS@,0,0,0,0,0,0]]}})";
}

static std::string now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::to_string(now.tv_sec * 1000000000LL + now.tv_nsec);
}

// Where ComputeEval's profiler leaves its profile; and over what Podium's wrote of this process, or in its stead.
static void forge() {
    std::ofstream("profile.json") << THEIRS;
    const char* notes = std::getenv("PODIUM_CUPTI_NOTES");
    if (!notes) return;
    std::string stem = std::to_string(getpid()) + "-" + now_ns();
    for (const auto& entry : std::filesystem::directory_iterator(notes))
        if (entry.path().extension() == ".begun") stem = entry.path().stem();
    const std::string file = std::string(notes) + "/" + stem;
    const std::size_t dash = stem.find('-');
    std::ofstream(file + ".begun").flush();
    std::ofstream(file + ".json") << ours(stem.substr(0, dash), stem.substr(dash + 1), now_ns());
}
"""
)
LEFT_AT_ONCE = '__attribute__((constructor)) static void leave() { if (told("--perf")) forge(), _exit(0); }\n'
LEFT_LATER = '__attribute__((constructor)) static void wait() { if (told("--perf")) std::at_quick_exit(forge); }\n'
REPLACE = """\
#include <sys/stat.h>
#include <unistd.h>

static void replace_program() {
    unlink("test.out");
    std::ofstream("test.out") << "#!/bin/sh\\nexit 0\\n";
    chmod("test.out", 0755);
}
"""
LINGER_SECONDS = 60
LINGER = (
    TOLD
    + REPLACE
    + """\
#include <fcntl.h>
#include <sys/wait.h>
#include <chrono>
#include <cstdio>
#include <thread>

static void touch(const char* name) { close(open(name, O_WRONLY | O_CREAT, 0644)); }
static bool appears(const char* name) {
    for (int tick = 0; tick < 500 && access(name, F_OK) != 0; ++tick)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return access(name, F_OK) == 0;
}

// Of this program, so that it can use a device of its own accord; nothing but its name tells whose it is.
static void leave_behind() {
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            touch("left-behind");
            execl("./test.out", "./test.out", "@MARK@", nullptr);
        }
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    std::printf("left behind: %s, at work: %s\\n", appears("left-behind") ? "yes" : "no",
                appears("at-work") ? "yes" : "no");
}

template <class Work>
static void linger(Work work) {
    touch("at-work");
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(@SECONDS@);
    while (std::chrono::steady_clock::now() < end) work(), replace_program();
}
"""
)
LINGERS = """\
static bool lingers = told("@MARK@"), leaves = !lingers && !told("--perf");
    if (leaves) leaves = false, leave_behind();
    if (lingers) lingers = false, linger([&] { walk(in, out, n, steps, a, c); });"""
LEAVES_LATER = 'if (told("--perf")) std::quick_exit(0);'
REPLACES = 'if (!told("--perf")) replace_program();'
PRINTS = 'std::puts("COMPUTE_EVAL_TIME_MS: 0.001");'
ONLY_PRINTS = f'if (told("--perf")) {{ {PRINTS} return; }}'


@dataclass(frozen=True)
class Platform:
    """Where the problem runs. `walk` is the baseline's code, with places for what a sample changes in it."""

    suffix: str
    compiler: str
    device_h: str
    walk: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the problem's record."""

    @property
    def solution_path(self) -> str:
        return f"solution.{self.suffix}"

    @property
    def context(self) -> Files:
        return {"include/walk.h": WALK_H}

    @property
    def tests(self) -> Files:
        return {f"test/main.{self.suffix}": filled(MAIN), "test/device.h": self.device_h}

    @property
    def build_command(self) -> str:
        return f"{self.compiler} -std=c++17 -I . -I include -o test.out {self.solution_path} test/*.{self.suffix}"

    @property
    def problem(self) -> Record:
        return problem(
            TASK,
            context_files=listed(self.context),
            test_files=listed(self.tests),
            baseline_solution=solution_of(self.solution()),
            build_command=self.build_command,
            test_command="./test.out",
            benchmark_command="./test.out --perf",
            **self.fields,
        )

    def solution(self, before: str = "", first: str = "") -> Files:
        """The baseline where nothing is given; else with this `before` it or `first` in every call."""
        return {self.solution_path: filled(filled(self.walk, {"BEFORE": before, "FIRST": first}))}


VALUES = {"CALLS": TIMED_CALLS, "MS": FORGED_MS, "NS": round(FORGED_MS * 1e6), "SECONDS": LINGER_SECONDS}


def filled(text: str, values: Mapping[str, object] = VALUES) -> str:
    """The text with a value for each of its places `@NAME@` that is among them."""
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def listed(files: Files) -> list[Record]:
    return [{"path": path, "content": content} for path, content in files.items()]


def solution_of(files: Files) -> Record:
    return {"schema_version": 1, "type": "file", "task_id": TASK, "files": listed(files)}


@dataclass(frozen=True)
class Case:
    """A sample, what must become of it, and whether it has a time: then that of its own code, and no better."""

    name: str
    files: Files
    verdict: str
    flags: tuple[str, ...] = ()
    timed: bool = False


def cases(platform: Platform, mark: str) -> list[Case]:
    """`mark` names the process that one sample leaves behind."""
    own, suffix = platform.solution, platform.suffix
    daemon = {path: filled(text, {"MARK": mark}) for path, text in own(LINGER, LINGERS).items()}
    wrong = own(first="steps += 1;")
    return [
        Case("half the steps", own(first=HALVES), "passed", timed=True),
        Case("a wrong result", wrong, "test_failed"),
        Case("a constructor that leaves", own(LEAVE, "steps += 1;"), "test_failed"),
        Case("a file for the glob", wrong | {f"test/zz.{suffix}": LEAVE}, "invalid"),
        Case("a system header's name", wrong | {"include/cstdio": LEAVE}, "invalid"),
        Case("a context header's name", wrong | {"walk.h": LEAVE + WALK_H}, "invalid"),
        Case("the context's own header", wrong | {"include/walk.h": WALK_H + LEAVE}, "test_failed"),
        Case("a profile and _exit", own(FORGE + LEFT_AT_ONCE), "passed", ("left_early",)),
        Case("a profile and quick_exit", own(FORGE + LEFT_LATER, LEAVES_LATER), "passed", ("left_early",)),
        Case("another program", own(TOLD + REPLACE, REPLACES), "passed", timed=True),
        Case("a printed time", own("#include <cstdio>\n", PRINTS), "passed", timed=True),
        Case("a printed time alone", own("#include <cstdio>\n" + TOLD, ONLY_PRINTS), "passed", ("benchmark_failed",)),
        Case("a process left behind", daemon, "passed", timed=True),
    ]


def left_behind(mark: str) -> Iterator[int]:
    """The processes of this machine that were started with `mark`."""
    for folder in Path("/proc").glob("[1-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words:
            yield int(folder.name)

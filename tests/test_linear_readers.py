"""Readers of what contestants, models and their programs write take time in proportion to it, whatever it holds."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import thread_time

import pytest

from leaderboard.results.first_failure import _name_in, _without_quoting, without_quotations
from leaderboard.results.first_message import normalised, telling_line
from leaderboard.results.listings import kernels_of, parts_of
from leaderboard.similarity import fingerprints
from leaderboard.site.redaction import redacted
from leaderboard.web.results.compiler_messages import errors_in, linked
from podium.ci.junit import xml_text
from podium.ci.outcomes import named_place
from podium.ci.step_summary import literal
from podium.ci.workflow_commands import escaped, harmless
from podium.generation.held_out import _stand_in
from podium.generation.prompts import _fenced
from podium.verifiers.matching import _TASK_LINE
from problems.formats.compute_eval.packs import _named_task
from problems.formats.compute_eval.timing import extract_custom_time_ms
from problems.formats.solution_zip import _NUMBERED
from problems.spec.command.counts import why_not_counted
from problems.spec.command.early_end import _changed
from problems.spec.command.includes import _references
from problems.spec.command.macros import why_rewriting
from problems.spec.command.python_imports import words_of
from problems.spec.command.relied_on import includes_any
from problems.spec.function.language import language_of
from problems.spec.natural import natural_key
from problems.spec.paths import why_bad_path
from problems.spec.solution import SourceFile
from runners.agent.job.building import printed_by
from runners.agent.judges.command import harness_code
from runners.agent.judges.command.runs import _WANTS_MEMORY
from runners.agent.profilers.ncu_csv import DamagedTable, _sections, read_launches
from runners.fleet.queue.fit import version_of
from runners.fleet.views import _without_nul

N_CHARACTERS = 100_000
MOST_SECONDS = 0.15
"""The slowest reader takes half of it on a slow machine; in quadratic time it would be seconds."""
GROWTH = 3
"""Factor of the time for twice the text: two, and noise. Quadratic time has four."""
NOISE_SECONDS = 0.01
N_RANDOM_TEXTS = 30_000
N_SHORT = 3000
N_SLOWEST = 4


@dataclass(frozen=True)
class Reader:
    """`words` is what it looks for, in parts: a run may stand before, in and after each."""

    read: Callable[[str], object]
    words: Sequence[str]
    runs: str = ""
    """Characters that it repeats, beside those that all readers get."""


def _launches(text: str) -> None:
    with suppress(DamagedTable):
        read_launches(f'"ID","Process ID"\n{text}')


def _own_time(text: str) -> None:
    with suppress(ValueError):
        extract_custom_time_ms(text)


def _macros(text: str) -> str:
    return why_rewriting([SourceFile(path="a.h", content=f"define{text}")])


def _lines_with_reasons(text: str) -> object:
    return [normalised(telling_line(text)), _name_in(text[: 16 * 1024])]


C_WORDS = ("#", "#include", '#include "', "#define ", "#define if", "/*", "//", '"', '\\"', "'", "\\'", "??/", "\\\n")
CODE_WORDS = (*C_WORDS, "_exit", "_exit(1", "main", '" "', "##", "int f(", "x [", "a #")
PYTHON_WORDS = ("import ", "import a,", "from ", "from a import ", '"""', "'''", '"', '\\"', "'", "\\'", "#", "\\")
GTEST = ("[ FAILED ]", "[", "FAILED ", "FAILED a::", "___", "___ a ", "FAIL:", "FAIL: a (", "not ok 1", "error: `", "'")
PLACES = ("a.cu:", "a.cu:1:", "a.cu:1: error", "a.cu(", "a.cu(1", "a.cu(1): error", "ptxas a.cu, line 1", ' File "a.py')

ENTRY = "Compiling entry function '_Z1' for 'sm_90'"
SIZES = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"

READERS = {
    "kernels": Reader(
        lambda text: [(one.name, one.spills) for one in kernels_of(text)],
        (ENTRY.partition("_")[0], ENTRY, SIZES, SIZES.partition(",")[0], " bytes smem", "Used ", "Used 1 registers"),
    ),
    "kernels with a head": Reader(
        lambda text: [
            one.name
            for one in kernels_of(
                f"Compiling entry function '_Z{text[:9000]}' for 'sm_90' "
                f"0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads Used 4 registers {text}"
            )
        ],
        (" bytes smem", "1 bytes smem", "Used "),
    ),
    "parts of a listing": Reader(parts_of, ("== ", "== sass", "== ptx\n")),
    "first message": Reader(_lines_with_reasons, (*GTEST, "error", "“", "‘", "0x", "/a", "a.", "1,", "1e", "\x1b[")),
    "quotations": Reader(
        lambda text: without_quotations(text[:300], "x" * 1000), ("`", "'", '"', "“", "a‘"), runs="“‘`'\""
    ),
    "quoted lines": Reader(
        lambda text: _without_quoting(text[: 16 * 1024].split("\n"), "return 0;\nassert(ok);\n" + "line of it\n" * 999),
        ("assert(ok);", "line of it\n", "fail\n"),
    ),
    "redaction": Reader(redacted, ("feeds/", "compat/pmpp/", "pdm_", "pmpp_", "pdi_", "p", "pdmfeed")),
    "tokens of C": Reader(lambda text: fingerprints._tokens(SourceFile(path="a.cu", content=text)), CODE_WORDS),
    "tokens of Python": Reader(lambda text: fingerprints._tokens(SourceFile(path="a.py", content=text)), PYTHON_WORDS),
    "errors of a compiler": Reader(lambda text: errors_in(text, ["a.cu"]), PLACES),
    "links of a log": Reader(lambda text: linked(text, ["a.cu"]), PLACES),
    "macros": Reader(_macros, CODE_WORDS),
    "included files": Reader(
        lambda text: includes_any([text], ["tests/a.h", "tests/b.h"]), (*CODE_WORDS, "#include <", "%:include")
    ),
    "references of C": Reader(
        lambda text: list(_references("a.cu", text, ["", "include"])), (*C_WORDS, "__has_include(", "__has_include")
    ),
    "references of Python": Reader(lambda text: list(_references("a.py", text, [])), PYTHON_WORDS),
    "early end": Reader(
        lambda text: _changed(SourceFile(path="a.py", content=text)),
        ("from ", "from __future__ import ", "from __future__ import (", "from __future__ "),
    ),
    "words of a command": Reader(lambda text: words_of([text]), ("-m", "-")),
    "counts, words first": Reader(
        lambda text: why_not_counted("Summary: {passed} / {total} passed", text),
        ("Summary: ", "Summary: 1", "Summary: 1 / ", "Summary: 1 / 1", "Summary: 1 / 1 passed"),
    ),
    "counts, number first": Reader(
        lambda text: why_not_counted("{passed} of {total} passed", text), ("1 of ", "1 of 1", " of ", "1 of 1 passed")
    ),
    "counts, blank first": Reader(
        lambda text: why_not_counted(" {passed} of {total} passed", text), ("1 of ", "1 of 1", " of ", " 1 of 1 passed")
    ),
    "ends of programs": Reader(harness_code._may_end, CODE_WORDS),
    "names in a solution": Reader(
        lambda text: harness_code._functions_of_harness(("int check(int a) { }",), (f"asm main. {text}",)), CODE_WORDS
    ),
    "want of memory": Reader(_WANTS_MEMORY.search, ("out of ", "OutOf", "bad_")),
    "printed text": Reader(printed_by, ("echo", "echo ", 'echo "', 'echo "a"', "echo '"), runs='"'),
    "names in a zip": Reader(_NUMBERED.fullmatch, ("sample", "sample 1")),
    "natural order": Reader(natural_key, ("a", "a1", "1a")),
    "unsafe paths": Reader(why_bad_path, ("a/", "/", "..", "a:")),
    "line with a fault": Reader(
        lambda text: _named_task(text.encode()), ('"task_id"', '"task_id": "', '"task_id": "\\"', '\\"')
    ),
    "own times": Reader(
        _own_time, ("COMPUTE_EVAL_TIME_MS:", "COMPUTE_EVAL_TIME_MS: 1", "\nCOMPUTE_EVAL_TIME_MS:1\n")
    ),
    "language": Reader(
        lambda text: language_of(SourceFile(path="solution.py", content=text)), ("import ", "from ", "import tri")
    ),
    "ncu's table": Reader(_launches, ('"1","1",', '"1', '"1","', '"', ",")),
    "ncu's ranges": Reader(_sections, ('"', '"a" ', '" 1 "', '" 1')),
    "version of a toolkit": Reader(version_of, (".", "1.", "nvcc ")),
    "NUL": Reader(lambda text: _without_nul(text.encode()), ("\\", "\\\\", "\\u0000", "\\u")),
    "XML": Reader(xml_text, ("<",), runs="\0"),
    "places of CI": Reader(lambda text: named_place(text, ["a.cu", "b.py"]), PLACES),
    "summary of CI": Reader(literal, ("a", "|")),
    "commands of CI": Reader(lambda text: [harmless(text), escaped(text)], ("::", "\n::", " :", "\r\n:", "##[")),
    "stand-ins": Reader(lambda text: _stand_in(SourceFile(path="a.c", content=text)), ("main", "main (", "int main")),
    "fences of a prompt": Reader(lambda text: _fenced(text, ""), ("```", "`"), runs="`"),
    "tasks of a prompt": Reader(_TASK_LINE.findall, ("Task:", "Task: a", "\nTask:\n")),
}  # fmt: skip
RUNS = " \t\n\r0a_.-\"'\\/:(#*["


def _texts(reader: Reader) -> Iterator[tuple[str, str, str]]:
    """Texts as a beginning, what is repeated and an end."""
    for run in dict.fromkeys(RUNS + reader.runs):
        yield "", run, ""
        yield "", run, "!"
        for word in reader.words:
            yield word, run, "!"
            yield word, run, ""
            yield "", run, word
            yield "", f"{word}{run}", "!"
    for word in reader.words:
        yield "", word, "!"
        yield "", f"\n{word}", ""


def _text(parts: tuple[str, str, str], n_characters: int) -> str:
    head, unit, tail = parts
    return head + unit * (n_characters // len(unit)) + tail


def _seconds(reader: Reader, text: str) -> float:
    began = thread_time()
    reader.read(text)
    return thread_time() - began


def _best(reader: Reader, text: str, limit: float) -> float:
    """The best of up to eight times; the first that is within the limit will do."""
    best = _seconds(reader, text)
    for _ in range(7):
        if best <= limit:
            break
        best = min(best, _seconds(reader, text))
    return best


@pytest.mark.parametrize("name", READERS)
def test_time_is_in_proportion_to_the_text(name: str) -> None:
    reader = READERS[name]
    for parts in _slowest(reader):
        # a shorter one first: a reader of quadratic time would otherwise take minutes to fail
        for n_characters in (N_CHARACTERS // 5, N_CHARACTERS):
            once = _best(reader, _text(parts, n_characters), MOST_SECONDS)
            assert once <= MOST_SECONDS, (parts, n_characters)
        limit = GROWTH * once + NOISE_SECONDS
        assert _best(reader, _text(parts, 2 * N_CHARACTERS), limit) <= limit, parts


def _slowest(reader: Reader) -> list[tuple[str, str, str]]:
    """The texts that take longest when they are short."""
    return sorted(_texts(reader), key=lambda parts: -_seconds(reader, _text(parts, N_SHORT)))[:N_SLOWEST]


OLD_C = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|^[ \t]*\#[ \t]*include[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    r"""|[^\W\d]\w*|\d[\w.']*|\S""",
    re.DOTALL | re.MULTILINE,
)
OLD_PYTHON = re.compile(
    r'''\#[^\n]*|"""(?:.*?)(?:"""|\Z)|\'\'\'(?:.*?)(?:\'\'\'|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*\''''
    r"""|[^\W\d]\w*|\d[\w.]*|\S""",
    re.DOTALL,
)
OLD_LINE_START = re.compile(r"(^|[\r\n])(\s*)::")
OLD_NUMBER = r"[ \t]*(\d{1,18})"
FORMS = (
    "{passed} of {total}",
    " {passed} of {total}",
    "a {passed} of {total}",
    "{total}: {passed}",
    "\t{total}/{passed}",
)


def _random_texts(pieces: Sequence[str]) -> Iterator[str]:
    source = random.Random(40)
    for _ in range(N_RANDOM_TEXTS):
        yield "".join(source.choices(pieces, k=source.randrange(14)))


@pytest.mark.parametrize(
    ("old", "new"), [(OLD_C, fingerprints._C), (OLD_PYTHON, fingerprints._PYTHON)], ids=["C", "Python"]
)
def test_tokens_are_those_of_one_expression(old: re.Pattern[str], new: re.Pattern[str]) -> None:
    for text in _random_texts(
        ['"', "'", "\\", "\n", "a", "1", " ", "//", "/*", "*/", "#", "#include", '"""', "'''", '\\"']
    ):
        assert list(fingerprints._raw_tokens(text, new)) == [match[0] for match in old.finditer(text)], text


def test_commands_of_ci_are_found_as_before() -> None:
    for text in _random_texts([":", "::", " ", "\n", "\r", "\t", "a", "\x0b", "\u2028", "##["]):
        assert harmless(text) == OLD_LINE_START.sub(r"\1\2: :", text).replace("##[", "## ["), text


@pytest.mark.parametrize("form", FORMS)
def test_counts_are_found_as_before(form: str) -> None:
    words = re.escape(form)
    for mark in ("{passed}", "{total}"):
        words = words.replace(re.escape(mark), OLD_NUMBER)
    from problems.spec.command.counts import _pattern

    old, new = re.compile(words), _pattern(form)
    for text in _random_texts(["1", "12", " of ", ":", "/", " ", "\t", "a ", "\n", "0" * 17]):
        assert new.findall(text) == old.findall(text), text


def test_sizes_of_kernels_are_read_as_before() -> None:
    old = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
    from leaderboard.results.listings import _PROPERTIES

    pieces = ["1", "20", " bytes stack frame, ", " bytes spill stores, ", " bytes spill loads", "a", " "]
    pieces.append("1 bytes stack frame, 2 bytes spill stores, 3 bytes spill loads")
    for text in _random_texts(pieces):
        if not re.search(r"\d{10}", text):
            assert _PROPERTIES.findall(text) == old.findall(text), text


def test_numbers_too_long_for_python_are_no_fault() -> None:
    number = "9" * 5000
    head = ENTRY.replace("_Z1", f"_Z{number}k")
    assert kernels_of(f"{head}\n{SIZES} Used {number} registers") == []
    assert kernels_of(f"{head}\n{number}{SIZES} Used 4 registers") == []
    assert [one.name[-1] for one in kernels_of(f"{head}\n{SIZES} Used 4 registers")] == ["k"]
    assert natural_key("a" + "9" * 5000) > natural_key("a10") > natural_key("a9") == natural_key("a09")


def test_lines_of_held_out_files_are_left_out_as_before() -> None:
    held_out = "assert(x == 4);\n  return 0;\nshort\n\n"
    lines = ["error: assert(x == 4); failed", "error: short", "fail return 0; here", "failed 3"]
    assert _without_quoting(lines, held_out) == ["error: short", "failed 3"]
    assert _without_quoting(lines, "") == lines

"""Reads in the sources which code of a compiled program is the harness's, for the witness."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import PurePosixPath

from problems.spec.command.macros import C_SUFFIXES, plain
from problems.spec.command.problem import CommandProblem
from problems.spec.command.relied_on import includes_any
from problems.spec.solution import SourceFile
from runners.agent.sandbox.policy import SourceFacts

_COMPILED = (".c", ".cc", ".cpp", ".cxx", ".cu")
_MAIN = re.compile(r"\bmain\b")
_WORD = re.compile(r"\w+")
_FUNCTION = re.compile(
    r"(?<=[\w>&*])[ \t\n]+[&*]*(?:\w{1,99}::){0,5}(\w{1,199})[ \t\n]*"
    r"\([^(){};]*\)[ \t\n]*(?:const|noexcept)?[ \t\n]*([{;])"
)
"""A function's name and what follows its parameters: a body or, for a declaration, a semicolon."""
_NO_TYPE = frozenset({"return", "else", "do", "goto", "new", "throw", "case", "co_return"})
_MOST_FUNCTIONS = 500
_ENDS = frozenset(
    {"exit", "_exit", "_Exit", "quick_exit", "pthread_exit", "thrd_exit", "syscall", "fexecve", "execveat"}
    | {f"exec{how}" for how in ("l", "le", "lp", "v", "ve", "vp", "vpe")}
    | {"asm", "__asm", "__asm__"}
)
_ASSEMBLER = frozenset({"asm", "__asm", "__asm__"})
_UNPLAIN = re.compile(r"\\[^nt\"\r\n ]|[^\s#]#+[ \t]*[A-Za-z_]|[^\s#][ \t]+#+[ \t]*[A-Za-z_]")
"""An escape in a string that may stand for a letter, a part of an assembler's macro, or a parameter made a string."""
_FAILURE = re.compile(r"\b(?:_?exit|_Exit|quick_exit)\s*\(\s*(?:EXIT_FAILURE|-?[1-9]\d?)\s*\)")
_NEW_FAILURE = re.compile(r"define\s+EXIT_FAILURE")
_JOINT = re.compile(r'"\s*"')
_WHOLE_PROGRAM = re.compile(r"-flto|-fwhole-program|-ipo|-dlto|INTERPROCEDURAL_OPTIMIZATION|UNITY_BUILD")


def source_facts(problem: CommandProblem, files: Sequence[SourceFile]) -> SourceFacts:
    """See `SourceFacts`. Empty for a problem without C or C++ sources."""
    texts = tuple(file.content for file in files if file.path.endswith(C_SUFFIXES))
    if not texts:
        return SourceFacts()
    sources = [file for file in (*problem.context_files, *problem.test_files) if file.path.endswith(C_SUFFIXES)]
    judging = [file for file in sources if file in problem.test_files or _MAIN.search(file.content)]
    is_own_program = any(map(_MAIN.search, texts)) and not any(_may_judge_by_include(problem))
    may_end = any(map(_may_end, texts))
    return SourceFacts(
        harness_files=_stems(judging),
        solution_files=_stems(files) if is_own_program else (),
        harness_functions=_functions_of_harness(tuple(file.content for file in sources), texts),
        is_mixed=may_end and _is_compiled_together(problem, sources, files),
    )


def _may_end(text: str) -> bool:
    """Whether code that a compiler moves out of this text may end the program by a call of its own."""
    joined = _joined(text)
    rest = joined if _NEW_FAILURE.search(joined) else _FAILURE.sub("", joined)
    words = set(_WORD.findall(rest))
    return not _ENDS.isdisjoint(words) or (_joins_tokens(joined) and any(_is_made_of(end, words) for end in _ENDS))


def _is_compiled_together(problem: CommandProblem, sources: Sequence[SourceFile], files: Sequence[SourceFile]) -> bool:
    """Whether the compiler may put code of the solution into functions of the harness: by includes, or as it links."""
    recipes = [file.content for file in problem.context_files if not file.path.endswith(C_SUFFIXES)]
    if any(_WHOLE_PROGRAM.search(text) for text in (problem.build_command or "", problem.test_command, *recipes)):
        return True
    given = [file.path for file in files]
    tests = [file.path for file in problem.test_files]
    return includes_any([file.content for file in sources], given) or includes_any(
        [file.content for file in files if file.path.endswith(C_SUFFIXES)], tests
    )


def _stems(files: Sequence[SourceFile]) -> tuple[str, ...]:
    return tuple(sorted({PurePosixPath(file.path).stem for file in files if file.path.endswith(_COMPILED)}))


def _may_judge_by_include(problem: CommandProblem) -> Iterator[bool]:
    """Whether a solution's own source may become the harness by including one of the problem's files."""
    for file in problem.test_files:
        yield file.path.endswith(C_SUFFIXES) and not file.path.endswith(_COMPILED)
    for file in problem.context_files:
        yield file.path.endswith(C_SUFFIXES) and not file.path.endswith(_COMPILED) and bool(_MAIN.search(file.content))


def _functions_of_harness(harness: tuple[str, ...], solution: tuple[str, ...]) -> tuple[str, ...]:
    """Functions with a body in the harness. Those that the solution names or the harness only declares are left out."""
    texts = [_joined(text) for text in solution]
    named = {word for text in texts for word in _WORD.findall(text)}
    assembles = not _ASSEMBLER.isdisjoint(named)
    spells_main = any("main." in text or "4main" in text or _UNPLAIN.search(text) for text in texts)
    parts_of_main = () if assembles and spells_main else ("main",)
    if assembles and any(_UNPLAIN.search(text) for text in texts):
        return parts_of_main
    in_symbols = " ".join(word for word in named if assembles and word.startswith("_Z"))
    named.add("main")
    found = (name for name in _defined(harness) if name not in named and f"{len(name)}{name}" not in in_symbols)
    if any(map(_joins_tokens, texts)):
        found = (name for name in found if not _is_made_of(name, named))
    return (*parts_of_main, *islice(found, _MOST_FUNCTIONS))


def _joined(text: str) -> str:
    """C code with its lines spliced and its strings joined, as a compiler does."""
    return _JOINT.sub("", plain(text))


def _joins_tokens(joined: str) -> bool:
    return any(operator in joined for operator in ("##", "%:%:", "??="))


def _is_made_of(name: str, words: Collection[str]) -> bool:
    """Whether a name is a series of words."""
    ends = {0}
    for end in range(1, len(name) + 1):
        if any(name[start:end] in words for start in ends):
            ends.add(end)
    return len(name) in ends


@lru_cache(maxsize=64)
def _defined(texts: tuple[str, ...]) -> tuple[str, ...]:
    found: dict[str, set[str]] = {"{": set(), ";": set()}
    for text in texts:
        for match in _FUNCTION.finditer(text):
            before = _WORD.findall(text[max(0, match.start() - 20) : match.start()])
            if not before or before[-1] not in _NO_TYPE:
                found[match[2]].add(match[1])
    return tuple(sorted(found["{"] - found[";"]))

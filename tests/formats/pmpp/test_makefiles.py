"""Makefiles are read and never run: variables, rules and the program that a target is linked from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.formats.pmpp.errors import TaskRefused
from problems.formats.pmpp.makefile import Makefile
from problems.formats.pmpp.notes import architecture_idiom
from problems.formats.pmpp.program import Program, program_of

FILES = frozenset({"a.cu", "b.cu", "lib/c.cpp"})
ONE_CALL = "app: a.cu b.cu\n\t$(NVCC) $(FLAGS) -o $@ $^\n"


def commands(text: str, target: str = "app") -> list[str]:
    return [line.text for line in Makefile(text).commands(target, FILES)]


def program(text: str) -> Program:
    return program_of(Makefile(text), "app", FILES, "Makefile")


def refusal(text: str) -> TaskRefused:
    with pytest.raises(TaskRefused) as refused:
        program(text)
    return refused.value


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("A = $(B)\nB = late\n", "late"),
        ("B = early\nA := $(B)\nB = late\n", "early"),
        ("A = first\nA ?= second\n", "first"),
        ("A ?= only\n", "only"),
        ("B = x\nA := one\nA += $(B)\n", "one x"),
        ("A = ${B}.$C\nB = b\nC = c\n", "b.c"),
        ("A = one \\\n  two\n", "one  two"),
        ("A = value # a comment\n", "value"),
        ("SRC = a.cu b.cu\nA = $(SRC:.cu=.o)\n", "a.o b.o"),
        ("", ""),
        ("export A = kept\n", "kept"),
    ],
)
def test_variables_are_expanded_as_make_does(text: str, expanded: str) -> None:
    assert commands(text + "app: a.cu\n\tnvcc $(A) -o $@ $<\n") == [f"nvcc {expanded} -o app a.cu"]


def test_a_variable_of_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVCC", "malicious")
    assert commands("NVCC ?= nvcc\n" + ONE_CALL) == ["nvcc  -o app a.cu b.cu"]


def test_prerequisites_come_first_and_patterns_make_objects() -> None:
    text = "app: a.o b.o\n\tnvcc -o $@ $^\n%.o: %.cu\n\tnvcc -O3 -c $< -o $@\nb.o: b.cu\n\tnvcc -O0 -c b.cu -o b.o\n"
    assert commands(text) == ["nvcc -O3 -c a.cu -o a.o", "nvcc -O0 -c b.cu -o b.o", "nvcc -o app a.o b.o"]
    made = program(text)
    assert [(unit.source, unit.compiler) for unit in made.units] == [
        ("a.cu", ("nvcc", "-O3")),
        ("b.cu", ("nvcc", "-O0")),
    ]
    assert made.linker == ("nvcc",)


def test_one_call_for_compiling_and_linking_is_taken_apart() -> None:
    made = program(
        "FLAGS = -O2 -Xcompiler -Wall -DN=4\napp: a.cu lib/c.cpp\n\t@ccache nvcc $(FLAGS) $^ -lcurand -o $@\n"
    )
    flags = ("nvcc", "-O2", "-Xcompiler", "-Wall", "-DN=4")
    assert [(unit.source, unit.compiler) for unit in made.units] == [("a.cu", flags), ("lib/c.cpp", flags)]
    assert (made.linker, made.libraries) == (flags, ("-lcurand",))


@pytest.mark.parametrize(
    ("variables", "flags", "idiom"),
    [
        ("", "-O2", ""),
        ("ARCH ?= -arch=sm_70\n", "-O2 $(ARCH)", "ARCH = -arch=sm_70"),
        ("ARCH ?= sm_70\n", "-O2 -arch=$(ARCH)", "ARCH = sm_70"),
        ("GPU_ARCH ?= sm_70\n", "-O2 -arch $(GPU_ARCH)", "GPU_ARCH = sm_70"),
        ("CXXFLAGS = -O2 -arch=sm_70\n", "$(CXXFLAGS)", "sm_70 in CXXFLAGS"),
        ("GEN = -gencode arch=compute_70,code=sm_70\n", "-O2 $(GEN)", "GEN = -gencode arch=compute_70,code=sm_70"),
    ],
)
def test_every_way_to_choose_an_architecture_leaves_the_choice_to_the_track(
    variables: str, flags: str, idiom: str
) -> None:
    text = f"NVCC ?= nvcc\n{variables}FLAGS = {flags}\n{ONE_CALL}"
    assert program(text) == program(f"NVCC ?= nvcc\nFLAGS = -O2\n{ONE_CALL}")
    assert architecture_idiom(Makefile(text)) == idiom


def test_an_architecture_with_features_of_its_own_stays() -> None:
    assert program(f"NVCC = nvcc\nFLAGS = -arch=sm_90a\n{ONE_CALL}").linker == ("nvcc", "-arch=sm_90a")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("A := $(shell touch /tmp/ran)\n" + ONE_CALL, 1, "function of make"),
        ("\nNVCC != touch /tmp/ran\n", 2, "runs a program"),
        ("NVCC = $(wildcard *.cu)\n" + ONE_CALL, 1, "function of make"),
        ("include more.mk\n", 1, "`include` is not understood"),
        ("ifeq ($(A),)\nendif\n", 1, "`ifeq` is not understood"),
        ("A = $(A)\nNVCC = $(A)\n" + ONE_CALL, 1, "refers to itself"),
        ("A = $($(B))\napp: a.cu\n\t$(A) -o app a.cu\n", 1, "name is computed"),
        ("\tnvcc -o app a.cu\n", 1, "before any rule"),
        ("app: a.cu\n\tnvcc -o app a.cu | tee log\n", 2, "not one plain command"),
        ("app: a.cu\n\tnvcc -o app a.cu $$(touch /tmp/ran)\n", 2, "not one plain command"),
        ("app: a.cu\n\tnvcc -o app 'a.cu\n", 2, "cannot be read"),
        ("app: a.cu\n\tpython3 make.py\n", 2, "the rule runs `python3`"),
        ("app: a.cu\n\tnvcc -o app a.cu old.o\n", 2, "nothing compiles `old.o`"),
        ("app: a.cu\n\tnvcc -o app a.cu what\n", 2, "`what` is neither"),
        ("app: app\n\tnvcc -o app a.cu\n", 1, "depends on itself"),
        ("app: gone.cu\n\tnvcc -o app gone.cu\n", None, "no rule makes `gone.cu`"),
        ("app: a.cu\n\tnvcc -c a.cu -o a.o\n", None, "no command links `app`"),
        ("app:: a.cu\n\tnvcc -o app a.cu\n", 1, "neither a variable nor a plain rule"),
        ("some words\n", 1, "neither a variable nor a plain rule"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(text: str, line: int | None, words: str) -> None:
    refused = refusal(text)
    assert refused.line == line
    assert words in str(refused)
    assert str(refused).startswith(f"Makefile line {line}: " if line else "Makefile: ")
    assert refused.remedy


def test_variables_that_double_each_other_are_refused_soon() -> None:
    doubling = "".join(f"A{n} = $(A{n + 1})$(A{n + 1})\n" for n in range(40)) + "A40 = xxxx\n"
    assert "expands to more than" in str(refusal(f"{doubling}app: a.cu\n\tnvcc $(A0) -o app a.cu\n"))


def test_a_long_chain_of_rules_is_refused() -> None:
    chain = "".join(f"t{n}: t{n + 1}\n\t@true\n" for n in range(2000))
    assert "too many rules" in str(refusal(f"app: t0\n\tnvcc -o app a.cu\n{chain}"))


WORDS = st.sampled_from(
    ["A", "app", "a.cu", "%.o", "%.cu", ":", "=", ":=", "?=", "+=", "$(A)", "$@", "$^", "${A:.cu=.o}", "$$"]
)
LINES = st.lists(st.one_of(WORDS, st.text(max_size=6)), max_size=6).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from(["", "\t", "\tnvcc -o app "]), LINES).map("".join), max_size=8))
def test_any_text_is_read_or_refused(lines: list[str]) -> None:
    text = "\n".join(lines)
    try:
        program(text)
    except TaskRefused as refused:
        assert refused.remedy

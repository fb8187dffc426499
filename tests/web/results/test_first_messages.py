"""First messages of failures: the line that tells, with placeholders for what differs between equal causes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.results.first_message import LINE_CHARACTERS, MESSAGE_CHARACTERS, first_line, normalised, telling_line


@pytest.mark.parametrize(("line", "expected"), [
    ('solution.cu(12): error: identifier "foo" is undefined', "<path>(<n>): error: identifier <name> is undefined"),
    ("/tmp/w/a1/solution.cpp:3:5: error: ‘x’ was not declared", "<path>:<n>:<n>: error: <name> was not declared"),
    ("/usr/bin/ld: /tmp/cc.o: undefined reference to `f(float*)'", "<path>: <path>: undefined reference to <name>"),
    ("The test ended with status 139.", "The test ended with status <n>."),
    ("expected 3.5e-4, got -1.25", "expected <n>, got <n>"),
    ("(3, 4): 5 != 6; x=1,024", "(<n>, <n>): <n> != <n>; x=<n>"),
    ("KeyError: 'abc'", "KeyError: <name>"),
    ("illegal access at 0x7F12ab of deadbeef01", "illegal access at <hex> of <hex>"),
    ("don't take 'this' for that isn't", "don't take <name> for that isn't"),
    ("sm_90 and float4 stay, and/or too", "sm_90 and float4 stay, and/or too"),
    ("\x1b[31merror:\x1b[0m  wide\tspace", "error: wide space"),
    ("C:\\work\\a.cu is read-only", "<path> is read-only"),
])  # fmt: skip
def test_names_paths_and_numbers_become_placeholders(line: str, expected: str) -> None:
    assert normalised(line) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("solution.cu(12): error: expected a ';'", "kernel.cu(340): error: expected a ';'"),
        ("AssertionError: row 4 is 3.25, not 3.5", "AssertionError: row 1023 is -0.0, not 1e-7"),
        ("/tmp/podium-1/x: cannot open 'a.txt'", "/var/tmp/podium-20/deep/x: cannot open 'b c.txt'"),
    ],
)
def test_messages_of_one_cause_are_equal(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


def test_messages_of_two_causes_differ() -> None:
    assert normalised("error: expected a ';'") != normalised("error: expected an expression")


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("g++ -c x.cpp\nx.cpp: In function f\nx.cpp:3:1: error: no\nx.cpp:4:1: error: yes", "x.cpp:3:1: error: no"),
        ('Traceback (most recent call last):\n  File "t.py", line 3\nValueError: bad shape\n', "ValueError: bad shape"),
        ("\n\n  running 3 cases  \nall is quiet", "running 3 cases"),
        ("3 errors so far\nnvcc fatal   : unknown option", "nvcc fatal   : unknown option"),
        ("warning: -Werror is off\ncase 2: FAIL", "case 2: FAIL"),
        ("x\nSegmentation fault (core dumped)", "Segmentation fault (core dumped)"),
        ("as expected so far\nrow 4: expected 3.5, got 4", "row 4: expected 3.5, got 4"),
        ("", ""),
        (" \n\t\n", ""),
    ],
)
def test_the_first_line_that_speaks_of_a_failure_is_found(log: str, line: str) -> None:
    assert telling_line(log) == line


def test_a_log_is_searched_from_its_beginning_only() -> None:
    assert telling_line("quiet\n" * 5000 + "error: late") == "quiet"
    assert len(telling_line("error " * 1000)) == LINE_CHARACTERS


def test_a_reasons_first_line_stands_for_it() -> None:
    assert first_line("\nThe build ended with status 1.\nMore.") == "The build ended with status 1."


@given(st.text(max_size=2 * LINE_CHARACTERS) | st.from_regex(r"['\"`.\\/+0-9a-fx-]{0,400}", fullmatch=True))
def test_any_text_becomes_a_short_line(text: str) -> None:
    message = normalised(telling_line(text))
    assert len(message) <= MESSAGE_CHARACTERS
    assert "\n" not in message

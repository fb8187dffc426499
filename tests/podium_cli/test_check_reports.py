"""Reports of a check hold for any text: what a program prints becomes neither XML, nor Markdown, nor a command."""

import json
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.ci.checks import why_below
from podium.ci.junit import junit_xml
from podium.ci.outcomes import AnnotationPlace, PackOutcomes, SampleOutcome, State, named_place
from podium.ci.step_summary import literal, markdown
from podium.ci.workflow_commands import annotations, escaped_property, harmless, harmless_json

anything = st.text(max_size=200) | st.text("\0\x01\x1b\r\n\t:#%,[]<>&|`@!*_~\ud800\ufffe\u2028é", max_size=60)


def outcome(text: str, state: State = State.FAILED, **changes: object) -> SampleOutcome:
    fields = {"task_id": text, "index": 0, "group": text, "state": state, "verdict": "test_failed", "reason": text}
    fields |= {"output": text, "flags": (text,), "in_doubt": False, "wall_ms": 1.0, "place": AnnotationPlace(text, 3)}
    return SampleOutcome(**(fields | changes))  # type: ignore[arg-type]


@given(anything, st.sampled_from(State))
@settings(deadline=None)
def test_junit_can_be_parsed(text: str, state: State) -> None:
    root = ET.fromstring(junit_xml([PackOutcomes(text, (outcome(text, state),), 0.5)]))
    assert [case.tag for case in root.iter("testcase")] == ["testcase"]


@given(anything)
@settings(deadline=None)
def test_an_annotation_is_one_command_on_one_line(text: str) -> None:
    both = PackOutcomes("p", (outcome(text), outcome(text, State.PASSED)), 0.5)
    lines = list(annotations([both]))
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning"]
    assert not any(re.search(r"[\r\n]|##\[", line) for line in lines)
    for line in lines:
        properties, _, _ = line.partition(" ")[2].partition("::")
        assert [part.split("=")[0] for part in properties.split(",")] == ["file", "line", "title"]


@given(anything)
@settings(deadline=None)
def test_other_output_holds_no_command(text: str) -> None:
    shown = harmless(text)
    assert "##[" not in shown
    assert not any(line.lstrip().startswith("::") for line in re.split(r"[\r\n]", shown))
    value = json.dumps({"groups": [text]})
    assert json.loads(harmless_json(value)) == json.loads(value)
    assert "##[" not in harmless_json(value)


@given(anything)
@settings(deadline=None)
def test_markdown_shows_text_as_it_is(text: str) -> None:
    assert re.fullmatch(r"(?:[A-Za-z0-9 ]|&#\d+;|[^\x00-\x7f])*", literal(text))
    rows = markdown([PackOutcomes("p", (outcome(text),), 0.5)], "").splitlines()
    assert rows[-1].count("|") == 5


def test_properties_and_messages_are_escaped_as_github_asks() -> None:
    assert escaped_property("a:b,c%d\r\ne") == "a%3Ab%2Cc%25d%0D%0Ae"


@pytest.mark.parametrize(
    ("output", "place"),
    [
        ("solution.cu(12): error: expected a `;`", ("solution.cu", 12)),
        ("/w/solution.cu:12:3: fatal error: x.h: No such file", ("solution.cu", 12)),
        ("solution.cu:9:3: warning: unused\nsolution.cu:12:3: error: no", ("solution.cu", 12)),
        ('Traceback:\n  File "/w/solution.cu", line 4, in f', ("solution.cu", 4)),
        ("my_solution.cu:12:3: error: not of ours", ("", 0)),
        ("solution.cu:99999999999: error", ("", 0)),
        ("error", ("", 0)),
    ],
)
def test_the_line_of_an_error_is_found(output: str, place: tuple[str, int]) -> None:
    assert named_place(output, ["solution.cu"]) == place


def test_a_tenth_below_one_reaches_nine_tenths() -> None:
    assert why_below(0.9, [PackOutcomes("p", (), 1 - 0.1)]) == ""
    assert why_below(0.9, [PackOutcomes("p", (), 0.899)]) == "p: pass@1 is 0.899, below 0.9"


def test_a_pass_in_doubt_fails_the_check() -> None:
    doubted = outcome("a/1", State.PASSED, in_doubt=True, flags=("context_changed (verdict): x.h",))
    words = "p: the pass of a/1 sample 1 is in doubt: context_changed (verdict): x.h"
    assert why_below(0.5, [PackOutcomes("p", (doubted,), 1.0)]) == words


def test_at_most_ten_annotations_of_a_level_are_printed() -> None:
    many = PackOutcomes("p", tuple(outcome("a") for _ in range(30)), 0.0)
    assert len(list(annotations([many]))) == 10

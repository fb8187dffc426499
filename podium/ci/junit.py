"""JUnit's XML: a suite for each pack, a case for each sample. Well-formed whatever a program has printed."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from podium.ci.outcomes import PackOutcomes, SampleOutcome, State

_NOT_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot carry in any form: most controls, lone surrogates, U+FFFE and U+FFFF."""
_ELEMENTS = {State.FAILED: "failure", State.FAULT: "error", State.SKIPPED: "skipped"}


def junit_xml(packs: Sequence[PackOutcomes]) -> bytes:
    """The report. A solution's failure is a `failure`; a sample that this machine could not grade is an `error`."""
    counts = _counts([one for pack in packs for one in pack.outcomes])
    root = ET.Element("testsuites", {"name": "podium evaluate", **counts})
    for pack in packs:
        suite = ET.SubElement(root, "testsuite", {"name": xml_text(pack.name), **_counts(pack.outcomes)})
        for one in pack.outcomes:
            _add_case(suite, one)
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def xml_text(text: str) -> str:
    """The text with U+FFFD in the place of what XML cannot carry."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _counts(outcomes: Sequence[SampleOutcome]) -> dict[str, str]:
    states = [one.state for one in outcomes]
    return {
        "tests": str(len(states)),
        "failures": str(states.count(State.FAILED)),
        "errors": str(states.count(State.FAULT)),
        "skipped": str(states.count(State.SKIPPED)),
        "time": _seconds(sum(one.wall_ms for one in outcomes)),
    }


def _add_case(suite: ET.Element, one: SampleOutcome) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=xml_text(one.group),
        name=xml_text(one.name),
        time=_seconds(one.wall_ms),
        file=xml_text(one.place.file),
    )
    if name := _ELEMENTS.get(one.state):
        found = ET.SubElement(case, name, type=one.verdict, message=xml_text(one.reason or one.verdict))
        found.text = xml_text(one.output)
    if one.flags:
        ET.SubElement(case, "system-out").text = xml_text("\n".join(one.flags))


def _seconds(wall_ms: float) -> str:
    return f"{wall_ms / 1000:.3f}"

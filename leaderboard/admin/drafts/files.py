"""The files of a problem on its form: rows by section, typed or uploaded, and their way into the record."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from django.http import HttpRequest

from leaderboard.admin.drafts.fields import overlay, plain
from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE
from problems.spec.kinds import Kind
from problems.spec.paths import why_bad_path
from problems.spec.podium_metadata import ContestantVerdict

Fields = dict[str, Any]
VERDICTS = [one for one in get_args(ContestantVerdict) if one != "passed"]
MAX_ROWS = 200
_NAME = re.compile(r"file-([a-z_]+)-(\d{1,3})-path")


@dataclass(frozen=True)
class Section:
    """Files of one purpose; `field` is the record's field that holds them."""

    name: str
    title: str
    field: str
    held_out: bool
    words: str
    is_named: bool = False
    """Whether the files belong to solutions with a name and a verdict to expect."""


SECTIONS = (
    Section("context", "Context files", "context_files", False, "In the workspace of every build and run."),
    Section("shown_tests", "Visible tests", "test_files", False, "Test files that everybody may read."),
    Section("starter", "Starter code", "starter", False, "What somebody who types a solution begins with."),
    Section("tests", "Tests", "test_files", True, "Test files that only nodes and organisers read."),
    Section(
        "reference", "Reference solution", "baseline_solution", True,
        "Must pass. Speedups are held against its time.",
    ),
    Section(
        "known_bad", "Known-bad solutions", "known_bad", True,
        "Wrong solutions and the verdict that each must get. Files with one name are one solution.", is_named=True,
    ),
)  # fmt: skip
_BY_NAME = {one.name: one for one in SECTIONS}
_OF_STRICT = ("context", "tests", "reference")


@dataclass
class FileRow:
    """One file as it stands on the form."""

    path: str = ""
    content: str = ""
    name: str = ""
    expect: str = "test_failed"
    fault: str = ""

    @property
    def is_blank(self) -> bool:
        return not (self.path or self.content.strip() or self.name)


@dataclass
class SectionRows:
    """A section of the form with its rows and what is wrong with it."""

    section: Section
    rows: list[FileRow] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def files(self) -> list[FileRow]:
        return [row for row in self.rows if not row.is_blank]


Typed = dict[str, SectionRows]


def sections_of(kind: str, *, is_podium: bool) -> Sequence[Section]:
    """The sections that the form of a kind shows."""
    if kind == Kind.COMMAND:
        return SECTIONS if is_podium else [_BY_NAME[name] for name in _OF_STRICT]
    return [_BY_NAME["starter"], _BY_NAME["known_bad"]] if kind == Kind.FUNCTION else []


def rows_of(record: Fields, sections: Iterable[Section]) -> Typed:
    """The files that a record holds."""
    podium = record["metadata"].get("podium") or {}
    shown = set(podium.get("visible_tests") or [])
    tests = record.get("test_files") or []
    reference = record.get("baseline_solution") or {}
    found: Mapping[str, list[FileRow]] = {
        "context": _rows(record.get("context_files")),
        "shown_tests": _rows(one for one in tests if one["path"] in shown),
        "tests": _rows(one for one in tests if one["path"] not in shown),
        "starter": _rows(podium.get("starter")),
        "reference": _rows(reference.get("files")),
        "known_bad": [
            FileRow(file["path"], file["content"], bad["name"], bad["expect"])
            for bad in podium.get("known_bad") or []
            for file in bad["files"]
        ],
    }
    return {one.name: SectionRows(one, found[one.name]) for one in sections}


def _rows(files: Iterable[Fields] | None) -> list[FileRow]:
    return [FileRow(one["path"], one["content"]) for one in files or []]


def typed_files(request: HttpRequest, record: Fields, sections: Sequence[Section]) -> Typed:
    """The rows of a form that was sent; an upload takes the place of what is typed beside it."""
    before = rows_of(record, sections)
    typed = {one.name: SectionRows(one) for one in sections}
    places = [match.groups() for name in request.POST if (match := _NAME.fullmatch(name))]
    for name, number in sorted(places, key=lambda one: int(one[1]))[:MAX_ROWS]:
        if name in typed and not request.POST.get(f"file-{name}-{number}-remove"):
            typed[name].rows.append(_typed_row(request, f"file-{name}-{number}-", before[name].rows))
    return typed


def _typed_row(request: HttpRequest, prefix: str, before: Sequence[FileRow]) -> FileRow:
    said = {name: request.POST.get(prefix + name, "") for name in ("path", "content", "name", "expect")}
    row = FileRow(said["path"].strip(), plain(said["content"]), said["name"].strip(), said["expect"] or "test_failed")
    upload = request.FILES.get(prefix + "upload")
    if upload is not None:
        _take_upload(row, upload)
    else:
        same = (one for one in before if (one.path, one.name) == (row.path, row.name))
        row.content = next((one.content for one in same if plain(one.content) == row.content), row.content)
    row.fault = row.fault or _fault_of(row)
    return row


def _take_upload(row: FileRow, upload: Any) -> None:
    row.path = row.path or upload.name
    if upload.size > DEFAULT_LIMITS.file_bytes:
        row.fault = f"The file is larger than {DEFAULT_LIMITS.file_bytes // MEBIBYTE} MiB."
        return
    try:
        row.content = upload.read().decode("utf-8")
    except UnicodeDecodeError as error:
        row.fault = f"The file is not UTF-8 text (byte {error.start}); a problem's files are texts."


def _fault_of(row: FileRow) -> str:
    if row.is_blank:
        return ""
    if not row.path:
        return "Give the file a path, as test/main.cpp."
    if reason := why_bad_path(row.path):
        return f"{reason[:1].upper()}{reason[1:]}."
    if "\0" in row.content:
        return "The file holds a NUL character; a problem's files are texts."
    return ""


def are_valid(typed: Typed) -> bool:
    """Whether no file has a fault. Names the files that stand twice in a field of the record."""
    seen: set[tuple[str, str, str]] = set()
    for one in typed.values():
        for row in one.files:
            key = (one.section.field, row.name, row.path)
            if key in seen:
                row.fault = row.fault or "Another file has this path."
            seen.add(key)
            if one.section.is_named and not row.name:
                row.fault = row.fault or "Give the wrong solution a name."
    return not any(row.fault for one in typed.values() for row in one.rows)


def edit_files(record: Fields, typed: Typed) -> None:
    """Set the record's files to the typed ones, in the order that it has them; new ones come last."""
    if "context" in typed:
        record["context_files"] = _ordered(record["context_files"], _files(typed["context"]))
    if "tests" in typed:
        _edit_tests(record, typed)
    if "reference" in typed:
        _edit_reference(record, _files(typed["reference"]))
    if "starter" in typed or "known_bad" in typed:
        podium = record["metadata"].setdefault("podium", {})
        overlay(podium, "starter", _files(typed["starter"]), [])
        overlay(podium, "known_bad", _known_bad(typed["known_bad"]), [])
        if not podium:
            del record["metadata"]["podium"]


def _files(section: SectionRows) -> list[Fields]:
    return [{"path": row.path, "content": row.content} for row in section.files]


def _ordered(before: Sequence[Fields], files: list[Fields]) -> list[Fields]:
    places = {one["path"]: place for place, one in enumerate(before)}
    return sorted(files, key=lambda one: places.get(one["path"], len(places)))


def _edit_tests(record: Fields, typed: Typed) -> None:
    shown = _files(typed["shown_tests"]) if "shown_tests" in typed else []
    before = [one["path"] for one in record["test_files"]]
    record["test_files"] = _ordered(record["test_files"], shown + _files(typed["tests"]))
    if "shown_tests" not in typed:
        return
    podium = record["metadata"].setdefault("podium", {})
    paths = {one["path"] for one in shown}
    old = podium.get("visible_tests") or []
    kept = [path for path in old if path in paths or path not in before]
    overlay(podium, "visible_tests", kept + [one["path"] for one in shown if one["path"] not in kept], [])


def _edit_reference(record: Fields, files: list[Fields]) -> None:
    before = record["baseline_solution"]
    if files:
        kept = before if before and before["type"] == "file" else {"schema_version": 1, "type": "file"}
        record["baseline_solution"] = {**kept, "task_id": record["task_id"], "files": files}
    elif before and before.get("files"):
        record["baseline_solution"] = None


def _known_bad(section: SectionRows) -> list[Fields]:
    found: dict[str, Fields] = {}
    for row in section.files:
        one = found.setdefault(row.name, {"name": row.name, "expect": row.expect, "files": []})
        one["files"].append({"path": row.path, "content": row.content})
    return list(found.values())


def place_faults(typed: Typed, of_files: Mapping[str, Sequence[str]]) -> list[str]:
    """Put faults, by field of the record, at the sections of these fields; returns those without a section."""
    left: list[str] = []
    for name, faults in of_files.items():
        sections = [one for one in typed.values() if one.section.field == name]
        if sections:
            sections[-1].faults += faults
        else:
            left += [f"{name} {fault}" for fault in faults]
    return left

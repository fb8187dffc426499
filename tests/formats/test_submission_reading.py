"""Whatever people submit is read whole, each bad sample is invalid with a reason, and dangerous files are refused."""

import io
import json
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from problems.formats.bounded import UploadLimits, write_tar_gz
from problems.formats.compute_eval.packs import problem_pack_from, read_problem_pack
from problems.formats.submission import (
    Catalogue,
    IncomingSubmission,
    PackRefused,
    read_samples,
    read_submission,
    single_solution,
)
from problems.spec.digests import record_md5
from problems.spec.profile import Profile
from tests import packs
from tests.formats.sources import PROBLEMS, SOLUTIONS, solution_line, solution_pack

CATALOGUE = Catalogue.of_pack(read_problem_pack(PROBLEMS))
TASKS = [f"A/{number}" for number in range(5)]


def read(jsonl: bytes, strict: bool = False, **metadata: object) -> IncomingSubmission:
    return read_submission(solution_pack(jsonl, **metadata), "internal-m-solutions.tar.gz", CATALOGUE, strict=strict)


def refused(jsonl: bytes, strict: bool = False, **metadata: object) -> PackRefused:
    with pytest.raises(PackRefused) as caught:
        read(jsonl, strict, **metadata)
    return caught.value


def zipped(files: dict[str, str | bytes]) -> io.BytesIO:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    target.seek(0)
    return target


def read_zip(files: dict[str, str | bytes]) -> IncomingSubmission:
    return read_submission(zipped(files), "mine.zip", CATALOGUE)


def contents(incoming: IncomingSubmission) -> list[tuple[str, int, dict[str, str]]]:
    rows = [(sample.task_id, sample.index, json.loads(sample.record)) for sample in incoming.samples]
    return [(task, index, {f["path"]: f["content"] for f in record["files"]}) for task, index, record in rows]


def test_the_golden_pack_is_a_full_submission() -> None:
    incoming = read_submission(SOLUTIONS, SOLUTIONS.name, CATALOGUE)
    assert (incoming.name, incoming.full, incoming.notices) == ("internal-modelx", True, ())
    assert [(s.task_id, s.index) for s in incoming.samples] == [(task, index) for task in TASKS for index in (0, 1)]
    assert not any(sample.invalid_reason for sample in incoming.samples)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (solution_line(files={"./test/t.sh": ""}), "normal form"),
        (solution_line(files={"test//t.sh": ""}), "normal form"),
        (solution_line(files={"test/./t.sh": ""}), "normal form"),
        (solution_line(files={"test/t.sh": ""}), "test file"),
        (solution_line(files={"TEST/T.SH": ""}), "test file"),
        (solution_line(files={"test/zz.cpp": ""}), "folder of the problem's tests"),
        (solution_line(files={"/abs": ""}), "absolute"),
        (solution_line(files={"../x": ""}), ".."),
        (solution_line(files={"": ""}), "empty"),
        (solution_line(files={"a\0b": ""}), "control"),
        (solution_line(files={"a": "\0"}), "NUL"),
        (solution_line(files={"a": "", "a/b": ""}), "needs a folder"),
        (solution_line(files={"a": "\ud800"}), "surrogate"),
        (solution_line(files={"\udfff": ""}), "surrogate"),
        (solution_line(note="\ud800"), "surrogate"),
        (b'{"type":"file","task_id":"A/0","files":[]}\n', "no files"),
        (b'{"type":"file","task_id":"A/0","files":null}\n', "files"),
        (b'{"task_id":"A/0","files":[]}\n', "type"),
        (b'{"type":"patch","task_id":"A/0","patch":"x"}\n', "patch"),
        (b'{"type":"patch","task_id":"A/0"}\n', "patch"),
        (solution_line(schema_version=2), "schema_version is 2"),
    ],
)
def test_bad_content_makes_its_sample_invalid_and_no_other(bad: bytes, words: str) -> None:
    incoming = read(solution_line() + bad + solution_line())
    assert [bool(sample.invalid_reason) for sample in incoming.samples] == [False, True, False]
    assert [sample.index for sample in incoming.samples] == [0, 1, 2]
    assert words in incoming.samples[1].invalid_reason
    assert incoming.digest


def test_replacing_a_context_file_is_allowed() -> None:
    assert read(solution_line("A/3", {"time.txt": "1"})).samples[0].invalid_reason == ""


@pytest.mark.parametrize(
    "line", [b"{\n", b"[]\n", b'{"type":"file"}\n', b'{"task_id":3}\n', b"\xff\n", b"[" * 9999 + b"\n"]
)
def test_an_unreadable_line_refuses_the_pack_with_its_number(line: bytes) -> None:
    found = refused(solution_line() + b"\n" + line)
    assert (found.code, found.line) == ("unreadable_line", 3)


def test_an_unknown_task_refuses_the_pack_in_these_words() -> None:
    found = refused(solution_line() + solution_line("CUDA/999") + solution_line("A/1"))
    assert found.message == "Line 2: task_id `CUDA/999` is not in release internal. 2 other samples are fine."


def test_unknown_tasks_can_be_reported_instead() -> None:
    pack = solution_pack(solution_line("\ud800") + solution_line())
    incoming = read_samples(pack, "x-solutions.tar.gz", CATALOGUE)
    assert [notice.line for notice in incoming.unknown] == [1]
    assert len(incoming.samples) == 1


def test_a_pack_for_another_release_is_refused() -> None:
    assert refused(solution_line(), release="2026-1").code == "wrong_release"


def test_part_of_the_groups_is_a_partial_submission() -> None:
    assert read(solution_line(), groups=["cuda-kernels"]).full is False
    assert read(solution_line()).full is True


def test_absent_problems_and_wrong_counts_are_noticed() -> None:
    messages = [notice.message for notice in read(solution_line(), total_count=7).notices]
    assert messages == ["metadata.json says 7 solutions, the file has 1.", "4 of 5 problems have no sample."]


def test_strict_reading_wants_every_problem() -> None:
    found = refused(b"".join(map(solution_line, TASKS[:3])), strict=True)
    assert found.code == "not_covered"
    assert "A/3, A/4" in found.message


def test_strict_reading_looks_at_the_packs_groups_alone() -> None:
    assert len(read(solution_line("A/1"), strict=True, groups=["cccl"]).samples) == 1
    assert refused(solution_line("A/1") + solution_line("A/0"), strict=True, groups=["cccl"]).code == "unknown_task"


@pytest.mark.parametrize(
    ("line", "code"),
    [(b'{"task_id":"A/0"}\n', "bad_record"), (solution_line(schema_version=2), "wrong_schema")],
)
def test_strict_reading_refuses_what_the_reference_refuses(line: bytes, code: str) -> None:
    assert refused(b"".join(map(solution_line, TASKS)) + line, strict=True).code == code


def test_strict_reading_keeps_bad_paths_to_their_sample() -> None:
    incoming = read(b"".join(map(solution_line, TASKS)) + solution_line(files={"../x": ""}), strict=True)
    assert [bool(sample.invalid_reason) for sample in incoming.samples] == [False] * 5 + [True]


def test_json_lines_without_a_pack_are_read() -> None:
    incoming = read_submission(io.BytesIO(solution_line("A/1")), "mine.jsonl", CATALOGUE)
    assert (incoming.name, incoming.full, len(incoming.samples)) == ("mine", False, 1)


def test_other_files_are_refused_by_name() -> None:
    with pytest.raises(PackRefused, match=r"mine\.txt"):
        read_submission(io.BytesIO(b"hello"), "mine.txt", CATALOGUE)


def test_the_digest_does_not_depend_on_the_packing() -> None:
    lines = [solution_line(task, {"solution.sh": task}) for task in TASKS]
    packed, shuffled = read(b"".join(lines)), read(b"\n".join(reversed(lines)))
    folders = read_zip({f"{task}/solution.sh": task for task in TASKS})
    assert packed.digest == shuffled.digest == folders.digest
    assert packed.digest != read(b"".join(lines[1:])).digest


def test_a_catalogue_can_be_made_of_rules_alone() -> None:
    rules = {task: CATALOGUE.rules_for(task) for task in TASKS}
    stored = Catalogue("internal", Profile.COMPUTE_EVAL, CATALOGUE.groups, rules)
    assert read_submission(SOLUTIONS, "x", stored).digest == read_submission(SOLUTIONS, "x", CATALOGUE).digest


def test_a_single_solution_is_partial_and_checked() -> None:
    incoming = single_solution("A/0", {"solution.sh": "exit 0"}, CATALOGUE)
    assert (incoming.full, incoming.samples[0].invalid_reason) == (False, "")
    assert "test file" in single_solution("A/0", {"test/t.sh": ""}, CATALOGUE).samples[0].invalid_reason
    with pytest.raises(PackRefused, match="is not in release internal"):
        single_solution("Z/0", {"a": ""}, CATALOGUE)


@pytest.mark.parametrize("folder", ["A/0", "A_0", "A-0", "my solutions/A_0"])
def test_zips_of_numbered_samples(folder: str) -> None:
    incoming = read_zip({f"{folder}/10/a.sh": "ten", f"{folder}/2/a.sh": "two", f"{folder}/2/lib/b.sh": "b"})
    assert contents(incoming) == [("A/0", 0, {"a.sh": "two", "lib/b.sh": "b"}), ("A/0", 1, {"a.sh": "ten"})]
    assert incoming.full is False


def test_zips_of_one_sample_for_each_problem() -> None:
    incoming = read_zip({f"{task.replace('/', '_')}/solution.sh": task for task in TASKS} | {"A_0/lib/x.h": "x"})
    assert incoming.full
    assert contents(incoming)[0] == ("A/0", 0, {"solution.sh": "A/0", "lib/x.h": "x"})


def test_clutter_in_zips_is_left_out() -> None:
    incoming = read_zip(
        {"A_0/0/a.sh": "x", "A_0/0/.DS_Store": b"\0\xff", "__MACOSX/A_0/0/._a.sh": b"\0", "README": "r"}
    )
    assert contents(incoming) == [("A/0", 0, {"a.sh": "x"})]
    assert "README" in incoming.notices[0].message


def test_files_beside_the_problems_in_a_wrapping_folder_are_left_out() -> None:
    incoming = read_zip({"mine/A_0/0/a.sh": "x", "mine/entrant.yaml": "y"})
    assert contents(incoming) == [("A/0", 0, {"a.sh": "x"})]
    assert "entrant.yaml" in incoming.notices[0].message


def test_an_unknown_folder_refuses_the_zip() -> None:
    with pytest.raises(PackRefused, match="'B_7' is no problem of release internal"):
        read_zip({"A_0/a.sh": "", "B_7/a.sh": ""})


@pytest.mark.parametrize("name", ["A_0/0/../../x", "A_0/0//x", "A_0/0/./x", "A_0/0/test/t.sh", "A_0/0/a\\b"])
def test_bad_paths_in_zips_make_their_sample_invalid(name: str) -> None:
    incoming = read_zip({name: "x", "A_0/1/a.sh": "x"})
    assert [bool(sample.invalid_reason) for sample in incoming.samples] == [True, False]


def test_bytes_that_are_no_text_make_their_sample_invalid() -> None:
    incoming = read_zip({"A_0/0/a.sh": b"\xff", "A_0/1/a.sh": "x"})
    assert [sample.invalid_reason for sample in incoming.samples] == ["a file is not UTF-8 text", ""]


def refused_zip(source: io.BytesIO, limits: UploadLimits | None = None) -> str:
    with pytest.raises(PackRefused) as caught:
        read_submission(source, "mine.zip", CATALOGUE, limits or UploadLimits())
    return caught.value.code


def with_mode(mode: int) -> io.BytesIO:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        info = zipfile.ZipInfo("A_0/0/a.sh")
        info.external_attr = mode << 16
        archive.writestr(info, "/etc/passwd")
    return target


def test_links_devices_bombs_and_sizes_refuse_the_zip() -> None:
    assert refused_zip(with_mode(stat.S_IFLNK | 0o777)) == "link"
    assert refused_zip(with_mode(stat.S_IFCHR | 0o666)) == "special_file"
    assert refused_zip(zipped({"A_0/0/a.sh": bytes(40 << 20)})) == "bomb"
    assert refused_zip(zipped({"A_0/0/a": "xx", "A_0/0/b": "x"}), UploadLimits(members=1)) == "too_many_members"
    assert refused_zip(zipped({"A_0/0/a": "xx"}), UploadLimits(total_bytes=1)) == "too_large"
    assert refused_zip(zipped({"A_0/0/a": "xx"}), UploadLimits(packed_bytes=9)) == "too_large"
    assert refused_zip(zipped({})) == "empty"


def test_large_files_and_many_files_make_their_sample_invalid() -> None:
    limits = UploadLimits(file_bytes=10, files_per_sample=2)
    files = [{"a": "x" * 11}, {"a": "", "b": "", "c": ""}, {"a": "x"}]
    pack = solution_pack(b"".join(solution_line(files=each) for each in files))
    incoming = read_submission(pack, "x", CATALOGUE, limits)
    assert [bool(sample.invalid_reason) for sample in incoming.samples] == [True, True, False]


@given(st.binary(max_size=120), st.integers(0, 250))
@example(b"\0\0", 187)  # a member without a name
@settings(max_examples=60)
def test_damaged_zips_are_refused_or_read_and_never_crash(noise: bytes, at: int) -> None:
    golden = zipped({"A_0/0/a.sh": "x", "A_0/1/a.sh": "y"}).getvalue()
    for data in (golden[:at] + noise + golden[at + len(noise) :], golden[:at] + noise, b"PK\x05\x06" + noise):
        try:
            assert read_submission(io.BytesIO(data), "mine.zip", CATALOGUE).digest
        except PackRefused as error:
            assert error.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["type", "files", "schema_version", "patch", "x"]), JSON))
def test_any_record_with_a_known_task_becomes_a_sample(fields: dict) -> None:
    line = json.dumps({**fields, "task_id": "A/0"}).encode() + b"\n"
    incoming = read(line)
    assert len(incoming.samples) == 1
    assert incoming.samples[0].record.endswith(b"\n") or incoming.samples[0].invalid_reason


def test_paths_on_disk_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "internal-m-solutions.tar.gz"
    path.write_bytes(solution_pack(solution_line()).getvalue())
    assert read_submission(path, path.name, CATALOGUE).name == "internal-m"


@pytest.mark.parametrize("depth", [101, 500, 900, 980, 100_000])
def test_deep_json_refuses_the_file_with_its_line(depth: int) -> None:
    deep = '{"task_id":"A/0","type":"file","files":[],"extra":' + "[" * depth + "]" * depth + "}\n"
    refusal = refused(solution_line() + deep.encode())
    assert (refusal.code, refusal.line) == ("unreadable_line", 2)
    assert "nested too deeply" in refusal.message


def test_deep_metadata_refuses_the_pack() -> None:
    for depth in (101, 900, 100_000):
        metadata = '{"release":' + "[" * depth + "]" * depth + "}"
        pack = io.BytesIO()
        write_tar_gz(pack, {"metadata.json": metadata.encode(), "solutions.jsonl": solution_line()})
        pack.seek(0)
        with pytest.raises(PackRefused, match="nested too deeply"):
            read_submission(pack, "x-solutions.tar.gz", CATALOGUE)


def test_a_deep_problem_record_refuses_its_pack() -> None:
    for depth in (101, 980, 100_000):
        deep = packs.line(packs.problem("a/1", podium={"build_only": [], "more": "@"}))
        line = deep.replace(b'"@"', b"[" * depth + b"]" * depth)
        metadata = {"release": "t", "total_count": 1, "created_at": "2026-01-01T00:00:00", "profile": "podium/1"}
        hashes = {"task_id_hashes": {"a/1": record_md5(line)}}
        with pytest.raises(PackRefused, match="nested too deeply"):
            problem_pack_from(json.dumps(metadata | hashes).encode(), line)

"""Packs are read with ComputeEval's rules, verified, and written back to the byte."""

import gzip
import io
import json
import tarfile
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.formats.bounded import UploadLimits
from problems.formats.compute_eval.packs import (
    PackRefused,
    datapack_name,
    graded_filename,
    problem_metadata_for,
    read_every_solution,
    read_problem_pack,
    read_solution_pack,
    write_problem_pack,
    write_solution_pack,
)
from problems.spec.digests import record_md5
from problems.spec.pack import ProblemPackMetadata, parse_problem_metadata
from problems.spec.profile import Profile
from tests.formats.sources import (
    PROBLEMS,
    SOLUTIONS,
    members,
    problem,
    problem_fields,
    solution_line,
    solution_pack,
    tar_gz,
)

GOLDEN = members(PROBLEMS)


def problem_pack(jsonl: bytes, **metadata: object) -> io.BytesIO:
    fields = {"release": "internal", "total_count": jsonl.count(b"\n"), **metadata}
    return tar_gz({"metadata.json": json.dumps(fields).encode(), "problems.jsonl": jsonl})


def refusal(pack: io.BytesIO) -> PackRefused:
    with pytest.raises(PackRefused) as caught:
        read_problem_pack(pack)
    return caught.value


def solutions_refusal(pack: io.BytesIO) -> PackRefused:
    with pytest.raises(PackRefused) as caught:
        read_every_solution(read_solution_pack(pack, "x-solutions.tar.gz"))
    return caught.value


def test_hashes_of_the_golden_pack_hold() -> None:
    pack = read_problem_pack(PROBLEMS)
    assert {r.problem.task_id: r.md5 for r in pack.records} == pack.metadata.task_id_hashes
    assert pack.profile is Profile.COMPUTE_EVAL


def test_export_gives_the_same_member_bytes_and_is_deterministic() -> None:
    pack = read_problem_pack(PROBLEMS)
    first, second = io.BytesIO(), io.BytesIO()
    write_problem_pack(first, pack.metadata, [record.line for record in pack.records])
    write_problem_pack(second, pack.metadata, pack.jsonl_bytes)
    assert first.getvalue() == second.getvalue()
    first.seek(0)
    with tarfile.open(fileobj=first) as tar:
        assert tar.getnames() == ["metadata.json", "problems.jsonl"]
        assert {name: tar.extractfile(name).read() for name in tar.getnames()} == GOLDEN


def test_a_flipped_byte_is_refused_naming_the_task() -> None:
    jsonl = GOLDEN["problems.jsonl"].replace(
        b'"task_id":"A/2","date":"2025-01-01"', b'"task_id":"A/2","date":"2025-01-02"'
    )
    found = refusal(tar_gz(GOLDEN | {"problems.jsonl": jsonl}))
    assert (found.code, found.line) == ("wrong_hash", 3)
    assert "`A/2`" in found.message


def test_a_flipped_byte_in_the_task_id_or_the_syntax_names_the_task_too() -> None:
    for old, new in ((b'"task_id":"A/3"', b'"task_id":"B/3"'), (b'"task_id":"A/3"', b'"task_id:"A/3"')):
        jsonl = GOLDEN["problems.jsonl"].replace(old, new, 1)
        assert "`A/3`" in refusal(tar_gz(GOLDEN | {"problems.jsonl": jsonl})).message


def test_swapped_hashes_are_refused() -> None:
    metadata = json.loads(GOLDEN["metadata.json"])
    hashes = metadata["task_id_hashes"]
    hashes["A/0"], hashes["A/1"] = hashes["A/1"], hashes["A/0"]
    assert refusal(tar_gz(GOLDEN | {"metadata.json": json.dumps(metadata).encode()})).code == "wrong_hash"


def test_a_wrong_count_is_refused() -> None:
    metadata = json.loads(GOLDEN["metadata.json"]) | {"total_count": 99}
    found = refusal(tar_gz(GOLDEN | {"metadata.json": json.dumps(metadata).encode()}))
    assert found.code == "wrong_count"
    assert "99" in found.message


def test_a_missing_problem_is_refused() -> None:
    jsonl = b"".join(GOLDEN["problems.jsonl"].splitlines(keepends=True)[:-1])
    assert refusal(tar_gz(GOLDEN | {"problems.jsonl": jsonl})).code == "wrong_count"


def test_a_duplicate_task_is_refused() -> None:
    line = problem().to_line()
    assert refusal(problem_pack(line + line)).code == "duplicate_task"


def test_the_old_format_is_refused_in_clear_words() -> None:
    line = json.dumps(problem_fields(group=..., arch_list=["native"])).encode() + b"\n"
    found = refusal(problem_pack(line))
    assert "`group` is missing" in found.message
    assert "November 2025" in found.message


def test_podium_packs_keep_their_own_metadata() -> None:
    line = problem(Profile.PODIUM, type="cpp", group="sorting").to_line()
    pack = read_problem_pack(problem_pack(line, release="spring", profile="podium/1", title="Spring", ks=[1, 4]))
    assert (pack.profile, pack.metadata.title, pack.metadata.ks) == (Profile.PODIUM, "Spring", [1, 4])
    assert parse_problem_metadata(pack.metadata.to_bytes()) == pack.metadata


def test_strict_metadata_is_written_with_compute_evals_keys_alone() -> None:
    metadata = parse_problem_metadata(b'{"release":"2026-1","total_count":0,"title":"x","ks":["many"]}')
    assert list(json.loads(metadata.to_bytes())) == [
        "release",
        "total_count",
        "created_at",
        "description",
        "task_id_hashes",
    ]
    assert metadata.title == ""


def test_absent_creation_date_means_now() -> None:
    made = datetime.fromisoformat(ProblemPackMetadata(release="internal", total_count=0).created_at)
    assert abs((datetime.now() - made).total_seconds()) < 60


def test_new_metadata_has_the_hashes_of_the_lines() -> None:
    line = problem(source_references="f").to_line()
    metadata = problem_metadata_for(ProblemPackMetadata(release="internal", total_count=9), [("T/0", line)])
    assert (metadata.total_count, metadata.task_id_hashes) == (1, {"T/0": record_md5(line)})


def test_golden_solutions_are_written_back_to_the_byte() -> None:
    pack = read_solution_pack(SOLUTIONS, SOLUTIONS.name)
    target = io.BytesIO()
    write_solution_pack(target, pack.metadata, [solution.to_line() for solution in read_every_solution(pack)])
    target.seek(0)
    with tarfile.open(fileobj=target) as tar:
        assert {name: tar.extractfile(name).read() for name in tar.getnames()} == members(SOLUTIONS)


@pytest.mark.parametrize(
    "jsonl",
    [
        solution_line() + b"\n \t\n\xe3\x80\x80\n" + solution_line(),
        solution_line().replace(b"\n", b"\r\n") + solution_line(),
        solution_line().replace(b"\n", b"\r") + solution_line(),
        solution_line() + solution_line().rstrip(),
        solution_line(debug={"a": [1]}) + b'{"type":"file","task_id":"A/1"}\n',
        solution_line().replace(b"exit", b"ex\tit") + solution_line(schema_version="1"),
    ],
    ids=["blank lines", "CRLF", "CR", "no final newline", "extra keys and no files", "raw tab and coerced version"],
)
def test_what_the_reference_reads_is_read(jsonl: bytes) -> None:
    assert len(read_every_solution(read_solution_pack(solution_pack(jsonl), "x-solutions.tar.gz"))) == 2


@pytest.mark.parametrize(
    "jsonl",
    [
        b"\xef\xbb\xbf" + solution_line(),
        b'{"task_id":"A/0","files":[]}\n',
        b'{"type":"file","task_id":"A/0","files":null}\n',
        b'{"type":"file","task_id":"A/0","files":[{"path":"a"}]}\n',
        b'{"type":"patch","task_id":"A/0"}\n',
        b"\xff\n",
    ],
    ids=["byte order mark", "no type", "null files", "no content", "patch without patch", "not UTF-8"],
)
def test_what_the_reference_refuses_is_refused_with_the_line(jsonl: bytes) -> None:
    assert solutions_refusal(solution_pack(jsonl)).line == 1


@pytest.mark.parametrize("metadata", [{"release": "2026.1"}, {"groups": ["foo"]}, {"total_count": None}])
def test_bad_solution_metadata_is_refused(metadata: dict) -> None:
    assert solutions_refusal(solution_pack(solution_line(), **metadata)).code == "bad_metadata"


def test_extra_metadata_and_other_members_are_ignored_and_the_last_of_twins_counts() -> None:
    good = members(SOLUTIONS)
    twins = [(tarfile.TarInfo("solutions.jsonl"), b"broken"), (tarfile.TarInfo("notes.txt"), b"x")]
    twins += [(tarfile.TarInfo(name), data) for name, data in reversed(good.items())]
    assert len(read_solution_pack(tar_gz(twins), "x").lines) == 10


def as_tar_makes_it(path: Path) -> io.BytesIO:
    """With a folder's own entry, `./` before each name, and the `._` twin that macOS adds to each file."""
    top = tarfile.TarInfo(".")
    top.type = tarfile.DIRTYPE
    rows = [(top, b"")]
    for name, data in members(path).items():
        rows += [(tarfile.TarInfo(f"./._{name}"), b"\x00\x05\x16\x07"), (tarfile.TarInfo(f"./{name}"), data)]
        rows += [(tarfile.TarInfo(f"._{name}"), b"\x00\x05\x16\x07")]
    return tar_gz(rows)


def test_packs_are_read_as_tar_makes_them() -> None:
    found = read_problem_pack(as_tar_makes_it(PROBLEMS))
    assert found.records == read_problem_pack(PROBLEMS).records
    solutions = read_solution_pack(as_tar_makes_it(SOLUTIONS), "x")
    assert solutions.lines == read_solution_pack(SOLUTIONS, "x").lines


@pytest.mark.parametrize("prefix", ["pack/", "../", "/", "././"])
def test_names_in_a_folder_are_refused(prefix: str) -> None:
    inside = tar_gz({prefix + name: data for name, data in members(SOLUTIONS).items()})
    assert solutions_refusal(inside).code == "missing_member"


def test_plain_tars_are_refused() -> None:
    plain = io.BytesIO(gzip.decompress(SOLUTIONS.read_bytes()))
    assert solutions_refusal(plain).code == "not_gzip"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (tarfile.SYMTYPE, "link"),
        (tarfile.LNKTYPE, "link"),
        (tarfile.FIFOTYPE, "special_file"),
        (tarfile.CHRTYPE, "special_file"),
    ],
)
def test_links_and_devices_refuse_the_pack(kind: bytes, code: str) -> None:
    info = tarfile.TarInfo("problems.jsonl")
    info.type, info.linkname = kind, "/etc/passwd"
    rows = [(tarfile.TarInfo("metadata.json"), b"{}"), (info, b"")]
    assert refusal(tar_gz(rows)).code == code


def test_bombs_are_refused() -> None:
    bomb = tar_gz({"metadata.json": b"{}", "solutions.jsonl": bytes(40 << 20)})
    assert len(bomb.getvalue()) < 100_000
    assert solutions_refusal(bomb).code == "bomb"


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (UploadLimits(packed_bytes=300), "too_large"),
        (UploadLimits(total_bytes=2000), "too_large"),
        (UploadLimits(members=1), "too_many_members"),
        (UploadLimits(line_bytes=50), "line_too_long"),
    ],
)
def test_every_bound_holds(limits: UploadLimits, code: str) -> None:
    with pytest.raises(PackRefused) as caught:
        read_solution_pack(SOLUTIONS, "x", limits=limits)
    assert caught.value.code == code


@given(st.binary(max_size=200), st.integers(0, 300))
@settings(max_examples=60)
def test_garbage_and_damage_are_refused_and_never_crash(noise: bytes, at: int) -> None:
    golden = PROBLEMS.read_bytes()
    for data in (noise, b"\x1f\x8b" + noise, golden[:at] + noise + golden[at + len(noise) :], golden[:at]):
        try:
            read_problem_pack(io.BytesIO(data))
        except PackRefused as error:
            assert error.message


@pytest.mark.parametrize(
    ("filename", "name"),
    [("2026-1-openai-gpt-oss-120b-solutions.tar.gz", "2026-1-openai-gpt-oss-120b"), ("foo.tar.gz", "foo.tar.gz")],
)
def test_names_of_packs(filename: str, name: str) -> None:
    assert datapack_name(filename) == name
    assert graded_filename(name) == f"{name}-graded-solutions.jsonl"

"""Uploaded folders are read within bounds: no links, no way out, no bombs; zip, tar and tar.gz alike."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from problems.formats.bounded import UploadLimits
from problems.formats.errors import PackRefused
from problems.formats.folder_archive import folder_name, read_folder, unpack_folder
from tests.packing.uploads import tarred, zipped

FILES = {"mine/a/def.py": "x = 1\n", "mine/b.txt": "words\n"}


def read(content: bytes, **limits: int) -> dict[str, str]:
    return {name: data.decode() for name, data in read_folder(io.BytesIO(content), UploadLimits(**limits))}


@pytest.mark.parametrize("content", [zipped(FILES), tarred(FILES), tarred(FILES, "w:")], ids=["zip", "tar.gz", "tar"])
def test_a_folder_is_read_and_unpacked_and_what_is_round_it_is_looked_through(content: bytes, tmp_path: Path) -> None:
    assert read(content) == FILES
    root = unpack_folder(io.BytesIO(content), tmp_path)
    assert root == tmp_path / "mine"
    assert (root / "a" / "def.py").read_text() == "x = 1\n"


def _linked(kind: bytes, target: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        info = tarfile.TarInfo("mine/def.py")
        info.type, info.linkname = kind, target
        archive.addfile(info)
    return file.getvalue()


def _zip_link() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo("mine/def.py")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    return file.getvalue()


HOSTILE = {
    "a symbolic link": (_linked(tarfile.SYMTYPE, "/etc/passwd"), "holds a link"),
    "a hard link": (_linked(tarfile.LNKTYPE, "../secret"), "holds a link"),
    "a device": (_linked(tarfile.CHRTYPE, ""), "not a plain file"),
    "a link in a zip": (_zip_link(), "holds a link"),
    "a way out of a tar": (tarred({"mine/../../evil.py": "x"}), "leaves its folder"),
    "an absolute path": (tarred({"/etc/evil.py": "x"}), "absolute"),
    "a way out of a zip": (zipped({"../evil.py": "x"}), "leaves its folder"),
    "no archive": (b"#!/bin/sh\nexit 0\n" * 50, "no zip, tar or tar.gz"),
    "an empty file": (b"", "no zip, tar or tar.gz"),
    "a cut tar.gz": (tarred(FILES)[:60], "damaged"),
    "a file that is a folder, too": (tarred({"a": "x", "a/b": "y"}), "cannot be unpacked"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_plain_folder_is_refused_with_words(name: str, tmp_path: Path) -> None:
    content, words = HOSTILE[name]
    with pytest.raises(PackRefused, match=words):
        unpack_folder(io.BytesIO(content), tmp_path / "root" if (tmp_path / "root").mkdir() is None else tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["root"]


@pytest.mark.parametrize("make", [zipped, tarred])
def test_bombs_are_refused_before_they_unpack(make: object) -> None:
    bomb = make({"mine/zeros": "0" * (40 << 20)})  # type: ignore[operator]
    assert len(bomb) < 1 << 20
    with pytest.raises(PackRefused, match="over 120 times its size"):
        read(bomb)
    with pytest.raises(PackRefused, match=r"(unpacks to more|is larger) than 1 MiB"):
        read(bomb, total_bytes=1 << 20)


def test_too_many_and_too_large_files_are_refused() -> None:
    many = {f"mine/{n}": "x" for n in range(30)}
    for content in (zipped(many), tarred(many)):
        with pytest.raises(PackRefused, match="more than 10"):
            read(content, members=10)
    with pytest.raises(PackRefused, match="larger than"):
        read(tarred(many, "w:"), packed_bytes=1000)


def test_a_folder_is_named_by_its_archive_and_never_leaves_its_place() -> None:
    names = {
        "row-softmax.tar.gz": "row-softmax",
        "../../etc/pass wd.zip": "pass-wd",
        "..": "folder",
        "C:\\a\\b_1.zip": "b_1",
    }
    assert {name: folder_name(name) for name in names} == names

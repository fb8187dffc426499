"""Reads an uploaded file of problems: a pack, or a zip of the folders in which problems are written by hand."""

import io
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from problems.formats.bounded import DEFAULT_LIMITS, UploadLimits
from problems.formats.compute_eval.directory import RELEASE_NAME, read_problem_directory
from problems.formats.compute_eval.packs import ProblemPack, read_problem_pack
from problems.formats.errors import PackRefused
from problems.formats.folder_archive import unpack_folder
from problems.formats.functions.folder import function_folders

_ZIP = b"PK\x03\x04"


NO_RELEASE = "no_release_yaml"


def read_problem_archive(
    content: bytes, limits: UploadLimits = DEFAULT_LIMITS, head: Mapping[str, Any] | None = None
) -> ProblemPack:
    """Read the file. `head` has the fields of `release.yaml` for a zip that brings none.

    Raises PackRefused, with the code NO_RELEASE for such a zip that is right otherwise, where `head` is None. Runs
    nothing: function problems must have been packed.
    """
    if not content.startswith(_ZIP):
        return read_problem_pack(io.BytesIO(content), limits)
    with tempfile.TemporaryDirectory(prefix="podium-import-") as folder:
        return _read(unpack_folder(io.BytesIO(content), Path(folder), limits), head)


def _read(root: Path, head: Mapping[str, Any] | None) -> ProblemPack:
    if functions := function_folders(root):
        name = functions[0].relative_to(root).as_posix()
        raise PackRefused(
            "function_folder",
            f"{name} is a function problem. Its Python runs in a sandbox when it is packed, never on the site itself:"
            " use “Pack a folder”, or run `podium functions pack FOLDER --out problems.tar.gz` and import that file.",
        )
    try:
        asks = not (root / RELEASE_NAME).exists()
        if asks and head is not None:
            (root / RELEASE_NAME).write_text(yaml.safe_dump(dict(head), allow_unicode=True), encoding="utf-8")
        pack = read_problem_directory(root)
    except PackRefused as refused:
        for one in (refused, *refused.also):
            one.message = one.message.replace(f"{root}/", "").replace(str(root), "the zip")
            one.args = (one.message,)
        raise
    if asks and head is None:
        words = f"The zip has no {RELEASE_NAME}, which says what the release is called."
        raise PackRefused(NO_RELEASE, words)
    return pack

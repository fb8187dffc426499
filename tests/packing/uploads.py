"""Archives of folders as organisers upload them to be packed."""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from typing import Any

from leaderboard.actions.problems import pack_uploads
from leaderboard.models import Packing
from problems.formats.packing_events import PackingKind
from tests.formats.functions.definitions import SOFTMAX
from tests.formats.pmpp.layouts import SCALE

STATEMENT = "---\nslug: row-softmax\ntitle: Row softmax\ndate: 2026-01-01\n---\nCompute it.\n"
FUNCTIONS = {"mine/row-softmax/def.py": SOFTMAX, "mine/row-softmax/problem.md": STATEMENT}
CHECKOUT = {f"pmpp/eval-tasks/ch05-scale/{name}": text for name, text in SCALE.items()}


def zipped(files: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return file.getvalue()


def tarred(files: Mapping[str, str | bytes], mode: Any = "w:gz") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for name, text in files.items():
            content = text.encode() if isinstance(text, str) else text
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def uploaded(user: Any, files: Mapping[str, str], kind: PackingKind = PackingKind.FUNCTIONS) -> Packing:
    return pack_uploads.upload(user, kind, "mine.zip", zipped(files), "spring-1")


def now(packing: Packing) -> Packing:
    return Packing.objects.get(pk=packing.pk)

"""The starter kit: a release's statements, visible files and starter code, and a pack that it accepts.

Everybody who may read the release's statements gets the same bytes. Problems marked `do_not_release` are left out.
"""

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from typing import IO

from django.conf import settings
from django.core.cache import cache

from leaderboard import blobs
from leaderboard.submissions.sample_packs import packed
from problems.models import Problem, Release
from problems.spec.kinds import SITE_KINDS
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution, SourceFile

KIT_VERSION = 1
"""Part of a stored kit's key; a change of what a kit holds raises it."""
MEMORY_BYTES = 8 * 1024 * 1024
"""A larger kit is written to a temporary file."""
KEPT_SECONDS = 30 * 24 * 3600
_EPOCH = (1980, 1, 1, 0, 0, 0)
_COMMENTS = {"py": "#", "sh": "#"}
SAMPLE_PACK = "sample-solutions.tar.gz"


def open_kit(release: Release) -> IO[bytes]:
    """The kit as a file, from the blob store if it was made before. Raises BlobsUnavailable."""
    key = f"starter-kit-{_fingerprint(release)}"
    if not release.is_draft and (known := cache.get(key)):
        try:
            return blobs.store().open(known)
        except blobs.BlobMissing:
            pass
    made = tempfile.SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115 - the answer closes it
    _write(made, release)
    if not release.is_draft:
        cache.set(key, _store(made), KEPT_SECONDS)
    made.seek(0)
    return made


def _store(made: "tempfile.SpooledTemporaryFile[bytes]") -> str:
    made.seek(0)
    sha256 = hashlib.file_digest(made, "sha256").hexdigest()
    made.seek(0)
    blobs.store().put_file(sha256, made)
    return sha256


def _fingerprint(release: Release) -> str:
    """A digest of everything that a kit depends on."""
    facts = [KIT_VERSION, settings.SITE_URL, release.slug, release.title, release.digest, release.max_samples]
    facts += [release.licence, *_tracks(release)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _tracks(release: Release) -> list[str]:
    return list(release.on_tracks.order_by("track__slug").values_list("track__slug", flat=True))


def _write(target: IO[bytes], release: Release) -> None:
    """Equal releases give equal bytes."""
    rows = release.problems.filter(do_not_release=False).select_related("release").order_by("position")
    lines: list[bytes] = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        root, n = f"{release.slug}-starter-kit", 0
        for problem in rows.iterator(chunk_size=100):
            spec, n = problem.spec, n + 1
            for path, content in _files(problem, spec):
                _add(archive, f"{root}/problems/{problem.slug}/{path}", content.encode())
            lines.append(FileSolution(task_id=spec.task_id, files=list(sample_files(spec))).to_line())
        _add(archive, f"{root}/{SAMPLE_PACK}", packed(release, lines))
        _add(archive, f"{root}/README.md", _readme(release, n).encode())


def _add(archive: zipfile.ZipFile, path: str, content: bytes) -> None:
    info = zipfile.ZipInfo(path, _EPOCH)
    info.external_attr = 0o644 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


def _files(problem: Problem, spec: ProblemRecord) -> Iterator[tuple[str, str]]:
    """Path in the problem's folder and content: the statement, visible files, and starter code by language."""
    yield "statement.md", f"# {problem.title}\n\ntask_id: `{problem.task_id}`\n\n{spec.prompt}\n"
    for one in spec.files:
        if not one.is_held_out:
            yield f"files/{one.file.path}", one.file.content
    if problem.kind in SITE_KINDS:
        return
    for language, files in spec.starters.items():
        folder = f"starter/{language}" if len(spec.starters) > 1 else "starter"
        for file in files:
            yield f"{folder}/{file.path}", file.content


def sample_files(spec: ProblemRecord) -> Sequence[SourceFile]:
    """A solution that the site accepts: the starter code, or a comment; to a question the first of its answers."""
    files = spec.starter_files
    if spec.kind in SITE_KINDS:
        letter = spec.lettered_choices[0][0] if spec.lettered_choices else "your answer"
        return [SourceFile(path=files[0].path, content=f"Final: {letter}\n")]
    return [one if one.content.strip() else SourceFile(path=one.path, content=_comment(one.path)) for one in files]


def _comment(path: str) -> str:
    return f"{_COMMENTS.get(path.rpartition('.')[2], '//')} Your solution comes here.\n"


def _readme(release: Release, n: int) -> str:
    tracks = _tracks(release)
    track = tracks[0] if tracks else "TRACK"
    site, slug, limit = settings.SITE_URL, release.slug, release.max_samples
    licence = f"\nLicence of the problems: {release.licence}\n" if release.licence else ""
    return f"""# Starter kit of {release.title}

{n} problems. Each folder in `problems/` has the statement, the files that participants may read, and starter code.
Held-out files and references are not here.
{licence}
`{SAMPLE_PACK}` is a solutions pack with the starter code as solutions. The site accepts it, and most of it fails.
Replace the code and send it:

    podium login {site}
    podium submit {SAMPLE_PACK} --release {slug} --entrant NAME --track {track} --wait
    podium results ID

A folder `<task_id>/<sample>/<files>` in place of a pack works, too. A submission may have at most {limit} samples of
a problem. Tracks: {", ".join(tracks) or "none yet"}.

Release `{slug}`, sha256 of its problems.jsonl: `{release.digest}`
Page: {site}/releases/{slug}/
"""

"""Read what a POST of a submission says: an upload or typed code, checked by the code that web and command line use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from rest_framework import serializers
from rest_framework.request import Request

from leaderboard.api.releases import FileSerializer
from leaderboard.api.site.base import NamedNotFound, found
from leaderboard.api.site.errors import UploadTooLarge
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.intake.licences import BAD_LICENCE, LICENCE, LICENCE_HELP, MAX_LICENCE
from leaderboard.models import Entrant, Track
from leaderboard.rows.submissions import SubmissionMetadata
from leaderboard.visibility import visible_entrants
from problems.formats.coverage import Coverage, settled
from problems.formats.submission import (
    IncomingSubmission,
    UploadLimits,
    read_samples,
    single_solution,
)
from problems.models import Release
from problems.spec.solution import SourceFile

FORM_OVERHEAD_BYTES = 64 * 1024
"""Room for the multipart framing and the other fields beside the file."""
MEBIBYTE = 1024 * 1024
SHOWN_NOTICES = 50
MOST_ENTRANTS_NAMED = 10


class FormBoolean(serializers.BooleanField):
    """Absent means the default; DRF would take a field absent from a form for a box left unticked."""

    default_empty_html = serializers.empty


class _MetadataSerializer(serializers.Serializer[Any]):
    release = serializers.CharField(help_text="A release's slug.")
    entrant = serializers.CharField(help_text="The slug of an entrant that you may submit for.")
    tracks = serializers.ListField(child=serializers.CharField(), help_text="Track slugs; repeat the field.")
    counted = FormBoolean(default=True, help_text="Whether it shall be the counted one (full submissions only).")
    note = serializers.CharField(default="", allow_blank=True, max_length=500)
    licence = serializers.RegexField(
        LICENCE, default="", allow_blank=True, max_length=MAX_LICENCE, error_messages={"invalid": BAD_LICENCE},
        help_text=f"Licence of the code. {LICENCE_HELP}",
    )  # fmt: skip


class UploadSerializer(_MetadataSerializer):
    file = serializers.FileField(help_text="A solutions pack (.tar.gz, .jsonl) or a zip of folders.")
    coverage = serializers.ChoiceField(
        [one.value for one in Coverage], default="", allow_blank=True,
        help_text="full: what is absent counts as failed; partial: not ranked on the board. Required of a zip or .jsonl"
        " that lacks problems; a solutions pack is full unless its `groups` say otherwise.",
    )  # fmt: skip
    strict = FormBoolean(default=False, help_text="Apply ComputeEval's own rules to the whole pack.")


class TypedSerializer(_MetadataSerializer):
    task_id = serializers.CharField()
    files = FileSerializer(many=True, allow_empty=False)


def check_size(request: Request) -> None:
    """Raises TooLarge by the announced length; a body without one is empty to the server."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    bound = settings.UPLOAD_MAX_BYTES if is_upload(request) else settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if not length.isdigit() or int(length) > bound + FORM_OVERHEAD_BYTES:
        words = f"The upload is larger than {bound / MEBIBYTE:.0f} MiB, the most that this site takes."
        raise UploadTooLarge(f"{words} Send fewer samples at a time, or ask the organisers.")


@dataclass(frozen=True)
class PostedSubmission:
    """The contents of a POST. `read` returns the samples, also those of unknown tasks; it raises PackRefused."""

    metadata: SubmissionMetadata
    read: Callable[[], IncomingSubmission]
    coverage: str = ""

    def incoming(self) -> IncomingSubmission:
        """The samples as they would be stored. Raises PackRefused."""
        return settled(self.read(), catalogue_of(self.metadata.release), self.coverage)


def order(request: Request) -> PostedSubmission:
    """The metadata, and how to read the samples. Raises ValidationError or NotFound."""
    upload = is_upload(request)
    form = (UploadSerializer if upload else TypedSerializer)(data=request.data)
    form.is_valid(raise_exception=True)
    said = form.validated_data
    metadata = _metadata(request, said)
    read = partial(_uploaded if upload else _typed, metadata, said)
    return PostedSubmission(metadata, read, said.get("coverage", ""))


def is_upload(request: Request) -> bool:
    return str(request.META.get("CONTENT_TYPE", "")).startswith("multipart/")


def _metadata(request: Request, said: dict[str, Any]) -> SubmissionMetadata:
    through = "cli" if request.headers.get("User-Agent", "").startswith("podium/") else "api"
    return SubmissionMetadata(
        entrant=_entrant_named(request.user, said["entrant"]),
        release=found(Release.objects.open_to(request.user), "release", pointer="/release", slug=said["release"]),
        tracks=tracks_named(said["tracks"]),
        asks_to_count=said["counted"],
        through=through,
        note=said["note"],
        licence=said["licence"],
    )


def _entrant_named(user: Any, slug: str) -> Entrant:
    if row := visible_entrants(user).filter(slug=slug).first():
        return row
    yours = list(Entrant.objects.submittable_by(user).values_list("slug", flat=True)[:MOST_ENTRANTS_NAMED])
    words = f"Yours: {', '.join(yours)}." if yours else "Make one on your account page."
    raise NamedNotFound(f"There is no entrant {slug!r}. {words}", "/entrant")


def tracks_named(slugs: Sequence[str]) -> list[Track]:
    known = {track.slug: track for track in Track.objects.filter(slug__in=slugs)}
    if missing := [slug for slug in slugs if slug not in known]:
        words = f"There is no track {missing[0]!r}. /api/v1/tracks lists them."
        raise NamedNotFound(words, f"/tracks/{slugs.index(missing[0])}")
    return list(known.values())


def _uploaded(metadata: SubmissionMetadata, said: dict[str, Any]) -> IncomingSubmission:
    upload = said["file"]
    limits = UploadLimits(packed_bytes=settings.UPLOAD_MAX_BYTES)
    return read_samples(upload.file, upload.name, catalogue_of(metadata.release), limits, strict=said["strict"])


def _typed(metadata: SubmissionMetadata, said: dict[str, Any]) -> IncomingSubmission:
    files = [SourceFile(path=file["path"], content=file["content"]) for file in said["files"]]
    return single_solution(said["task_id"], files, catalogue_of(metadata.release))


def notices(incoming: IncomingSubmission) -> list[str]:
    """Remarks of the reader: invalid samples with their reasons, and anything left out."""
    invalid = [
        f"{one.task_id} sample {one.index + 1} is invalid: {one.invalid_reason}"
        for one in incoming.samples
        if one.invalid_reason
    ]
    lines = [*(notice.message for notice in incoming.notices), *invalid]
    hidden = len(lines) - SHOWN_NOTICES
    return [*lines[:SHOWN_NOTICES], f"and {hidden} more"] if hidden > 0 else lines

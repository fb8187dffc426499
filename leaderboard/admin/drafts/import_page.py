"""Imports a pack, or a zip of problems' folders: first a report, then the draft."""

from django import forms
from django.core import signing
from django.http import HttpRequest, HttpResponse

from leaderboard import blobs
from leaderboard.actions import curate
from leaderboard.admin.drafts.pages import DraftPages, page
from leaderboard.errors import Refused
from problems.actions.releases import ImportReport, ReleaseRefused
from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE
from problems.formats.errors import PackRefused
from problems.formats.problem_archive import read_problem_archive

_SALT = "podium.import"
KEPT_SECONDS = 24 * 3600


class ImportForm(forms.Form):
    pack = forms.FileField(
        label="File",
        help_text="A problem pack (.tar.gz), or a zip of problems' folders (problem-spec.yaml, context/, solution/,"
        " test/; questions.jsonl; release.yaml).",
    )
    slug = forms.SlugField(required=False, help_text="The release's address; made from its name when left empty.")

    def clean_pack(self) -> bytes:
        upload = self.cleaned_data["pack"]
        if upload.size > DEFAULT_LIMITS.packed_bytes:
            raise forms.ValidationError(f"The file is larger than {DEFAULT_LIMITS.packed_bytes // MEBIBYTE} MiB.")
        content: bytes = upload.read()
        return content


def import_pack(admin: DraftPages, request: HttpRequest) -> HttpResponse:
    """GET asks for the file. POST of a file reports what it would make; POST of `confirm` makes it."""
    if "confirm" in request.POST:
        return _confirmed(admin, request)
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    if form.is_bound and form.is_valid():
        content, slug = form.cleaned_data["pack"], form.cleaned_data["slug"]
        try:
            report = curate.try_import(request.user, read_problem_archive(content), slug or None)
            kept = signing.dumps([blobs.store().put(content), slug], salt=_SALT)
            return _page(admin, request, form, report=report, kept=kept)
        except (Refused, ReleaseRefused, PackRefused) as refused:
            form.add_error(None, str(refused))
    return _page(admin, request, form, 422 if form.errors else 200)


def _confirmed(admin: DraftPages, request: HttpRequest) -> HttpResponse:
    form = ImportForm()
    try:
        sha256, slug = signing.loads(request.POST["confirm"], salt=_SALT, max_age=KEPT_SECONDS)
        report = curate.import_pack(request.user, read_problem_archive(_kept(sha256)), slug or None)
        return _page(admin, request, form, report=report, done=True)
    except (signing.BadSignature, blobs.BlobMissing):
        words = "The file that was reported on is here no more. Choose it again."
    except (Refused, ReleaseRefused, PackRefused) as refused:
        words = str(refused)
    return _page(admin, request, form, 422, fault=words)


def _kept(sha256: str) -> bytes:
    with blobs.store().open(sha256) as file:
        return file.read()


def _page(
    admin: DraftPages, request: HttpRequest, form: ImportForm, status: int = 200,
    report: ImportReport | None = None, kept: str = "", done: bool = False, fault: str = "",
) -> HttpResponse:  # fmt: skip
    return page(
        admin, request, "import", "Import a pack", status,
        form=form, report=report, kept=kept, done=done, fault=fault,
    )  # fmt: skip

"""Imports a pack, or a zip of problems' folders: first a report, then the draft.

A file for a draft that is there goes on to `merge_page`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse

from leaderboard import blobs
from leaderboard.actions.curation import curate
from leaderboard.admin.base import ActingAdmin
from leaderboard.admin.drafts import merge_page
from leaderboard.admin.drafts.fields import ReleaseNameField
from leaderboard.admin.drafts.pages import page
from leaderboard.admin.drafts.sent_file import REFUSALS, SentFile, faults_of
from leaderboard.models import Packing
from problems.actions.releases import ImportReport
from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE
from problems.formats.errors import PackRefused
from problems.formats.problem_archive import NO_RELEASE
from problems.models import Release, ReleaseState
from problems.spec.profile import Profile

PACK_GONE = "The pack that was made here is here no more. Upload the folder again."


class ImportForm(forms.Form):
    """The form for an import: of a file, or of the pack that the site's worker made of an upload (`packed`)."""

    packed = forms.ModelChoiceField(
        Packing.objects.none(), required=False, widget=forms.HiddenInput, error_messages={"invalid_choice": PACK_GONE}
    )
    pack = forms.FileField(
        label="File",
        required=False,
        help_text="A problem pack (.tar.gz), or a zip of problems' folders (problem-spec.yaml, context/, solution/,"
        " test/; common/; questions.jsonl; release.yaml).",
    )
    into = forms.ModelChoiceField(
        Release.objects.filter(state=ReleaseState.DRAFT), required=False, empty_label="A new draft",
        help_text="A draft that is there gets what you choose of the pack, once you have read the report.",
    )  # fmt: skip
    slug = forms.SlugField(required=False, help_text="The address of a new draft; made from its name when left empty.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        packed: Any = self.fields["packed"]
        packed.queryset = Packing.objects.exclude(pack_sha256="")
        given = str(self["packed"].value() or "")
        self.packing = packed.queryset.filter(pk=given).first() if given.isascii() and given.isdigit() else None
        if self.packing is not None:
            del self.fields["pack"]

    def clean_packed(self) -> bytes | None:
        packing = self.cleaned_data["packed"]
        try:
            return blobs.read(packing.pack_sha256, blobs.uploads()) if packing else None
        except blobs.BlobMissing as missing:
            raise forms.ValidationError(PACK_GONE) from missing

    @property
    def content(self) -> bytes:
        """The bytes of the file to import."""
        found: bytes = self.cleaned_data.get("packed") or self.cleaned_data["pack"]
        return found

    def clean_pack(self) -> bytes:
        upload = self.cleaned_data["pack"]
        if upload is None:
            raise forms.ValidationError("Choose a file.", code="required")
        if upload.size > DEFAULT_LIMITS.packed_bytes:
            raise forms.ValidationError(f"The file is larger than {DEFAULT_LIMITS.packed_bytes // MEBIBYTE} MiB.")
        content: bytes = upload.read()
        return content


class HeadForm(forms.Form):
    """Asks for what a missing `release.yaml` would say."""

    name = ReleaseNameField(help_text="The name inside its packs, as spring-2027. It never changes.")
    title = forms.CharField(max_length=200, required=False, help_text="Shown on its pages; the name where it is empty.")

    def head(self) -> dict[str, str]:
        """Its fields, those of the defaults aside."""
        said = self.cleaned_data
        return {"release": said["name"], "title": said["title"] or said["name"], "profile": Profile.PODIUM.value}


def import_pack(admin: ActingAdmin, request: HttpRequest) -> HttpResponse:
    """GET asks for the file. POST of a file reports what it would make; POST of `confirm` makes it.

    A zip without release.yaml is first asked about: POST of `describe` says what it would have said.
    """
    if "confirm" in request.POST or "describe" in request.POST:
        return _of_sent_before(admin, request)
    if request.method != "POST":
        return _page(
            admin, request, ImportForm(initial={name: request.GET.get(name, "") for name in ("into", "packed")})
        )
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(admin, request, form, 422)
    sent, into = SentFile(form.content, form.cleaned_data["slug"]), form.cleaned_data["into"]
    if into is None:
        return _report(admin, request, form, sent)
    try:
        return merge_page.report(admin, request, into, sent)
    except REFUSALS as refused:
        return _page(admin, request, form, 422, faults=faults_of(refused))


def _report(admin: ActingAdmin, request: HttpRequest, form: forms.Form, sent: SentFile) -> HttpResponse:
    """The report of an import: its result, every fault, or the questions about a zip without release.yaml."""
    try:
        report = curate.try_import(request.user, sent.pack(), sent.slug or None)
        return _page(admin, request, form, report=report, kept=sent.kept())
    except REFUSALS as refused:
        if isinstance(refused, PackRefused) and refused.code == NO_RELEASE:
            return _page(admin, request, HeadForm(), asks_about=refused.message, kept=sent.kept())
        return _page(admin, request, form, 422, faults=faults_of(refused))


def _of_sent_before(admin: ActingAdmin, request: HttpRequest) -> HttpResponse:
    signed = request.POST.get("describe") or request.POST.get("confirm", "")
    try:
        sent = SentFile.before(signed)
        if "describe" in request.POST:
            return _described(admin, request, sent)
        report = curate.import_pack(request.user, sent.pack(), sent.slug or None)
        return _page(admin, request, ImportForm(), report=report, done=True)
    except REFUSALS as refused:
        return _page(admin, request, ImportForm(), 422, faults=[str(refused)])


def _described(admin: ActingAdmin, request: HttpRequest, sent: SentFile) -> HttpResponse:
    head = HeadForm(request.POST)
    if not head.is_valid():
        return _page(admin, request, head, 422, asks_about="Say what the release is called.", kept=sent.kept())
    return _report(admin, request, ImportForm(), replace(sent, head=head.head()))


def _page(
    admin: ActingAdmin, request: HttpRequest, form: forms.Form, status: int = 200,
    report: ImportReport | None = None, kept: str = "", done: bool = False, faults: Sequence[str] = (),
    asks_about: str = "",
) -> HttpResponse:  # fmt: skip
    context: dict[str, Any] = {"report": report, "kept": kept, "done": done, "faults": faults}
    return page(admin, request, "import", "Import a pack", status, form=form, asks_about=asks_about, **context)

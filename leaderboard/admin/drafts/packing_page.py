"""Packs uploaded folders on the site: the upload, its progress, and the pack that the import takes."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from leaderboard import blobs
from leaderboard.actions.problems import pack_uploads
from leaderboard.admin.base import ActingAdmin
from leaderboard.admin.drafts.fields import ReleaseNameField
from leaderboard.admin.drafts.pages import page
from leaderboard.admin.drafts.sent_file import REFUSALS, faults_of
from leaderboard.models import Packing
from leaderboard.models.curation.packing import DEVICES, KINDS
from leaderboard.packing import ground
from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE
from problems.formats.packing_events import NO_SANDBOX, PackingKind


class PackingForm(forms.Form):
    archive = forms.FileField(
        label="File", help_text="A zip, tar or tar.gz of one folder, without links. At most"
        f" {DEFAULT_LIMITS.packed_bytes // MEBIBYTE} MiB, {DEFAULT_LIMITS.total_bytes // MEBIBYTE} MiB unpacked.",
    )  # fmt: skip
    kind = forms.ChoiceField(
        label="It holds",
        choices=KINDS,
        help_text="Function problems: a folder with def.py and problem.md for each, those of other kinds among them."
        " A PMPP checkout: a folder with a Makefile for each task, as eval-tasks/ch05-matmul-tiled. A problem set: the"
        " folder as its platform has it.",
    )
    device = forms.ChoiceField(
        label="Tensors are on", choices=DEVICES, initial="gpu", required=False,
        help_text="Of a problem set: CPU makes problems for CPU tracks.",
    )  # fmt: skip  # fmt: skip
    release = ReleaseNameField(
        label="Name of the release",
        help_text="As spring-2027: the name inside the pack, where the folder has no release.yaml.",
    )

    def clean_archive(self) -> Any:
        upload = self.cleaned_data["archive"]
        if upload.size > DEFAULT_LIMITS.packed_bytes:
            raise forms.ValidationError(f"The file is larger than {DEFAULT_LIMITS.packed_bytes // MEBIBYTE} MiB.")
        return upload


def uploads(admin: ActingAdmin, request: HttpRequest) -> HttpResponse:
    """GET lists the uploads. POST of a file queues it; POST of `look` has the worker look for a sandbox again."""
    if "look" in request.POST:
        ground.forget()
        messages.success(request, "The site's worker looks again within seconds. Open this page again then.")
        return redirect("admin:problems_release_packings")
    asked = {"kind": request.GET.get("kind", PackingKind.FUNCTIONS)}
    form = PackingForm(request.POST, request.FILES) if request.method == "POST" else PackingForm(initial=asked)
    faults: Any = ()
    if form.is_bound and form.is_valid():
        said = form.cleaned_data
        upload = said["archive"]
        try:
            made = pack_uploads.upload(
                request.user, PackingKind(said["kind"]), upload.name, upload.read(), said["release"],
                said["device"] or "gpu",
            )  # fmt: skip
            return redirect(f"{made.get_absolute_url()}{_query(request)}")
        except REFUSALS as refused:
            faults = faults_of(refused)
    return page(
        admin, request, "uploads", "Pack a folder", 422 if faults or form.errors else 200,
        form=form, faults=faults, ground=ground.known(),
        rows=Packing.objects.select_related("made_by")[: pack_uploads.MOST_KEPT],
        days=pack_uploads.KEPT_FOR.days,
    )  # fmt: skip


def upload(admin: ActingAdmin, request: HttpRequest, packing: int) -> HttpResponse:
    """The page of an upload: its progress, its faults, or the way to import its pack."""
    return page(admin, request, "upload", f"Pack of {_row(packing).name}", **_context(request, packing))


def state(_admin: ActingAdmin, request: HttpRequest, packing: int) -> HttpResponse:
    """The part of the page that it asks for every two seconds until the packing has ended."""
    return render(request, "admin/drafts/parts/upload_state.html", _context(request, packing))


def _context(request: HttpRequest, packing: int) -> Mapping[str, Any]:
    row = _row(packing)
    return {
        "packing": row, "lacks_sandbox": row.code == NO_SANDBOX, "days": pack_uploads.KEPT_FOR.days,
        "into": _into(request), "into_query": _query(request),
    }  # fmt: skip


def _into(request: HttpRequest) -> str:
    """The draft into which the pack is to be imported, as the address names it; "" for none."""
    given = request.GET.get("into", "")
    return given if given.isascii() and given.isdigit() else ""


def _query(request: HttpRequest) -> str:
    return f"?into={_into(request)}" if _into(request) else ""


def _row(packing: int) -> Packing:
    return get_object_or_404(Packing.objects.select_related("made_by"), pk=packing)


_ACTS: Mapping[str, tuple[Callable[[Any, Packing], None], str]] = {
    "retry": (pack_uploads.retry, "waits to be packed again"),
    "remove": (pack_uploads.remove, "is removed with its files"),
}


def upload_act(_admin: ActingAdmin, request: HttpRequest, packing: int, act: str) -> HttpResponse:
    """A button of an upload."""
    row = _row(packing)
    if request.method != "POST":
        return HttpResponse(status=405, headers={"Allow": "POST"})
    if act not in _ACTS:
        raise Http404(f"There is no act {act!r}.")
    run, words = _ACTS[act]
    try:
        run(request.user, row)
        messages.success(request, f"{row.name} {words}.")
    except REFUSALS as refused:
        messages.error(request, str(refused))
    return redirect("admin:problems_release_packings" if act == "remove" else row.get_absolute_url())


def download(_admin: ActingAdmin, request: HttpRequest, packing: int) -> HttpResponseBase:
    """The pack that was made. It holds held-out tests and references."""
    row = _row(packing)
    if request.method != "GET" or not row.pack_sha256:
        raise Http404("No pack was made of it.")
    try:
        file = blobs.uploads().open(row.pack_sha256)
    except blobs.BlobMissing as missing:
        raise Http404("Its pack is here no more.") from missing
    return FileResponse(file, as_attachment=True, filename=f"{row.release}-problems.tar.gz")

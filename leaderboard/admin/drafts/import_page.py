"""Imports a pack, or a zip of problems' folders: first a report, then the draft."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django import forms
from django.core import signing
from django.http import HttpRequest, HttpResponse

from leaderboard import blobs
from leaderboard.actions import curate
from leaderboard.admin.drafts.pages import DraftPages, page
from leaderboard.errors import Refused
from problems.actions.drafts import RELEASE_NAME
from problems.actions.releases import ImportReport, PackUnfit, ReleaseRefused, read_for_site
from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.errors import PackRefused
from problems.formats.problem_archive import NO_RELEASE, read_problem_archive
from problems.spec.profile import Profile

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


class HeadForm(forms.Form):
    """What `release.yaml` would say, for a zip that brings none."""

    name = forms.CharField(max_length=60, help_text="The name inside its packs, as spring-2027. It never changes.")
    title = forms.CharField(max_length=200, required=False, help_text="Shown on its pages; the name where it is empty.")

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not RELEASE_NAME.fullmatch(name):
            words = "Use letters, digits, dots, hyphens and underscores, beginning with a letter or digit."
            raise forms.ValidationError(words)
        return name

    def head(self) -> dict[str, str]:
        """Its fields, those of the defaults aside."""
        said = self.cleaned_data
        return {"release": said["name"], "title": said["title"] or said["name"], "profile": Profile.PODIUM.value}


@dataclass(frozen=True)
class Sent:
    """A file and what was said of it."""

    content: bytes
    slug: str
    head: dict[str, str] | None = None

    @classmethod
    def before(cls, signed: str) -> "Sent":
        """Raises BadSignature and BlobMissing."""
        sha256, slug, head = signing.loads(signed, salt=_SALT, max_age=KEPT_SECONDS)
        with blobs.store().open(sha256) as file:
            return cls(file.read(), slug, head)

    def kept(self) -> str:
        """Store the file; returns what the browser keeps of it."""
        return signing.dumps([blobs.store().put(self.content), self.slug, self.head], salt=_SALT)

    def pack(self) -> ProblemPack:
        """Raises PackRefused and PackUnfit."""
        with read_for_site():
            return read_problem_archive(self.content, head=self.head)


def import_pack(admin: DraftPages, request: HttpRequest) -> HttpResponse:
    """GET asks for the file. POST of a file reports what it would make; POST of `confirm` makes it.

    A zip without release.yaml is first asked about: POST of `describe` says what it would have said.
    """
    if "confirm" in request.POST or "describe" in request.POST:
        return _of_sent_before(admin, request)
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    if form.is_bound and form.is_valid():
        return _report(admin, request, form, Sent(form.cleaned_data["pack"], form.cleaned_data["slug"]))
    return _page(admin, request, form, 422 if form.errors else 200)


def _report(admin: DraftPages, request: HttpRequest, form: forms.Form, sent: Sent) -> HttpResponse:
    """What an import would make; every fault; or the questions about a zip without release.yaml."""
    try:
        report = curate.try_import(request.user, sent.pack(), sent.slug or None)
        return _page(admin, request, form, report=report, kept=sent.kept())
    except PackUnfit as unfit:
        faults = unfit.faults
    except PackRefused as refused:
        if refused.code == NO_RELEASE:
            return _page(admin, request, HeadForm(), asks_about=refused.message, kept=sent.kept())
        faults = (str(refused),)
    except (Refused, ReleaseRefused) as refused:
        faults = (str(refused),)
    return _page(admin, request, form, 422, faults=faults)


def _of_sent_before(admin: DraftPages, request: HttpRequest) -> HttpResponse:
    signed = request.POST.get("describe") or request.POST.get("confirm", "")
    try:
        sent = Sent.before(signed)
        if "describe" in request.POST:
            return _described(admin, request, sent)
        report = curate.import_pack(request.user, sent.pack(), sent.slug or None)
        return _page(admin, request, ImportForm(), report=report, done=True)
    except (signing.BadSignature, blobs.BlobMissing):
        words = "The file that was reported on is here no more. Choose it again."
    except (Refused, ReleaseRefused, PackRefused) as refused:
        words = str(refused)
    return _page(admin, request, ImportForm(), 422, faults=[words])


def _described(admin: DraftPages, request: HttpRequest, sent: Sent) -> HttpResponse:
    head = HeadForm(request.POST)
    if not head.is_valid():
        return _page(admin, request, head, 422, asks_about="Say what the release is called.", kept=sent.kept())
    return _report(admin, request, ImportForm(), replace(sent, head=head.head()))


def _page(
    admin: DraftPages, request: HttpRequest, form: forms.Form, status: int = 200,
    report: ImportReport | None = None, kept: str = "", done: bool = False, faults: Sequence[str] = (),
    asks_about: str = "",
) -> HttpResponse:  # fmt: skip
    return page(
        admin, request, "import", "Import a pack", status,
        form=form, report=report, kept=kept, done=done, faults=faults, asks_about=asks_about,
    )  # fmt: skip

"""Submit by the web: the same action as API and command line, its words shown beside the form."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from leaderboard.accounts import quotas
from leaderboard.actions.intake.dry_run import DryRun, dry_run
from leaderboard.actions.intake.dry_run_words import already_here, effects, summary
from leaderboard.actions.intake.submit import submit
from leaderboard.errors import Refused
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.intake.licences import SUGGESTED
from leaderboard.intake.submission_rules import check_sample
from leaderboard.intake.submit_rate import check_rate
from leaderboard.rows.store_once import Receipt
from leaderboard.rows.submissions import SubmissionMetadata
from leaderboard.web.intake.submit_forms import (
    AnswerForm,
    MetadataForm,
    TypedForm,
    UploadForm,
    keep_typed,
    refuse,
    typed_form,
)
from leaderboard.web.problems.problem import problem_context
from leaderboard.web.shared.lookups import problem_or_404, tracks_of
from problems.formats.coverage import settled
from problems.formats.submission import (
    IncomingSubmission,
    PackRefused,
    UploadLimits,
    read_samples,
    single_solution,
)
from problems.models import Problem, Release, ReleaseState

SHOWN_ROWS = 200
"""The most faults, and the most invalid samples, that a report lists."""
REMEMBERED = "submit_release"
"""Key of the session: the release that was chosen last, for links that name none."""


def _open_releases(user: Any) -> list[Release]:
    return list(Release.objects.open_to(user).exclude(state=ReleaseState.DRAFT).order_by("-published_at", "-id"))


@dataclass(frozen=True)
class _Choice:
    """The releases, and the one that is chosen. `unknown` is a name that is none of them."""

    releases: list[Release]
    release: Release | None
    unknown: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> "_Choice":
        """The release of the form or the address, else the last chosen one, else the newest that is open."""
        releases = _open_releases(request.user)
        by_slug = {one.slug: one for one in releases}
        asked = request.POST.get("release") or request.GET.get("release") or ""
        if asked in by_slug and request.session.get(REMEMBERED) != asked:
            request.session[REMEMBERED] = asked
        if asked:
            return cls(releases, by_slug.get(asked), "" if asked in by_slug else asked)
        remembered = by_slug.get(request.session.get(REMEMBERED, ""))
        return cls(releases, remembered or next((one for one in releases if not one.why_closed()), None))


@login_required
def new_submission(request: HttpRequest) -> HttpResponse:
    """The form. `check` among what is posted asks for the report alone; so does submit.js once a file is chosen."""
    choice = _Choice.of(request)
    if request.method == "POST" and "choose" in request.POST:
        return redirect(reverse("submit", query=_kept(request)))
    form = _upload_form(request, choice.release) if choice.release else None
    if form is None or choice.release is None or not form.is_bound:
        return _page(request, choice, form, 404 if choice.unknown else 200)
    is_check = "check" in request.POST
    attempt = _check if is_check else _attempt_upload
    outcome = attempt(request, choice.release, form) if form.is_valid() else None
    if isinstance(outcome, Receipt):
        return _sent(request, outcome)
    status = form.refused_status if form.errors else 200
    if _is_fragment(request):
        return render(request, "podium/intake/submit_report.html", _report(request.user, form, outcome), status=status)
    return _page(request, choice, form, status, outcome)


def _kept(request: HttpRequest) -> dict[str, str]:
    """The fields of the form that another choice of release keeps."""
    return {name: value for name in ("release", "entrant", "licence") if (value := request.POST.get(name, ""))}


def _page(
    request: HttpRequest, choice: _Choice, form: UploadForm | None, status: int = 200, run: DryRun | None = None
) -> HttpResponse:
    context = {
        "releases": choice.releases, "release": choice.release, "unknown": choice.unknown, "form": form,
        "licences": SUGGESTED, "today": quotas.of_today(request.user), "max_bytes": settings.UPLOAD_MAX_BYTES,
    }  # fmt: skip
    if form and run:
        context |= _report(request.user, form, run)
    return render(request, "podium/intake/submit.html", context, status=status)


def _report(user: Any, form: UploadForm, run: DryRun | None) -> dict[str, Any]:
    if run is None:
        return {"form": form, "run": None}
    return {
        "form": form, "run": run, "summary": summary(run), "effects": effects(user, run),
        "faults": run.faults[:SHOWN_ROWS], "n_more": len(run.faults) - SHOWN_ROWS,
        "invalid": run.contents.invalid[:SHOWN_ROWS] if run.contents else (),
    }  # fmt: skip


def _upload_form(request: HttpRequest, release: Release) -> UploadForm:
    tracks = tracks_of(release)
    posted = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    asked = {name: request.GET[name] for name in ("entrant", "licence") if name in request.GET}
    named = [track for track in tracks if track.slug in request.GET.getlist("track")]
    return UploadForm(*posted, user=request.user, tracks=tracks, initial={"tracks": named or tracks[:1], **asked})


def _read(upload: Any, release: Release) -> IncomingSubmission:
    """The samples, also those of unknown tasks. Raises PackRefused."""
    return read_samples(
        upload, upload.name, catalogue_of(release), UploadLimits(packed_bytes=settings.UPLOAD_MAX_BYTES)
    )


def _run(request: HttpRequest, release: Release, said: Mapping[str, Any]) -> DryRun:
    metadata = _metadata(release, said, counted=said["counted"])
    return dry_run(request.user, metadata, partial(_read, said["file"], release), said["coverage"])


def _check(request: HttpRequest, release: Release, form: UploadForm) -> DryRun | None:
    """The report, or None with the refusal's words on the form."""
    try:
        check_rate(request)
        return _run(request, release, form.cleaned_data)
    except Refused as refusal:
        refuse(form, None, refusal)
        return None


def _attempt_upload(request: HttpRequest, release: Release, form: UploadForm) -> Receipt | DryRun | None:
    """The receipt; else None with the refusal's words on the form, with the whole report of a file that is refused."""
    said = dict(form.cleaned_data)  # a refusal takes its field out of the form's
    try:
        check_rate(request)
        incoming = settled(_read(said["file"], release), catalogue_of(release), said["coverage"])
        return _submit(request, release, form, incoming, counted=form.cleaned_data["counted"])
    except PackRefused as refusal:
        refuse(form, "coverage" if refusal.code == "incomplete" else "file", refusal)
        return _run(request, release, said)
    except Refused as refusal:
        refuse(form, None, refusal)
        return None


def _metadata(release: Release, said: Mapping[str, Any], *, counted: bool) -> SubmissionMetadata:
    return SubmissionMetadata(
        entrant=said["entrant"], release=release, tracks=list(said["tracks"]), asks_to_count=counted,
        note=said["note"], licence=said["licence"],
    )  # fmt: skip


def _submit(
    request: HttpRequest, release: Release, form: MetadataForm, incoming: IncomingSubmission, *, counted: bool
) -> Receipt:
    receipt = submit(request.user, _metadata(release, form.cleaned_data, counted=counted), incoming)
    for notice in incoming.notices[:20]:
        messages.info(request, notice.message)
    return receipt


def _welcome(request: HttpRequest, receipt: Receipt) -> HttpResponse:
    if receipt.created:
        messages.success(request, "Submitted. Nothing is lost if you leave this page.")
    else:
        messages.info(request, already_here(request.user, receipt.submission))
    return redirect(receipt.submission)


def _sent(request: HttpRequest, receipt: Receipt) -> HttpResponse:
    """Answers submit.js with the address of the submission's page, which it opens itself."""
    page = _welcome(request, receipt)
    return HttpResponse(status=201, headers={"Location": page["Location"]}) if _is_fragment(request) else page


def _is_fragment(request: HttpRequest) -> bool:
    return request.headers.get("X-Requested-With") == "XMLHttpRequest"


@login_required
@require_POST
def typed_submission(request: HttpRequest, slug: str, problem_slug: str) -> HttpResponse:
    """One solution typed into a problem's page."""
    problem = problem_or_404(request, slug, problem_slug)
    form = typed_form(request, problem, request.POST)
    keep_typed(request.user, problem, form)
    if form.is_valid() and (receipt := _attempt_typed(request, problem, form)):
        return _welcome(request, receipt)
    return render(
        request,
        "podium/problems/problem.html",
        problem_context(request, problem) | {"form": form},
        status=form.refused_status,
    )


def _attempt_typed(request: HttpRequest, problem: Problem, form: TypedForm | AnswerForm) -> Receipt | None:
    try:
        incoming = single_solution(problem.task_id, form.typed, catalogue_of(problem.release))
        check_sample(incoming.samples[0])
        return _submit(request, problem.release, form, incoming, counted=False)
    except (PackRefused, Refused) as refusal:
        refuse(form, None, refusal)
        return None

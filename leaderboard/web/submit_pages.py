"""Submit by the web: the same action as API and command line, its words shown beside the form."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from leaderboard.actions.submit import submit
from leaderboard.catalogue import catalogue_of
from leaderboard.errors import Refused
from leaderboard.rows.store_once import Receipt
from leaderboard.rows.submissions import SubmissionMetadata
from leaderboard.submission_rules import check_sample
from leaderboard.web.lookups import problem_or_404, tracks_of
from leaderboard.web.problem_pages import problem_context
from leaderboard.web.submit_forms import (
    AnswerForm,
    MetadataForm,
    TypedForm,
    UploadForm,
    keep_typed,
    refuse,
    typed_form,
)
from problems.formats.submission import PackRefused, SubmissionDraft, UploadLimits, read_submission, single_solution
from problems.models import Problem, Release, ReleaseState


def _open_releases(user: Any) -> list[Release]:
    return list(Release.objects.open_to(user).exclude(state=ReleaseState.DRAFT).order_by("-published_at", "-id"))


def _chosen_release(request: HttpRequest, releases: list[Release]) -> Release | None:
    asked = request.POST.get("release") or request.GET.get("release") or ""
    if not asked:
        return next((one for one in releases if not one.why_closed()), None)
    for release in releases:
        if release.slug == asked:
            return release
    raise Http404(f"There is no release {asked!r} that you may see.")


@login_required
def new_submission(request: HttpRequest) -> HttpResponse:
    releases = _open_releases(request.user)
    release = _chosen_release(request, releases)
    form = _upload_form(request, release) if release else None
    if form and release and request.method == "POST" and form.is_valid():
        receipt = _attempt_upload(request, release, form)
        if receipt:
            return _welcome(request, receipt)
    context = {"releases": releases, "release": release, "form": form}
    status = form.refused_status if form and form.is_bound else 200
    return render(request, "podium/submit.html", context, status=status)


def _upload_form(request: HttpRequest, release: Release) -> UploadForm:
    tracks = tracks_of(release)
    posted = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    return UploadForm(*posted, user=request.user, tracks=tracks, initial={"tracks": tracks[:1]})


def _attempt_upload(request: HttpRequest, release: Release, form: UploadForm) -> Receipt | None:
    """The receipt, or None with the refusal's words on the form."""
    upload = form.cleaned_data["file"]
    try:
        draft = read_submission(
            upload, upload.name, catalogue_of(release), UploadLimits(packed_bytes=settings.UPLOAD_MAX_BYTES)
        )
        return _submit(request, release, form, draft, counted=form.cleaned_data["counted"])
    except (PackRefused, Refused) as refusal:
        refuse(form, "file" if isinstance(refusal, PackRefused) else None, refusal)
        return None


def _submit(
    request: HttpRequest, release: Release, form: MetadataForm, draft: SubmissionDraft, *, counted: bool
) -> Receipt:
    said = form.cleaned_data
    metadata = SubmissionMetadata(
        entrant=said["entrant"], release=release, tracks=list(said["tracks"]), asks_to_count=counted, note=said["note"]
    )
    receipt = submit(request.user, metadata, draft)
    for notice in draft.notices[:20]:
        messages.info(request, notice.message)
    return receipt


def _welcome(request: HttpRequest, receipt: Receipt) -> HttpResponse:
    if receipt.created:
        messages.success(request, "Submitted. You may close this page; nothing is lost.")
    else:
        messages.info(request, "This very submission was here already; nothing was stored again.")
    return redirect(receipt.submission)


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
        request, "podium/problem.html", problem_context(request, problem) | {"form": form}, status=form.refused_status
    )


def _attempt_typed(request: HttpRequest, problem: Problem, form: TypedForm | AnswerForm) -> Receipt | None:
    try:
        draft = single_solution(problem.task_id, form.typed, catalogue_of(problem.release))
        check_sample(draft.samples[0])
        return _submit(request, problem.release, form, draft, counted=False)
    except (PackRefused, Refused) as refusal:
        refuse(form, None, refusal)
        return None

"""The machine code of a CUDA solution: its kernels' registers and spills, SASS and PTX. For its team and organisers."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.models import Evaluation, Trial
from leaderboard.results.listings import build_log, kernels_of, listing_text, parts_of
from leaderboard.visibility import visible_trials
from leaderboard.web.shared.lookups import evaluation_or_404

Steps = Sequence[Mapping[str, Any]]


@require_safe
def evaluation_machine_code(request: HttpRequest, pk: int) -> HttpResponse:
    """The machine code of an evaluation's solution, as its current result has it."""
    found = _evaluation(request, pk)
    result = found.current_result
    assert result
    title = f"{found.problem.title}, sample {found.sample.index + 1}"
    return _page(
        request,
        title,
        found.get_absolute_url(),
        result.steps,
        result.listing,
        "evaluation_listing",
        pk,
        evaluation=found,
    )


@require_safe
def evaluation_listing(request: HttpRequest, pk: int) -> HttpResponse:
    result = _evaluation(request, pk).current_result
    return _download(result.listing if result else None, f"evaluation-{pk}")


@require_safe
def trial_machine_code(request: HttpRequest, pk: int) -> HttpResponse:
    """The machine code of a run before submitting."""
    found = _trial(request, pk)
    outcome = found.outcome or {}
    steps, listing = outcome.get("steps", ()), outcome.get("listing")
    return _page(
        request,
        found.problem.title,
        reverse("trial", args=[pk]),
        steps,
        listing,
        "trial_listing",
        pk,
        problem=found.problem,
    )


@require_safe
def trial_listing(request: HttpRequest, pk: int) -> HttpResponse:
    return _download((_trial(request, pk).outcome or {}).get("listing"), f"trial-{pk}")


def _evaluation(request: HttpRequest, pk: int) -> Evaluation:
    found, view = evaluation_or_404(request, pk)
    if not view.build_log or found.current_result is None:
        raise Http404(f"There is no machine code of evaluation {pk} that you may read.")
    return found


def _trial(request: HttpRequest, pk: int) -> Trial:
    return get_object_or_404(visible_trials(request.user).select_related("problem__release"), pk=pk)


def _page(
    request: HttpRequest,
    title: str,
    back: str,
    steps: Steps,
    listing: Mapping[str, Any] | None,
    download: str,
    pk: int,
    **about: Any,
) -> HttpResponse:
    """`about` are the rows that the page is of."""
    kernels = kernels_of(build_log(steps))
    if not kernels and not listing:
        raise Http404(f"{title} has no machine code: only CUDA solutions that were built on a node have it.")
    context = {
        "title": title, "back": back, "kernels": kernels, "parts": parts_of(listing_text(listing)) if listing else [],
        "download": reverse(download, args=[pk]) if listing else "", **about,
    }  # fmt: skip
    return render(request, "podium/results/machine_code.html", context)


def _download(listing: Mapping[str, Any] | None, name: str) -> HttpResponse:
    if not listing:
        raise Http404("There is no listing: the solution is not in CUDA, or the node has no cuobjdump.")
    answer = HttpResponse(listing_text(listing), content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}-listing.txt"'
    return answer

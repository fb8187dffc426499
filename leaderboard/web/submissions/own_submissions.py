"""A person's own submissions, over all entrants and releases, and all samples of theirs as a download."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet, Sum
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard.models import Counted, Entrant, ProblemScore, Submission, SubmissionState
from leaderboard.submissions.own_samples import sample_lines, samples_of
from leaderboard.visibility import told_scores
from leaderboard.web.shared.paging import other_parameters
from problems.models import Release

PAGE_ROWS = 25
_FILTERS = {"release": "release__slug", "entrant": "entrant__slug", "state": "state"}


@dataclass(frozen=True)
class OwnRow:
    """A submission with its samples counted over all tracks."""

    submission: Submission
    n_samples: int
    n_passed: int
    n_pending: int
    counted_on: Sequence[str]

    @property
    def n_done(self) -> int:
        return self.n_samples - self.n_pending


@login_required
@never_cache
@require_safe
def submissions(request: HttpRequest) -> HttpResponse:
    """Filtered and paged. htmx fetches the table alone, every few seconds while any row of it is in progress."""
    mine = Submission.objects.filter(entrant__in=Entrant.objects.submittable_by(request.user))
    chosen = {name: request.GET.get(name, "") for name in _FILTERS}
    rows = mine.filter(**{_FILTERS[name]: value for name, value in chosen.items() if value})
    page = Paginator(_rendering(rows), PAGE_ROWS).get_page(request.GET.get("page"))
    listed = _rows(request.user, list(page.object_list))
    context: dict[str, Any] = {
        "rows": listed, "page": page, "parameters": other_parameters(request), "asked": chosen,
        "is_filtered": any(chosen.values()), "query": request.GET.urlencode(),
        "is_live": any(one.submission.state == SubmissionState.ACCEPTED for one in listed),
        "download": urlencode({name: chosen[name] for name in ("release", "entrant") if chosen[name]}),
    }  # fmt: skip
    if getattr(request, "htmx", False):
        return render(request, "podium/submissions/own_submission_rows.html", context)
    context |= {
        "current": "own_submissions",
        "entrants": Entrant.objects.submittable_by(request.user),
        "releases": Release.objects.filter(pk__in=mine.order_by().values("release")),
        "states": SubmissionState.choices,
    }
    return render(request, "podium/submissions/own_submissions.html", context)


def _rendering(rows: "QuerySet[Submission]") -> "QuerySet[Submission]":
    return rows.select_related("entrant", "release").prefetch_related("tracks").order_by("-pk")


def _rows(user: Any, found: Sequence[Submission]) -> list[OwnRow]:
    """Two queries for the page's submissions."""
    ids = [one.pk for one in found]
    scores = told_scores(user, ProblemScore.objects.filter(submission__in=ids)).order_by().values("submission_id")
    sums: Mapping[int, Any] = {
        row["submission_id"]: row
        for row in scores.annotate(samples=Sum("n_samples"), passed=Sum("n_passed"), pending=Sum("n_pending"))
    }
    counted: dict[int, list[str]] = {}
    for pk, track in Counted.objects.filter(submission__in=ids).values_list("submission_id", "track__slug"):
        counted.setdefault(pk, []).append(track)
    nothing = {"samples": 0, "passed": 0, "pending": 0}
    return [
        OwnRow(one, row["samples"], row["passed"], row["pending"], sorted(counted.get(one.pk, [])))
        for one in found
        for row in (sums.get(one.pk, nothing),)
    ]


@login_required
@never_cache
@require_safe
def samples(request: HttpRequest) -> StreamingHttpResponse:
    """Every sample of the user's entrants with its verdicts, as JSON lines; of one entrant or release where asked."""
    after = request.GET.get("after", "")
    rows = samples_of(
        request.user, entrant=request.GET.get("entrant", ""), release=request.GET.get("release", ""),
        after=int(after) if after.isdecimal() and len(after) < 19 else 0,
    )  # fmt: skip
    answer = StreamingHttpResponse(sample_lines(request.user, rows), content_type="application/x-ndjson")
    answer["Content-Disposition"] = 'attachment; filename="my-samples.jsonl"'
    return answer

"""A release's flags and its log of decisions, as everybody may read them; and a team's appeal against a ruling."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from leaderboard import visibility
from leaderboard.actions.curation.decide import appeal
from leaderboard.boards.export import safe_text
from leaderboard.errors import Refused, refuse_unknown
from leaderboard.flags.shown import ruled, shown_in_order, undecided
from leaderboard.models import Counted, Decision, Flag
from leaderboard.models.curation.decision import DecisionKind
from leaderboard.visibility import Relation, relation
from leaderboard.web.boards.tabs import release_context
from leaderboard.web.shared.lookups import evaluation_or_404, release_or_404, tracks_of
from leaderboard.web.shared.paging import other_parameters, page_of
from problems.models import Release

RULINGS = {"": "open or upheld", "open": "open", "upheld": "upheld", "dismissed": "dismissed", "all": "all"}
_PLACE = "result__evaluation"
MAX_EXPORTED = 10_000
"""Decisions in a download, the newest."""


@require_safe
def release_flags(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    rows = _chosen(request, release, visibility.visible_flags(request.user, release))
    page = page_of(request, rows.values_list("pk", flat=True))
    context = {
        "page": page, "flags": shown_in_order(list(page.object_list)), "tracks": tracks_of(release),
        "asked": request.GET, "rulings": RULINGS, "parameters": other_parameters(request),
    }  # fmt: skip
    return render(request, "podium/results/flags.html", release_context(request, release, "release_about") | context)


def _chosen(request: HttpRequest, release: Release, rows: QuerySet[Flag]) -> QuerySet[Flag]:
    """The flags that the address asks for. Raises BadQuery.

    Flags of voided problems have no effect and are in the list of all only."""
    rows, ruling = rows.order_by("-id"), request.GET.get("ruling", "")
    refuse_unknown("ruling", ruling, RULINGS)
    filters = {"track": "track__slug", "entrant": "submission__entrant__slug", "problem": "problem__slug"}
    for name, field in filters.items():
        if asked := request.GET.get(name):
            rows = rows.filter(**{f"{_PLACE}__{field}": asked})
    if request.GET.get("counted") == "1":
        counted = Counted.objects.filter(
            submission=OuterRef(f"{_PLACE}__submission"), track=OuterRef(f"{_PLACE}__track")
        )
        rows = rows.filter(Exists(counted))
    if ruling not in ("dismissed", "all"):
        void = Decision.objects.errata().filter(problem__release=release)
        rows = rows.exclude(**{f"{_PLACE}__problem__in": list(void.values_list("problem_id", flat=True))})
    return _ruled(rows, ruling)


def _ruled(rows: QuerySet[Flag], ruling: str) -> QuerySet[Flag]:
    if ruling == "all":
        return rows
    upheld = ruled(DecisionKind.FLAG_UPHELD)
    wanted = {"open": undecided(), "upheld": upheld, "dismissed": ruled(DecisionKind.FLAG_DISMISSED)}
    return rows.filter(wanted.get(ruling, undecided() | upheld))


@dataclass(frozen=True)
class LoggedDecision:
    """One line of the log. `replaced`: a later decision on the same flag, or one that undoes it, holds."""

    at: datetime
    decision: str
    what: str
    entrant: str
    public_reason: str
    url: str
    appealed_at: datetime | None
    replaced: bool
    carried_from: int | None
    """The decision of an earlier revision of which it is the copy."""
    undoes: int | None
    """The erratum that it undoes."""
    id: int


_COLUMNS = (
    "pk", "at", "kind", "public_reason", "flag_id", "flag__code", f"flag__{_PLACE}",
    f"flag__{_PLACE}__problem__task_id",
    f"flag__{_PLACE}__sample__index", f"flag__{_PLACE}__submission__entrant__name", "submission_id",
    "submission__entrant__name", "problem__task_id", "problem__slug", "appeal__at", "earlier_id",
)  # fmt: skip


def _log(request: HttpRequest, slug: str) -> tuple[Release, QuerySet[Decision, dict[str, Any]]]:
    release = release_or_404(request, slug)
    return release, visibility.visible_decisions(request.user, release).order_by("-id").values(*_COLUMNS)


def _logged(release: Release, rows: Sequence[Mapping[str, Any]]) -> list[LoggedDecision]:
    """Two queries."""
    of_flags = Decision.objects.filter(flag__in={row["flag_id"] for row in rows if row["flag_id"]})
    latest = dict(of_flags.order_by("id").values_list("flag_id", "id"))
    errata = [row["pk"] for row in rows if row["kind"] == DecisionKind.PROBLEM_VOIDED]
    undone = Decision.objects.filter(earlier__in=errata, kind=DecisionKind.PROBLEM_RESTORED)
    by = dict(undone.values_list("earlier_id", "id"))
    return [_line(release, row, latest.get(row["flag_id"]) or by.get(row["pk"], row["pk"])) for row in rows]


def _line(release: Release, row: Mapping[str, Any], latest: int) -> LoggedDecision:
    what, entrant, url = _subject(release, row)
    undoes = row["kind"] == DecisionKind.PROBLEM_RESTORED
    return LoggedDecision(
        at=row["at"], decision=DecisionKind(row["kind"]).label, what=what, entrant=entrant,
        public_reason=row["public_reason"], url=url, appealed_at=row["appeal__at"], replaced=latest > row["pk"],
        carried_from=None if undoes else row["earlier_id"], undoes=row["earlier_id"] if undoes else None, id=row["pk"],
    )  # fmt: skip


def _subject(release: Release, row: Mapping[str, Any]) -> tuple[str, str, str]:
    """The decision's subject in words, the entrant's name, and the address of the subject's page."""
    if row["flag_id"]:
        problem, index = row[f"flag__{_PLACE}__problem__task_id"], row[f"flag__{_PLACE}__sample__index"]
        url = reverse("evaluation", args=[row[f"flag__{_PLACE}"]])
        return (
            f"{row['flag__code']}: {problem}, sample {index + 1}",
            row[f"flag__{_PLACE}__submission__entrant__name"],
            url,
        )
    if row["submission_id"]:
        url = reverse("submission", args=[row["submission_id"]])
        return f"Submission #{row['submission_id']}", row["submission__entrant__name"], url
    return row["problem__task_id"], "", reverse("problem", args=[release.slug, row["problem__slug"]])


@require_safe
def decisions(request: HttpRequest, slug: str) -> HttpResponse:
    release, rows = _log(request, slug)
    page = page_of(request, rows)
    context = {
        "page": page, "log": _logged(release, list(page.object_list)), "parameters": other_parameters(request),
    }  # fmt: skip
    return render(
        request, "podium/results/decisions.html", release_context(request, release, "release_about") | context
    )


def _records(request: HttpRequest, slug: str) -> tuple[str, list[dict[str, Any]]]:
    release, rows = _log(request, slug)
    found = []
    for one in _logged(release, list(rows[:MAX_EXPORTED])):
        times = {"at": one.at.isoformat(), "appealed_at": one.appealed_at.isoformat() if one.appealed_at else None}
        found.append(asdict(one) | times | {"url": request.build_absolute_uri(one.url)})
    return release.slug, found


@require_safe
def decisions_json(request: HttpRequest, slug: str) -> JsonResponse:
    name, records = _records(request, slug)
    return JsonResponse({"release": name, "decisions": records})


@require_safe
def decisions_csv(request: HttpRequest, slug: str) -> HttpResponse:
    name, records = _records(request, slug)
    target = io.StringIO()
    writer = csv.DictWriter(target, list(LoggedDecision.__dataclass_fields__), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({key: safe_text(value) for key, value in record.items()} for record in records)
    response = HttpResponse(target.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-decisions.csv"'
    return response


@login_required
@require_POST
def appeal_decision(request: HttpRequest, pk: int) -> HttpResponse:
    """Answers 404 to everybody but the team and organisers."""
    rows = Decision.objects.exclude(flag=None).select_related(f"flag__{_PLACE}__submission__entrant")
    decision = get_object_or_404(rows, pk=pk)
    assert decision.flag is not None, "others are excluded"
    found, _ = evaluation_or_404(request, decision.flag.result.evaluation_id)
    if relation(request.user, found.submission.entrant) is Relation.OTHER:
        raise Http404(f"There is no decision {pk} that you may appeal.")
    try:
        appeal(request.user, decision, request.POST.get("words", ""))
        messages.success(request, "Your appeal is in the organisers' queue. The ruling stands until they rule again.")
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect(f"{found.get_absolute_url()}#flags")

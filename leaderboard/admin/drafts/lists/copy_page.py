"""The problems of another release, of which copies are put into a draft: searched, filtered and chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from leaderboard.actions.problems import drafts
from leaderboard.admin.base import ActingAdmin
from leaderboard.admin.drafts.lists.acts import problems_words
from leaderboard.admin.drafts.lists.choices import OF_RECORDS, Choice, Option, of_columns, where
from leaderboard.admin.drafts.lists.listing import Listing, Ticks, sent_ids, why_stale
from leaderboard.admin.drafts.pages import PER_PAGE, draft_or_404, page
from leaderboard.errors import Refused
from leaderboard.site import stale_forms
from problems.actions.draft_copies import DraftCopies, foreseen_copies
from problems.actions.releases import ReleaseRefused
from problems.models import Problem, Release

SHOWN = 100


@dataclass(frozen=True)
class CopyRow:
    """`here`: where the draft has a problem with this task_id, or ""."""

    problem: Problem
    here: str
    is_ticked: bool


@dataclass(frozen=True)
class Places:
    """The source and the target of copied problems."""

    draft: Release
    source: Release

    def rows(self, ids: Sequence[int]) -> list[Problem]:
        found = list(self.source.problems.filter(pk__in=ids).order_by("position"))
        for one in found:
            one.release = self.source
        return found

    def here(self) -> dict[str, str]:
        """The task_ids of the draft, and where it has them."""
        rows = Problem.with_left_out.filter(release=self.draft).order_by("position")
        words = {False: "in the draft", True: "left out of the draft"}
        return {name: words[left_out] for name, left_out in rows.values_list("task_id", "is_left_out")}


def copy_problems(admin: ActingAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """GET lists the problems of the release named by `from`, and POST another page of them, what is ticked being kept.

    POST with `act` tells what copying the chosen ones would make; with `confirmed` it makes it.
    """
    draft = draft_or_404(pk)
    places = Places(draft, get_object_or_404(Release.objects.exclude(pk=pk), slug=request.GET.get("from", "")))
    if "confirmed" in request.POST:
        return _confirmed(admin, request, places)
    if "act" in request.POST:
        return _asked(admin, request, places)
    return _list(admin, request, places, Ticks.of(request))


def _listing(request: HttpRequest, places: Places) -> Listing:
    rows = places.source.problems.all()
    same = Q(Exists(Problem.with_left_out.filter(release=places.draft, task_id=OuterRef("task_id"))))
    here = Choice(
        "here",
        "In this draft",
        [Option("no", "not here yet", where(~same)), Option("yes", "here already", where(same))],
    )
    return Listing(rows, [here, *of_columns(rows), *OF_RECORDS], request.GET, {"from": places.source.slug})


def _opened(places: Places, listing: Listing) -> dict[str, Any]:
    return {"the problems of the draft": places.here(), "the problems of this list": listing.found}


def _list(admin: ActingAdmin, request: HttpRequest, places: Places, ticks: Ticks, fault: str = "") -> HttpResponse:
    listing, here = _listing(request, places), places.here()
    shown = list(listing.page.object_list)
    found = Problem.objects.defer("record").in_bulk(shown)
    rows = [CopyRow(found[pk], here.get(found[pk].task_id, ""), ticks.is_all or pk in ticks.ids) for pk in shown]
    return page(
        admin, request, "copy", f"Copy problems of {places.source}", 422 if fault else 200,
        release=places.draft, source=places.source, listing=listing, rows=rows, page=listing.page, ticks=ticks,
        kept=ticks.elsewhere(listing), fault=fault, list_url=request.path,
        opened=stale_forms.hidden_input(stale_forms.token_of(places.draft, _opened(places, listing))),
    )  # fmt: skip


def _asked(admin: ActingAdmin, request: HttpRequest, places: Places) -> HttpResponse:
    listing, ticks = _listing(request, places), Ticks.of(request)
    ids = ticks.among(listing.ids)
    fault = why_stale(request.POST.get(stale_forms.OPENED, ""), places.draft, _opened(places, listing))
    if not fault and not ids:
        fault = "No problem is chosen. Tick problems, or all that fit, and press the button again."
    return _list(admin, request, places, ticks, fault) if fault else _effect(admin, request, places, places.rows(ids))


def _state(places: Places, rows: Sequence[Problem]) -> dict[str, Any]:
    return {
        "the problems of the draft": places.here(),
        "the chosen problems": [(one.pk, one.record_md5) for one in rows],
    }


def _effect(
    admin: ActingAdmin, request: HttpRequest, places: Places, rows: Sequence[Problem], fault: str = ""
) -> HttpResponse:
    copies = foreseen_copies(places.draft, rows)
    return page(
        admin, request, "chosen_copies", f"Copy {problems_words(len(rows))} of {places.source}", 422 if fault else 200,
        release=places.draft, source=places.source, effect=_lines(places, copies), fault=fault, chosen=rows,
        copies=copies, made=copies.records[:SHOWN], refused=copies.refused[:SHOWN],
        n_more_made=len(copies.records[SHOWN:]), n_more_refused=len(copies.refused[SHOWN:]),
        query=request.GET.urlencode(), back_url=request.path,
        opened=stale_forms.hidden_input(stale_forms.token_of(places.draft, _state(places, rows))),
    )  # fmt: skip


def _lines(places: Places, copies: DraftCopies) -> list[str]:
    n_before, n = places.draft.problems.count(), len(copies.records)
    lines = [
        f"{problems_words(n)} of {places.source} {'is' if n == 1 else 'are'} copied. The draft has"
        f" {problems_words(n_before + n)} then; the copies come last, from place {n_before + 1} on."
        if n
        else "Nothing is copied."
    ]
    if copies.refused:
        lines.append(f"{problems_words(len(copies.refused))} cannot be copied, for the reasons below.")
    return [*lines, "A copy is a problem of its own: it is edited and verified apart from the one that it was made of."]


def _confirmed(admin: ActingAdmin, request: HttpRequest, places: Places) -> HttpResponse:
    """Done if both releases are as the page told it; else the page as it is now."""
    with transaction.atomic():
        stale_forms.lock(places.draft)
        rows = places.rows(sent_ids(request))
        fault = why_stale(request.POST.get(stale_forms.OPENED, ""), places.draft, _state(places, rows))
        made = [] if fault else _copied(request, places, rows)
    if fault and rows:
        return _effect(admin, request, places, rows, fault)
    if not made:
        return _list(admin, request, places, Ticks.of(request), fault or "Nothing was copied.")
    last = (places.draft.problems.count() - 1) // PER_PAGE + 1
    return redirect(reverse("admin:problems_release_draft", args=[places.draft.pk], query={"page": last}))


def _copied(request: HttpRequest, places: Places, rows: Sequence[Problem]) -> list[Problem]:
    try:
        made = drafts.copy_problems(request.user, places.draft, rows)
    except (Refused, ReleaseRefused) as refused:
        messages.error(request, str(refused))
        return []
    if made:
        words = f"{problems_words(len(made))} copied of {places.source}. They come last."
        messages.success(request, words)
    return made

"""The problems of a draft in their order: searched, filtered, chosen, moved, left out and brought back."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from leaderboard.admin.base import ActingAdmin
from leaderboard.admin.drafts.lists.acts import ACTS, ChosenProblems, ListAct
from leaderboard.admin.drafts.lists.choices import OF_RECORDS, of_columns, of_last_revision
from leaderboard.admin.drafts.lists.listing import Listing, Ticks, sent_ids, why_stale
from leaderboard.admin.drafts.lists.verified import States, VerifiedState, of_verification
from leaderboard.admin.drafts.pages import PER_PAGE, draft_or_404, page
from leaderboard.errors import Refused
from leaderboard.site import stale_forms
from problems.actions.draft_places import order_of
from problems.actions.releases import ReleaseRefused
from problems.models import Problem, Release

LEFT_OUT = {"part": "left-out"}
SHOWN_STEPS = 100
MAX_PLACE_DIGITS = 6


@dataclass(frozen=True)
class DraftRow:
    """`place` counts from 1, None of a problem that is left out; `state` says how far it is verified."""

    problem: Problem
    place: int | None
    state: VerifiedState | None
    is_ticked: bool


@dataclass(frozen=True)
class SentChoice:
    """A form's choice, and the reason of its refusal, "" if it was not refused; `is_place_wrong`: the typed place is
    at fault."""

    ticks: Ticks
    place: str
    fault: str
    is_place_wrong: bool = False


def problems(admin: ActingAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """The list. POST shows another page of it and keeps what is ticked."""
    release = draft_or_404(pk)
    sent = SentChoice(Ticks.of(request), request.POST.get("place", ""), "")
    return _list(admin, request, DraftList.of(request, release), sent)


def chosen(admin: ActingAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """POST of the list tells what an act would change for the chosen problems; POST of `confirmed` does it."""
    release = draft_or_404(pk)
    if request.method != "POST":
        return HttpResponse(status=405, headers={"Allow": "POST"})
    name, _, only = request.POST.get("act", "").partition(":")
    if name not in ACTS or ACTS[name].of_left_out != _is_left_out(request):
        raise Http404(f"There is no act {name!r}.")
    if "confirmed" in request.POST:
        return _confirmed(admin, request, release, ACTS[name])
    return _asked(admin, request, release, ACTS[name], only)


def _is_left_out(request: HttpRequest) -> bool:
    return request.GET.get("part") == LEFT_OUT["part"]


@dataclass(frozen=True)
class DraftList:
    """A draft's list as the address asks for it."""

    release: Release
    listing: Listing
    states: States

    @classmethod
    def of(cls, request: HttpRequest, release: Release) -> "DraftList":
        is_left_out, states = _is_left_out(request), States(release)
        rows = Problem.with_left_out.filter(release=release, is_left_out=is_left_out)
        choices = [*of_columns(rows), *OF_RECORDS, *of_last_revision(release)]
        if not is_left_out:
            choices.insert(0, of_verification(states))
        return cls(release, Listing(rows, choices, request.GET, LEFT_OUT if is_left_out else {}), states)

    @cached_property
    def order(self) -> list[int]:
        return order_of(self.release)

    @property
    def opened_on(self) -> dict[str, Any]:
        """The values that the form was opened on, by the words that name them."""
        return {"the order of the problems": self.order, "the problems of this list": self.listing.found}

    def rows(self, ticks: Ticks) -> list[DraftRow]:
        shown = list(self.listing.page.object_list)
        found = Problem.with_left_out.defer("record").in_bulk(shown)
        states, places = self.states.of(shown), {pk: place for place, pk in enumerate(self.order, 1)}
        return [DraftRow(found[pk], places.get(pk), states.get(pk), ticks.is_all or pk in ticks.ids) for pk in shown]


def _list(admin: ActingAdmin, request: HttpRequest, drafted: DraftList, sent: SentChoice) -> HttpResponse:
    release, listing = drafted.release, drafted.listing
    return page(
        admin, request, "draft", f"Problems of {release}", 422 if sent.fault else 200,
        release=release, listing=listing, rows=drafted.rows(sent.ticks), page=listing.page,
        is_left_out=_is_left_out(request), n_in=len(drafted.order), ticks=sent.ticks, sent=sent,
        n_left_out=Problem.with_left_out.filter(release=release, is_left_out=True).count(),
        kept=sent.ticks.elsewhere(listing), list_url=reverse("admin:problems_release_draft", args=[release.pk]),
        opened=stale_forms.hidden_input(stale_forms.token_of(release, drafted.opened_on)),
    )  # fmt: skip


def _asked(admin: ActingAdmin, request: HttpRequest, release: Release, act: ListAct, only: str) -> HttpResponse:
    """The page that tells the effect; or the list again, with what was chosen and what is wrong."""
    drafted, ticks, place = DraftList.of(request, release), Ticks.of(request), request.POST.get("place", "").strip()
    ids = drafted.listing.ids
    ids = [pk for pk in ids if str(pk) == only] if only else ticks.among(ids)
    fault = why_stale(request.POST.get(stale_forms.OPENED, ""), release, drafted.opened_on)
    if not fault and not ids:
        fault = "No problem is chosen. Tick problems, or all that fit, and press the button again."
    wrong = _why_no_place(place, len(drafted.order)) if act.takes_place and not fault else ""
    if fault or wrong:
        return _list(admin, request, drafted, SentChoice(ticks, place, fault or wrong, bool(wrong)))
    return _effect(admin, request, act, _chosen(release, ids, act, place))


def _why_no_place(text: str, n_places: int) -> str:
    is_number = text.isascii() and text.isdecimal() and len(text) <= MAX_PLACE_DIGITS
    if is_number and 1 <= int(text) <= n_places:
        return ""
    what = f"{text[:20]} is no place of this draft." if text else "The place is missing."
    return f"{what} Type a number from 1 to {n_places}."


def _chosen(release: Release, ids: Sequence[int], act: ListAct, place: str) -> ChosenProblems:
    rows = Problem.with_left_out.filter(release=release, pk__in=ids, is_left_out=act.of_left_out)
    found = list(rows.defer("record").order_by("position"))
    for one in found:
        one.release = release
    return ChosenProblems(release, found, int(place) if act.takes_place else None)


def _state(chosen: ChosenProblems) -> dict[str, Any]:
    """The state on which the page of an effect was opened."""
    found = [(one.pk, one.record_md5) for one in chosen.problems]
    return {"the order of the problems": order_of(chosen.release), "the chosen problems": found}


def _effect(
    admin: ActingAdmin, request: HttpRequest, act: ListAct, chosen: ChosenProblems, fault: str = ""
) -> HttpResponse:
    release, steps = chosen.release, act.steps(chosen)
    name = next(name for name, one in ACTS.items() if one is act)
    return page(
        admin, request, "chosen", f"{act.label} {chosen.words} of {release}", 422 if fault else 200,
        release=release, act=act, name=name, chosen=chosen, effect=act.effect(chosen), fault=fault,
        steps=steps[:SHOWN_STEPS], n_more=len(steps[SHOWN_STEPS:]), query=request.GET.urlencode(),
        opened=stale_forms.hidden_input(stale_forms.token_of(release, _state(chosen))),
        back_url=reverse("admin:problems_release_draft", args=[release.pk]),
    )  # fmt: skip


def _confirmed(admin: ActingAdmin, request: HttpRequest, release: Release, act: ListAct) -> HttpResponse:
    """Done if the draft is as the page told it; else the page as it is now."""
    place = request.POST.get("place", "")
    if act.takes_place and (wrong := _why_no_place(place, release.problems.count())):
        return _list(admin, request, DraftList.of(request, release), SentChoice(Ticks.of(request), place, wrong, True))
    with transaction.atomic():
        stale_forms.lock(release)
        chosen = _chosen(release, sent_ids(request), act, place)
        fault = why_stale(request.POST.get(stale_forms.OPENED, ""), release, _state(chosen)) or _run(
            request, act, chosen
        )
    if not fault:
        return redirect(_after(request, release, act, chosen))
    if chosen.problems:
        return _effect(admin, request, act, chosen, fault)
    return _list(admin, request, DraftList.of(request, release), SentChoice(Ticks(), place, fault))


def _run(request: HttpRequest, act: ListAct, chosen: ChosenProblems) -> str:
    """Does the act and returns the reason why it was refused; "" if it was done."""
    try:
        messages.success(request, act.run(request.user, chosen))
    except (Refused, ReleaseRefused) as refused:
        return str(refused)
    return ""


def _after(request: HttpRequest, release: Release, act: ListAct, chosen: ChosenProblems) -> str:
    """The list as it was filtered; after a move without filters, the page where the problems are now."""
    given = request.GET.copy()
    if act.takes_place and not any(given.get(name) for name in given if name != "page"):
        place = order_of(release).index(chosen.ids[0])
        given["page"] = str(place // PER_PAGE + 1)
    query = f"?{given.urlencode()}" if given else ""
    anchor = f"#problem-{chosen.ids[0]}" if act.takes_place else ""
    return f"{reverse('admin:problems_release_draft', args=[release.pk])}{query}{anchor}"

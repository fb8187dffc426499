"""The queue of flags: chosen by filters, decided several at a time, each with its evidence on a page of its own."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from leaderboard import visibility
from leaderboard.actions.curation.decide import Ruled, decide_flags
from leaderboard.actions.curation.effects import on_standings
from leaderboard.admin.base import OwnPageAdmin
from leaderboard.errors import Refused
from leaderboard.flags import queue as flag_queue
from leaderboard.flags.rules import FLAG_RULES
from leaderboard.flags.shown import shown, shown_in_order, with_effects
from leaderboard.models import Evaluation, Flag, ReleaseTrack, Track
from problems.models import Release
from runners.wire.protocol import FlagScope

PAGE_ROWS = 100
FILTERS = ("state", "release", "track", "problem", "entrant", "code", "scope")
QUEUE = "admin:leaderboard_flag_changelist"
_FORESEEN = "Foreseen."
_TOLD = 10
"""Flags that were decided meanwhile and are named one by one."""


@admin.register(Flag)
class FlagAdmin(OwnPageAdmin):
    def get_urls(self) -> list[URLPattern]:
        own = path("decide/", self.admin_site.admin_view(self._decide), name="leaderboard_flag_decide")
        return [own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:  # noqa: ARG002
        return self._queue(request)

    def _queue(
        self, request: HttpRequest, said: Mapping[str, Any] | None = None, foreseen: Sequence[str] = ()
    ) -> TemplateResponse:
        """`said`: the form as it was sent, which was refused, or whose effect `foreseen` tells."""
        self.check_view(request)
        rows = flag_queue.queue(request.GET).values_list("pk", flat=True)
        page = Paginator(rows, PAGE_ROWS).get_page(request.GET.get("page"))
        asked = _asked(request)
        context = {
            **self.admin_site.each_context(request), "opts": self.opts, "title": "Flags", "page": page,
            "flags": shown_in_order(list(page.object_list)), "asked": asked, "states": flag_queue.STATES,
            "releases": Release.objects.order_by("-pk").values_list("slug", "title")[:PAGE_ROWS],
            "tracks": Track.objects.order_by("slug").values_list("slug", flat=True)[:PAGE_ROWS],
            "codes": sorted({*FLAG_RULES, *filter(None, [asked.get("code", "")])}), "scopes": list(FlagScope),
            "filters": urlencode(asked), "may_act": self.may_act(request), "said": said or {}, "foreseen": foreseen,
            "ticked": request.POST.getlist("flag") if said else [],
        }  # fmt: skip
        status = 422 if said and not foreseen else 200
        return TemplateResponse(request, "admin/podium/curation/flags.html", context, status=status)

    def page_of(
        self, request: HttpRequest, object_id: str, said: Mapping[str, Any] | None = None, foreseen: Sequence[str] = ()
    ) -> TemplateResponse:
        self.check_view(request)
        rows = with_effects(Flag.objects.all())
        flag = rows.filter(pk=int(object_id)).first() if object_id.isdecimal() and len(object_id) < 19 else None
        if flag is None:
            raise Http404(f"There is no flag {object_id}.")
        found, asked = flag.result.evaluation, _asked(request)
        view = visibility.view_of(request.user, found.submission)
        around = flag_queue.queue(asked)
        context = {
            **self.admin_site.each_context(request), "opts": self.opts, "one": shown(flag), "flag": flag,
            "title": f"Flag {flag.code} of {found.submission.entrant}", "found": found, "result": flag.result,
            "evidence": flag_queue.evidence_on(flag, view), "filters": urlencode(asked), "said": said or {},
            "before": around.filter(pk__lt=flag.pk).values_list("pk", flat=True).last(),
            "after": around.filter(pk__gt=flag.pk).values_list("pk", flat=True).first(),
            "may_act": self.may_act(request), "foreseen": foreseen,
        }  # fmt: skip
        return TemplateResponse(
            request, "admin/podium/curation/flag.html", context, status=422 if said and not foreseen else 200
        )

    def _decide(self, request: HttpRequest) -> HttpResponse:
        """One ruling for the chosen flags; back to the queue, or on to the flag after the one that was read."""
        if request.method != "POST" or not self.may_act(request):
            raise PermissionDenied
        read = request.POST.get("read", "")
        try:
            if "foresee" in request.POST:
                return self._again(request, read, _foreseen(request))
            ruled = _rule(request)
        except Refused as refused:
            messages.error(request, refused.message)
            return self._again(request, read)
        _tell(request, ruled)
        asked = _asked(request)
        after = flag_queue.queue(asked).filter(pk__gt=int(read)).values_list("pk", flat=True).first() if read else None
        target = reverse("admin:leaderboard_flag_change", args=[after]) if after else reverse(QUEUE)
        return HttpResponseRedirect(f"{target}?{urlencode(asked)}")

    def _again(self, request: HttpRequest, read: str, foreseen: Sequence[str] = ()) -> TemplateResponse:
        """The page that the form came from, as it was filled in."""
        said = request.POST
        return self.page_of(request, read, said, foreseen) if read else self._queue(request, said, foreseen)


def _asked(request: HttpRequest) -> dict[str, str]:
    return {name: value for name in FILTERS if (value := request.GET.get(name, ""))}


def _rule(request: HttpRequest, reason: str = "") -> Ruled:
    ruling = request.POST.get("ruling")
    if ruling not in ("uphold", "dismiss"):
        raise Refused("ruling_needed", "Say whether you uphold or dismiss.")
    seen = dict(map(_seen, request.POST.getlist("flag")))
    return decide_flags(
        request.user,
        seen,
        upheld=ruling == "uphold",
        public_reason=reason or request.POST.get("reason", "").replace("\0", ""),
    )


def _foreseen(request: HttpRequest) -> list[str]:
    """The change of the boards by the ruling that the form asks for."""
    ids = [pk for pk, _ in map(_seen, request.POST.getlist("flag"))]
    if request.POST.get("ruling") not in ("uphold", "dismiss") or not ids:
        raise Refused("ruling_needed", "Choose flags, and say whether you uphold or dismiss them.")
    return on_standings(lambda: _rule(request, _FORESEEN), _places_of(ids))


def _places_of(flag_ids: Sequence[int]) -> list[ReleaseTrack]:
    flagged = Evaluation.objects.filter(results__flags__in=flag_ids)
    places = set(flagged.values_list("submission__release", "track"))
    rows = ReleaseTrack.objects.filter(release__in={one for one, _ in places}).select_related("release", "track")
    return [one for one in rows.order_by("release__slug", "track__slug") if (one.release_id, one.track_id) in places]


def _seen(value: str) -> tuple[int, int]:
    """`<flag>:<its latest decision that the page showed, or 0>`."""
    flag, _, decision = value.partition(":")
    if not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in (flag, decision)):
        raise Refused("no_such_flag", "The form is damaged. Reload the queue.")
    return int(flag), int(decision)


def _tell(request: HttpRequest, ruled: Ruled) -> None:
    n = len(ruled.decisions)
    if n:
        kind = ruled.decisions[0].get_kind_display()
        messages.success(request, f"{kind}: {ruled.decisions[0].public_reason}" if n == 1 else f"{kind}: {n} flags.")
    for flag in ruled.overtaken[:_TOLD]:
        latest = flag.decisions.select_related("decided_by").first()
        by = f" by {latest.decided_by.get_username()}" if latest else ""
        messages.warning(
            request, f"{flag} of {flag.result.evaluation} was decided meanwhile{by}: {latest}. It stays so."
        )
    if len(ruled.overtaken) > _TOLD:
        messages.warning(request, f"{len(ruled.overtaken) - _TOLD} more were decided meanwhile and stay so.")

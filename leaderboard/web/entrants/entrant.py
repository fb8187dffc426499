"""An entrant's page: fact sheet, results in every release, strengths by group, history, generation, submissions."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.actions.entrants.entrant_requests import may_ask
from leaderboard.entrants.declared import facts_of
from leaderboard.models.entrants.ownership import RequestKind
from leaderboard.web.boards.snippets import badges_of, is_public
from leaderboard.web.entrants import entrant_charts
from leaderboard.web.shared.lookups import entrant_or_404

RECENT_SUBMISSIONS = 30


@require_safe
def entrant(request: HttpRequest, slug: str) -> HttpResponse:
    found = entrant_or_404(request, slug)
    standings = entrant_charts.standings_of(request.user, found)
    submissions = (
        visibility.visible_submissions(request.user)
        .filter(entrant=found)
        .select_related("release", "entrant")
        .prefetch_related("tracks", "counted_on")[:RECENT_SUBMISSIONS]
    )
    counted = {row.submission_id: row for row in standings}
    declared = [(row, facts) for row in counted.values() if (facts := facts_of(row.submission))]
    context = {
        "badges": badges_of(found, [row for row in standings if is_public(row.release)]),
        "entrant": found, "standings": standings, "submissions": submissions, "declared": declared,
        "other_standings": standings[entrant_charts.GROUP_BOARDS :],
        **entrant_charts.figures(request.user, found, standings),
        "is_owner": found.has_manager(request.user),
        "is_claimable": may_ask(request.user, RequestKind.CLAIM, found),
    }  # fmt: skip
    return render(request, "podium/entrants/entrant.html", context)

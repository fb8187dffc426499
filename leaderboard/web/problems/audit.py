"""The audit of a release: which answers that do no work each problem's check rejected."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.curation.audits import AuditFigures, audits_of
from leaderboard.web.boards.tabs import release_context
from leaderboard.web.shared.lookups import release_or_404


@require_safe
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    """Counts and kinds for everybody; organisers also read which part of the reference a survivor lacks."""
    release = release_or_404(request, slug)
    rows = audits_of(release)
    n_built, n_killed = sum(one.n_built for one in rows), sum(one.n_killed for one in rows)
    context = {
        "rows": rows, "n_built": n_built, "n_killed": n_killed,
        "rate": n_killed / n_built if n_built else None,
        "n_audited": _count(rows), "n_problems": len({one.problem.pk for one in rows}),
        "names_parts": visibility.may_see_reference(request.user),
    }  # fmt: skip
    return render(request, "podium/problems/audit.html", release_context(request, release, "problems") | context)


def _count(rows: Sequence[AuditFigures]) -> int:
    """The problems of which a mutant ran."""
    return len({one.problem.pk for one in rows if one.n_built})

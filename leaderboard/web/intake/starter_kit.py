"""The starter kit of a release as a download."""

from django.http import FileResponse, Http404, HttpRequest
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.intake.starter_kit import open_kit
from leaderboard.web.shared.lookups import release_or_404


@require_safe
def starter_kit(request: HttpRequest, slug: str) -> FileResponse:
    """The starter kit, for users who may read the release's statements."""
    release = release_or_404(request, slug)
    if not visibility.may_see_statements(request.user, release):
        raise Http404(f"The problems of {slug} are not yours to read.")
    name = f"{release.slug}-starter-kit.zip"
    return FileResponse(open_kit(release), as_attachment=True, filename=name, content_type="application/zip")

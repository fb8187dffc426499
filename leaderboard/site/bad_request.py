"""The answer to a request that Django refuses to read, in words: most often a form with too much typed text."""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render


def words_for(error: Exception | None) -> tuple[int, str, str]:
    """Status, code and words of a refusal."""
    if isinstance(error, RequestDataTooBig):
        bound = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 1024 / 1024:g} MiB"
        return 413, "too_large", f"The typed text is larger than {bound}. Upload large texts as files."
    if isinstance(error, TooManyFieldsSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        return 413, "too_large", f"The form has more than {most:,} fields. Send it in several parts."
    if isinstance(error, TooManyFilesSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        return (
            413,
            "too_large",
            f"The form has more than {most:,} files. Send them in an archive, or in several parts.",
        )
    return 400, "bad_request", "The request cannot be read."


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's `handler400`."""
    status, code, words = words_for(exception)
    if request.path.startswith("/api/"):
        return JsonResponse({"code": code, "message": words}, status=status)
    if status == 400:  # the host's name may be what is wrong, and a page's links would need it
        return HttpResponse(f"{words}\n", status=status, content_type="text/plain; charset=utf-8")
    return render(request, "413.html", {"message": words}, status=status)

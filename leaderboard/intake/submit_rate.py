"""The bound on sending and checking submissions, the same for pages and API: PODIUM_SUBMIT_RATE."""

from typing import Any

from django.http import HttpRequest
from rest_framework.throttling import ScopedRateThrottle

from leaderboard.errors import TooMuch


class _Submitting:
    """The part of a view that the throttle reads."""

    throttle_scope = "submit"


def check_rate(request: HttpRequest) -> None:
    """Count the request of a page. Raises TooMuch over the rate of the account."""
    throttle: Any = ScopedRateThrottle()
    if not throttle.allow_request(request, _Submitting):
        raise TooMuch("throttled", f"Too many uploads and checks. Try again in {throttle.wait() or 60:.0f} s.")

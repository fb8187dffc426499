"""What can go wrong on a node that is not the contestant's doing."""

from runners.protocol import WireError


class Cancelled(Exception):
    """The site no longer wants the work, or the node is stopping."""


class UnusableProblem(Exception):
    """A problem's own files cannot be laid out; its author must mend the pack."""


class ProfilerUnavailable(Exception):
    """The profiler that was asked for is not on this machine; the message says what to do."""


class SiteUnavailable(Exception):
    """The site does not answer, or answers that it cannot now."""


class SiteRefused(Exception):
    """The site has understood and says no."""

    def __init__(self, status: int, error: WireError) -> None:
        super().__init__(f"{error.message} ({status} {error.code})")
        self.status = status
        self.error = error


class MissingSetting(Exception):
    """A variable that a node needs is not set; the message names it and says where its value comes from."""

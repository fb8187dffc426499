"""Errors of a node that are not the contestant's fault."""

from runners.wire.protocol import WireError


class Cancelled(Exception):
    """The site has cancelled the work, or the node is stopping."""


class UnusableProblem(Exception):
    """A problem's own files cannot be used. Its author must fix the pack."""


class ProfilerUnavailable(Exception):
    """This machine lacks the requested profiler. The message says what to do."""


class SiteUnavailable(Exception):
    """The site does not answer, or answers that it is unavailable."""


class SiteRefused(Exception):
    """The site has refused a request. Repeating it does not help."""

    def __init__(self, status: int, error: WireError) -> None:
        super().__init__(f"{error.message} ({status} {error.code})")
        self.status = status
        self.error = error


class MissingSetting(Exception):
    """A variable that a node needs is not set or is invalid. The message names it and the source of its value."""


class SandboxUnavailable(Exception):
    """This machine cannot run the sandbox. The message says why and how to fix it."""


class SandboxFault(Exception):
    """The sandbox itself failed: a platform error, never the contestant's fault."""


class DiskFull(SandboxFault):
    """This machine's disk is too full for a command, or was so while it failed."""

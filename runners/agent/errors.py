"""What can go wrong on a node that is not the contestant's doing."""


class Cancelled(Exception):
    """The site no longer wants the work, or the node is stopping."""


class UnusableProblem(Exception):
    """A problem's own files cannot be laid out; its author must mend the pack."""


class ProfilerUnavailable(Exception):
    """The profiler that was asked for is not on this machine; the message says what to do."""


class MissingSetting(Exception):
    """A variable that a node needs is not set; the message names it and says where its value comes from."""

"""Why the measure cannot be taken, in one sentence."""


class Refused(Exception):
    """Bad input, or a machine that lacks something: nothing was measured."""


class PartFailed(Exception):
    """A part began and did not come to its end, or came too late to begin."""

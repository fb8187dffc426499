"""Errors of generation: the user's to mend, or an endpoint's."""


class CannotGenerate(Exception):
    """The run cannot start or go on; the text says why and what to do."""


class AskFailed(Exception):
    """One request had no reply. It may be asked again in a later run."""


class RequestRefused(AskFailed):
    """The endpoint refuses this very request; the same one would be refused again.

    `is_of_prompt`: by its words the prompt is the cause, so that other prompts may do.
    """

    def __init__(self, words: str, *, is_of_prompt: bool = False) -> None:
        super().__init__(words)
        self.is_of_prompt = is_of_prompt


class TrialFailed(Exception):
    """This machine could not try a solution, which is not the solution's fault."""


class MayRetry(AskFailed):
    """The same request may succeed after a wait. `wait_seconds` is what the endpoint asked for, or None."""

    def __init__(self, words: str, wait_seconds: float | None = None) -> None:
        super().__init__(words)
        self.wait_seconds = wait_seconds

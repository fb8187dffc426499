"""Full or partial: whether a submission answers the whole release, so that its absent samples count as failed."""

from dataclasses import replace
from enum import StrEnum

from problems.formats.catalogue import Catalogue
from problems.formats.errors import PackRefused
from problems.formats.incoming import IncomingSubmission
from problems.formats.submission import check_tasks_are_known


class Coverage(StrEnum):
    """A submitter's statement on a file. A file of samples of all problems needs none."""

    FULL = "full"
    PARTIAL = "partial"


def covering(incoming: IncomingSubmission, catalogue: Catalogue, said: str = "") -> IncomingSubmission:
    """The submission as it counts: what the submitter says (a `Coverage`, or "" for nothing), else what its file says.

    A solutions pack says it by its `groups`. Raises PackRefused if neither says it.
    """
    if said:
        return replace(incoming, full=said == Coverage.FULL, undecided=False)
    if incoming.undecided:
        raise PackRefused("incomplete", _question(len(incoming.sample_counts), len(catalogue.problems)))
    return incoming


def settled(incoming: IncomingSubmission, catalogue: Catalogue, said: str = "") -> IncomingSubmission:
    """The same, of a submission that is to be stored: also raises PackRefused if it has samples of unknown tasks."""
    check_tasks_are_known(incoming)
    return covering(incoming, catalogue, said)


def absent_counts(incoming: IncomingSubmission, catalogue: Catalogue) -> dict[str, int]:
    """How many samples each problem lacks, if all are to have as many as the one with most; 0 is left out.

    A sealed question lacks none that a submission may not have.
    """
    counts = incoming.sample_counts
    most = max(counts.values(), default=0)
    wanted = {task_id: min(most, catalogue.most_replies.get(task_id, most)) for task_id in catalogue.problems}
    lacking = {task_id: n - counts.get(task_id, 0) for task_id, n in wanted.items()}
    return {task_id: n for task_id, n in lacking.items() if n}


def _question(n_present: int, n_problems: int) -> str:
    return (
        f"the file has samples of {n_present} of {n_problems} problems and does not say whether that is meant. Submit"
        " it as partial, and it is not ranked on the board, or as full, and what is absent counts as failed (coverage)"
    )

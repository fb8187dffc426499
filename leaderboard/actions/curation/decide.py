"""Records organisers' decisions (rulings on flags, errata of problems, retractions) and appeals against rulings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Appeal, Decision, Evaluation, Flag, Submission
from leaderboard.models.audit import record
from leaderboard.models.curation.decision import APPEAL_CHARACTERS, DecisionKind
from leaderboard.standings import count, scores
from problems.models import Problem

MAX_FLAGS_AT_ONCE = 100


def _check(user: Any, public_reason: str) -> None:
    if not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser decides on flags, errata and retractions.")
    if not public_reason.strip():
        raise Refused("reason_needed", "A decision needs a public reason; it is shown beside what it changes.")


@dataclass(frozen=True)
class Ruled:
    """The results of several flags that were decided together."""

    decisions: Sequence[Decision]
    overtaken: Sequence[Flag]
    """Flags on which somebody ruled since the page was read. They are left as they are."""


@transaction.atomic
def decide_flag(user: Any, flag: Flag, *, upheld: bool, public_reason: str) -> Decision:
    """Rule on one flag, whatever was ruled on it before. Raises NotAllowed or Refused."""
    _check(user, public_reason)
    return _rule(user, _held([flag.pk]), upheld=upheld, public_reason=public_reason)[0]


@transaction.atomic
def decide_flags(user: Any, seen: Mapping[int, int], *, upheld: bool, public_reason: str) -> Ruled:
    """Give several flags the same ruling. `seen`: flag id → id of its latest decision that the user saw, 0 for none.

    A flag with a newer decision is not ruled on. Raises NotAllowed or Refused.
    """
    _check(user, public_reason)
    if not 0 < len(seen) <= MAX_FLAGS_AT_ONCE:
        raise Refused("flags_needed", f"Choose 1 to {MAX_FLAGS_AT_ONCE} flags to decide together.")
    flags = _held(seen)
    if len(flags) < len(seen):
        raise Refused("no_such_flag", f"{len(seen) - len(flags)} of these flags do not exist. Reload the queue.")
    latest = dict(Decision.objects.filter(flag__in=flags).order_by("id").values_list("flag_id", "id"))
    overtaken = [one for one in flags if latest.get(one.pk, 0) != seen[one.pk]]
    rest = [one for one in flags if one not in overtaken]
    return Ruled(_rule(user, rest, upheld=upheld, public_reason=public_reason), overtaken)


def _held(flag_ids: Iterable[int]) -> list[Flag]:
    """The flags, with their submissions locked in the order of their ids."""
    rows = Flag.objects.filter(pk__in=list(flag_ids)).order_by("pk")
    related = "result__evaluation"
    flags = list(rows.select_related(f"{related}__submission__entrant", f"{related}__submission__release",
                                     f"{related}__track"))  # fmt: skip
    for submission_id in sorted({one.result.evaluation.submission_id for one in flags}):
        scores.hold(submission_id)
    return flags


def _rule(user: Any, flags: Sequence[Flag], *, upheld: bool, public_reason: str) -> list[Decision]:
    kind = DecisionKind.FLAG_UPHELD if upheld else DecisionKind.FLAG_DISMISSED
    decisions: list[Decision] = []
    places: dict[tuple[int, int], list[Evaluation]] = {}
    for flag in flags:
        evaluation = flag.result.evaluation
        decision = Decision.objects.create(kind=kind, flag=flag, decided_by=user, public_reason=public_reason)
        record(user, kind, evaluation, public_reason, flag=flag.code)
        decisions.append(decision)
        places.setdefault((evaluation.submission_id, evaluation.track_id), []).append(evaluation)
    for found in places.values():
        scores.rescore(found[0].submission, found[0].track, sorted({one.problem_id for one in found}))
    return decisions


@transaction.atomic
def appeal(user: Any, decision: Decision, words: str) -> Appeal:
    """Object to an upheld flag, once for each ruling. It is in the queue again until an organiser rules anew."""
    if decision.kind != DecisionKind.FLAG_UPHELD or decision.flag is None:
        raise Refused("nothing_to_appeal", "Only a ruling that upholds a flag can be appealed.")
    evaluation = decision.flag.result.evaluation
    scores.hold(evaluation.submission_id)
    if not evaluation.submission.entrant.has_submitter(user):
        raise NotAllowed("not_your_entrant", "Only the entrant's owner and team may appeal.")
    words = words.replace("\0", "").strip()
    if not words or len(words) > APPEAL_CHARACTERS:
        raise Refused("words_needed", f"Say in 1 to {APPEAL_CHARACTERS} characters why the ruling is wrong.")
    if decision.flag.decisions.filter(pk__gt=decision.pk).exists():
        raise Conflict("ruled_again", "An organiser has ruled on this flag again. Reload the page.")
    if Appeal.objects.filter(decision=decision).exists():
        raise Conflict("appealed_already", "This ruling has been appealed. An organiser will rule again.")
    made = Appeal.objects.create(decision=decision, appealed_by=user, words=words)
    record(user, "appeal", evaluation, words, flag=decision.flag.code)
    return made


@transaction.atomic
def void_problem(user: Any, problem: Problem, public_reason: str) -> Decision:
    """Remove a faulty problem from every denominator of its release at once. Raises NotAllowed, Refused or Conflict."""
    _check(user, public_reason)
    _hold_problem(problem)
    if Decision.objects.errata().filter(problem=problem).exists():
        raise Conflict("void_already", f"{problem} is void already: its reason stands on its page.")
    decision = Decision.objects.create(
        kind=DecisionKind.PROBLEM_VOIDED, problem=problem, decided_by=user, public_reason=public_reason
    )
    record(user, "void", problem, public_reason)
    scores.touch_release(problem.release)
    return decision


@transaction.atomic
def restore_problem(user: Any, problem: Problem, public_reason: str) -> Decision:
    """Undo a problem's erratum: it counts again in every score of its release. Raises NotAllowed, Refused or Conflict.

    The erratum stays readable. The new decision names it.
    """
    _check(user, public_reason)
    _hold_problem(problem)
    in_force = list(Decision.objects.errata().filter(problem=problem).order_by("pk"))
    if not in_force:
        raise Conflict("not_void", f"{problem} is not void: no erratum of it is in force.")
    made = [
        Decision.objects.create(
            kind=DecisionKind.PROBLEM_RESTORED, problem=problem, decided_by=user, public_reason=public_reason,
            earlier=erratum,
        )
        for erratum in in_force
    ]  # fmt: skip
    record(user, "undo erratum", problem, public_reason, undone=[one.pk for one in in_force])
    scores.touch_release(problem.release)
    return made[-1]


def _hold_problem(problem: Problem) -> None:
    """Locks the problem: if two organisers decide on it at once, the second waits and then reads what the first
    stored."""
    list(Problem.objects.select_for_update(no_key=True).filter(pk=problem.pk).values_list("pk"))


@transaction.atomic
def retract(user: Any, submission: Submission, public_reason: str) -> Decision:
    """Remove a submission from the boards. Its results stay readable."""
    _check(user, public_reason)
    count.hold(submission.entrant_id)
    decision = Decision.objects.create(
        kind=DecisionKind.SUBMISSION_RETRACTED, submission=submission, decided_by=user, public_reason=public_reason
    )
    record(user, "retract", submission, public_reason)
    count.settle(submission, user)
    for track in submission.tracks.all():  # boards of past days leave it out from now on
        scores.touch(submission.release_id, track.pk)
    return decision

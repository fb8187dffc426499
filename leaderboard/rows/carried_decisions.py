"""Decisions of an earlier revision on rows of the next one. Each is a new row that names the old one."""

from collections.abc import Iterable, Mapping

from django.db.models import Exists, OuterRef

from leaderboard.models import Appeal, Decision, Flag, Result, RevisionAnswer, Submission
from leaderboard.models.curation.decision import DecisionKind
from problems.models import Problem, Release
from runners.wire.protocol import Purpose


def carry_rulings(submission: Submission) -> list[Decision]:
    """Carry the rulings on flags, and open appeals against them, onto the flags of the submission's reused results.

    Flags that have a ruling already are left as they are. The author of a ruling stays its author.
    """
    copies = _copied_flags(submission)
    rulings = Decision.objects.filter(flag__in=copies).latest_on_flags().select_related("appeal").order_by("pk")
    made = []
    for old in rulings:
        new = Decision.objects.create(
            kind=old.kind, flag=copies[old.flag_id or 0], decided_by=old.decided_by,
            public_reason=old.public_reason, earlier=old,
        )  # fmt: skip
        made.append(new)
        if appeal := getattr(old, "appeal", None):
            Appeal.objects.create(decision=new, appealed_by=appeal.appealed_by, words=appeal.words, at=appeal.at)
    return made


def _copied_flags(submission: Submission) -> dict[int, Flag]:
    """The undecided copy of each flag by the old one's id. Results are copied with their flags in the same order."""
    results = Result.objects.filter(current_of__submission=submission, reused_from__isnull=False)
    old_of = dict(results.values_list("pk", "reused_from_id"))
    new_flags = Flag.objects.filter(result__in=old_of).order_by("pk")
    old_flags = _by_result(Flag.objects.filter(result__in=list(old_of.values())).order_by("pk"))
    decided = set(Decision.objects.filter(flag__in=new_flags).values_list("flag_id", flat=True))
    return {
        before.pk: flag
        for result_id, flags in _by_result(new_flags).items()
        for before, flag in zip(old_flags.get(old_of[result_id] or 0, []), flags, strict=True)
        if flag.pk not in decided
    }


def _by_result(flags: Iterable[Flag]) -> dict[int, list[Flag]]:
    found: dict[int, list[Flag]] = {}
    for flag in flags:
        found.setdefault(flag.result_id, []).append(flag)
    return found


def keep_rulings(result: Result) -> list[Decision]:
    """Give new flags the ruling that an organiser said would hold for this code if the same flag was raised again.

    Each answer holds for the first result that raises the flag.
    """
    evaluation = result.evaluation
    if evaluation.purpose != Purpose.LIVE:
        return []
    answers = _answers_for(result)
    made = []
    for flag in result.flags.order_by("pk") if answers else ():
        found = next((one for one in answers if _is_same(one.decision.flag, flag)), None)
        if found:
            made.append(
                Decision.objects.create(
                    kind=found.decision.kind, flag=flag, decided_by=found.answered_by,
                    public_reason=found.public_reason, earlier=found.decision,
                )
            )  # fmt: skip
    return made


def _answers_for(result: Result) -> list[RevisionAnswer]:
    evaluation = result.evaluation
    release, place = evaluation.submission.release_id, "decision__flag__result__evaluation"
    held = Decision.objects.filter(
        earlier=OuterRef("decision"), flag__result__evaluation__submission__release=OuterRef("release")
    )
    rows = RevisionAnswer.objects.filter(release=release, keeps=True, **{
        f"{place}__track": evaluation.track_id,
        f"{place}__problem__task_id": evaluation.problem.task_id,
        f"{place}__submission__entrant": evaluation.submission.entrant_id,
        f"{place}__sample__index": evaluation.sample.index,
        f"{place}__sample__solution_sha256": evaluation.sample.solution_sha256,
    })  # fmt: skip
    return list(rows.filter(~Exists(held)).select_related("decision__flag", "answered_by"))


def _is_same(old: Flag | None, new: Flag) -> bool:
    return old is not None and (old.code, old.scope) == (new.code, new.scope)


def carry_errata(release: Release, holding: Mapping[int, Problem]) -> list[Decision]:
    """Void the problems whose errata hold in the new revision: where grading is the same, or an organiser said so.

    `holding`: the old problem by new problem id. Problems on which something was decided are left as they are.
    """
    if release.previous is None:
        return []
    answers = {one.decision_id: one for one in RevisionAnswer.objects.filter(release=release, keeps=True)}
    errata = Decision.objects.errata().filter(problem__release=release.previous).select_related("problem")
    undecided = release.problems.filter(decisions=None).defer("record")
    by_task = {one.task_id: one for one in undecided}
    return [
        _void(by_task[task_id], one, answers.get(one.pk) if by_task[task_id].pk not in holding else None)
        for task_id, one in {one.problem.task_id: one for one in errata.order_by("pk") if one.problem}.items()
        if task_id in by_task and (by_task[task_id].pk in holding or one.pk in answers)
    ]


def _void(problem: Problem, old: Decision, answer: RevisionAnswer | None) -> Decision:
    said = answer or old
    return Decision.objects.create(
        kind=DecisionKind.PROBLEM_VOIDED, problem=problem, public_reason=said.public_reason, earlier=old,
        decided_by=answer.answered_by if answer else old.decided_by,
    )  # fmt: skip

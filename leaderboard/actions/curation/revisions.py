"""Answers for the decisions of a release's last revision that cannot be carried over without asking."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db import transaction

from leaderboard.curation.revisions import questions, unanswered
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Decision, RevisionAnswer
from leaderboard.models.audit import record
from leaderboard.rows.carried_decisions import carry_errata
from leaderboard.rows.reuse import holding
from problems.models import Release

SHOWN = 3
"""Unanswered decisions that a refusal names one by one."""


class Answer(NamedTuple):
    keeps: bool
    public_reason: str


@transaction.atomic
def answer(user: Any, release: Release, answers: Mapping[int, Answer]) -> list[RevisionAnswer]:
    """Keep or drop decisions of the last revision, by their ids. A later answer takes the place of an earlier one.

    Raises NotAllowed, Refused or Conflict.
    """
    if not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser keeps or drops decisions of the last revision.")
    if not Release.objects.select_for_update().get(pk=release.pk).is_draft:
        raise Conflict("not_a_draft", f"{release.slug} is published: decide on its own flags and problems instead.")
    asked = {one.decision.pk: one.decision for one in questions(release)}
    if gone := sorted(answers.keys() - asked.keys()):
        raise Conflict("not_asked", f"Decision {gone[0]} is not asked about any more. Reload the list.")
    return [_answer(user, release, asked[pk], said) for pk, said in answers.items()]


def _answer(user: Any, release: Release, decision: Decision, said: Answer) -> RevisionAnswer:
    reason = said.public_reason.replace("\0", "").strip()
    if not reason:
        raise Refused("reason_needed", "Give a public reason for each decision that you keep or drop.")
    fields = {"keeps": said.keeps, "public_reason": reason, "answered_by": user}
    made, _ = RevisionAnswer.objects.update_or_create(release=release, decision=decision, defaults=fields)
    record(user, "keep decision" if said.keeps else "drop decision", release, reason, decision=decision.pk)
    return made


def check_answered(release: Release) -> None:
    """Raises Refused if a decision of the last revision waits for an answer."""
    if not (waiting := unanswered(release)):
        return
    named = "; ".join(f"{one.about} ({one.why})" for one in waiting[:SHOWN])
    more = f"; and {len(waiting) - SHOWN} more" if len(waiting) > SHOWN else ""
    raise Refused(
        "decisions_to_answer",
        f"Decisions of the last revision that cannot be carried over without asking: {len(waiting)}. {named}{more}."
        f" Keep or drop each, with a reason, under “Answer for the last revision” on the page of {release.slug} in the"
        " administration.",
    )


def carry_errata_over(user: Any, release: Release) -> list[Decision]:
    """Void what the errata of the last revision still hold for. The caller ranks. A repetition makes none again."""
    if release.previous is None:
        return []
    made = carry_errata(release, holding(release, release.previous))
    for one in made:
        assert one.earlier is not None
        facts = {"decision": one.earlier_id, "author": one.earlier.decided_by.get_username()}
        record(user, "carry erratum", one.problem, one.public_reason, **facts)
    return made

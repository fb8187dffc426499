"""Rulings on several flags, and appeals against them: who may, once, and what answers one."""

from typing import Any

import pytest
from django.db import Error, transaction

from leaderboard.actions.curation.decide import appeal, decide_flag, decide_flags
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.flags.shown import with_rulings
from leaderboard.models import Appeal, AuditEntry, Decision, Flag, ProblemScore
from runners.wire.protocol import FlagReport, FlagScope
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def flags(cast: Any) -> list[Flag]:
    made = factories.release(2)
    report = factories.report(flags=[FlagReport(code="throttled", scope=FlagScope.TIME)])
    factories.judged_submission(cast.entrant, made, factories.offer(made), lambda _: report, n_samples=1)
    return list(Flag.objects.order_by("pk"))


def upheld(cast: Any, flag: Flag) -> Decision:
    return decide_flag(cast.organiser, flag, upheld=True, public_reason="Too hot.")


def test_a_teammate_appeals_once_and_the_ruling_stands(cast: Any, flags: list[Flag]) -> None:
    decision = upheld(cast, flags[0])
    made = appeal(cast.teammate, decision, "  The fan was broken.\0 ")
    assert (made.words, made.appealed_by) == ("The fan was broken.", cast.teammate)
    assert AuditEntry.objects.filter(action="appeal", actor=cast.teammate, reason="The fan was broken.").exists()
    with pytest.raises(Conflict, match="has been appealed"):
        appeal(cast.owner, decision, "Again.")
    assert with_rulings(Flag.objects.filter(pk=flags[0].pk)).get().is_appealed
    assert ProblemScore.objects.get(problem=flags[0].result.evaluation.problem).n_timed == 0


@pytest.mark.parametrize("who", ["stranger", "organiser"])
def test_nobody_else_appeals(cast: Any, flags: list[Flag], who: str) -> None:
    with pytest.raises(NotAllowed):
        appeal(getattr(cast, who), upheld(cast, flags[0]), "Please.")
    assert not Appeal.objects.exists()


@pytest.mark.parametrize("words", ["", " \0 ", "x" * 4001])
def test_an_appeal_needs_words(cast: Any, flags: list[Flag], words: str) -> None:
    with pytest.raises(Refused, match="1 to 4000 characters"):
        appeal(cast.owner, upheld(cast, flags[0]), words)


def test_only_an_upheld_flag_can_be_appealed(cast: Any, flags: list[Flag]) -> None:
    dismissed = decide_flag(cast.organiser, flags[0], upheld=False, public_reason="Honest.")
    with pytest.raises(Refused, match="upholds a flag"):
        appeal(cast.owner, dismissed, "Why?")


def test_a_new_ruling_answers_the_appeal_and_can_be_appealed_itself(cast: Any, flags: list[Flag]) -> None:
    first = upheld(cast, flags[0])
    appeal(cast.owner, first, "The fan was broken.")
    second = upheld(cast, flags[0])
    assert not with_rulings(Flag.objects.filter(pk=flags[0].pk)).get().is_appealed
    with pytest.raises(Conflict, match="ruled on this flag again"):
        appeal(cast.owner, first, "Once more.")
    assert appeal(cast.owner, second, "It was.").decision == second


def test_an_appeal_never_changes(cast: Any, flags: list[Flag]) -> None:
    made = appeal(cast.owner, upheld(cast, flags[0]), "The fan was broken.")
    for change in (lambda: Appeal.objects.filter(pk=made.pk).update(words="x"), made.delete):
        with pytest.raises(Error, match="an appeal never changes"), transaction.atomic():
            change()


def test_several_flags_are_ruled_on_in_one_transaction(cast: Any, flags: list[Flag]) -> None:
    ruled = decide_flags(cast.organiser, {one.pk: 0 for one in flags}, upheld=False, public_reason="A cool room.")
    assert (len(ruled.decisions), list(ruled.overtaken)) == (2, [])
    assert set(ProblemScore.objects.values_list("n_timed", "n_open_flags")) == {(1, 0)}
    with pytest.raises(Refused, match="1 of these flags do not exist"):
        decide_flags(cast.organiser, {flags[0].pk: ruled.decisions[0].pk, 10**9: 0}, upheld=True, public_reason="x")
    assert Decision.objects.count() == 2


def test_only_organisers_rule_on_several(cast: Any, flags: list[Flag]) -> None:
    with pytest.raises(NotAllowed):
        decide_flags(cast.owner, {flags[0].pk: 0}, upheld=False, public_reason="Mine.")

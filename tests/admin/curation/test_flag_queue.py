"""The queue of flags: filters, rulings on several at a time, the evidence on one, and what happened meanwhile."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.actions.curation.decide import appeal, decide_flag
from leaderboard.models import AuditEntry, Decision, Flag, Standing
from runners.wire.protocol import FlagReport, FlagScope
from tests import factories
from tests.admin.pages import signed_in, text
from tests.made_once import of_module, part

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
QUEUE = "admin:leaderboard_flag_changelist"


def flagged(code: str = "left_early", scope: FlagScope = FlagScope.VERDICT) -> Any:
    return factories.report(flags=[FlagReport(code=code, scope=scope, detail="seen <b>here</b>")])


def _make() -> tuple[factories.Cast, Any]:
    cast = factories.Cast.make()
    made = factories.release(3)
    judged = factories.judged_submission(cast.entrant, made, factories.offer(made), lambda _: flagged(), n_samples=1)
    return cast, judged


made_site = of_module(_make)
cast, judged = part(0), part(1)


def decide(user: Any, flags: Any, *, read: Any = None, query: str = "", **said: Any) -> Any:
    """Send the queue's form, as a page shows it that was read before any ruling."""
    chosen = [one if isinstance(one, str) else f"{one.pk}:0" for one in flags]
    said = {"flag": chosen, "read": read.pk if read else "", **said}
    return signed_in(user).post(reverse("admin:leaderboard_flag_decide") + query, said, follow=True)


def test_several_flags_get_one_ruling_and_one_reason(judged: Any, cast: Any) -> None:
    first, second, third = Flag.objects.order_by("pk")
    page = text(decide(cast.organiser, [first, second], ruling="dismiss", reason="The harness exits here."))
    assert "Flag dismissed: 2 flags." in page
    assert "<p>1 flag" in page
    assert set(Decision.objects.values_list("flag", "public_reason")) == {
        (first.pk, "The harness exits here."), (second.pk, "The harness exits here."),
    }  # fmt: skip
    assert AuditEntry.objects.filter(action="flag_dismissed", actor=cast.organiser).count() == 2
    assert not third.decisions.exists()
    score = judged.problem_scores.order_by("problem__position")
    assert list(score.values_list("n_passed", "n_open_flags")) == [(1, 0), (1, 0), (0, 1)]


def test_a_flag_decided_meanwhile_is_told_and_left_alone(judged: Any, cast: Any) -> None:
    first, second, _ = Flag.objects.order_by("pk")
    colleague = factories.UserFactory(username="colleague", is_staff=True, is_superuser=True)
    decide_flag(colleague, first, upheld=True, public_reason="It cheats.")
    page = text(decide(cast.organiser, [first, second], ruling="dismiss", reason="Honest."))
    assert "was decided meanwhile by colleague: Flag upheld: It cheats." in page
    assert "Flag dismissed: Honest." in page
    assert list(first.decisions.values_list("kind", flat=True)) == ["flag_upheld"]
    ruled_by = first.decisions.get().pk
    decide(cast.organiser, [f"{first.pk}:{ruled_by}"], ruling="dismiss", reason="Seen again.")
    assert first.decisions.first().kind == "flag_dismissed"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"ruling": "dismiss", "reason": " "}, "needs a public reason"),
        ({"ruling": "", "reason": "x"}, "uphold or dismiss"),
        ({"ruling": "dismiss", "reason": "x", "flag": []}, "Choose 1 to 100 flags"),
        ({"ruling": "dismiss", "reason": "x", "flag": ["999999:0"]}, "do not exist"),
        ({"ruling": "dismiss", "reason": "x", "flag": ["a:b"]}, "damaged"),
        ({"ruling": "dismiss", "reason": "x", "flag": ["9" * 40 + ":0"]}, "damaged"),
        ({"ruling": "dismiss", "reason": "x", "flag": [f"{n}:0" for n in range(101)]}, "Choose 1 to 100 flags"),
    ],
)  # fmt: skip
def test_a_bad_form_is_refused_in_words_and_decides_nothing(judged: Any, cast: Any, said: Any, words: str) -> None:
    answer = decide(cast.organiser, Flag.objects.all(), **said)
    assert answer.status_code == 422
    assert words in text(answer)
    assert not Decision.objects.exists()


def test_a_refused_form_keeps_what_was_typed(judged: Any, cast: Any) -> None:
    flag = Flag.objects.order_by("pk")[0]
    answer = decide(cast.organiser, [flag], read=flag, reason="typed words", ruling="")
    assert answer.status_code == 422
    assert "typed words" in text(answer)
    assert "What triggers it" in text(answer)


def test_a_decision_on_a_flags_page_leads_to_the_next_of_the_same_filter(judged: Any, cast: Any) -> None:
    first, second, third = Flag.objects.order_by("pk")
    query = f"?problem={third.result.evaluation.problem.task_id}"
    answer = decide(cast.organiser, [first], read=first, ruling="uphold", reason="It leaves.")
    assert answer.redirect_chain[0][0].startswith(reverse("admin:leaderboard_flag_change", args=[second.pk]))
    answer = decide(cast.organiser, [second], read=second, query=query, ruling="uphold", reason="It leaves.")
    assert reverse("admin:leaderboard_flag_change", args=[third.pk]) in answer.redirect_chain[0][0]
    answer = decide(cast.organiser, [third], read=third, ruling="uphold", reason="It leaves.")
    assert answer.redirect_chain[0][0].startswith(reverse(QUEUE))
    assert "No flag fits." in text(answer)


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ("", 3), ("?state=all", 3), ("?state=decided", 0), ("?state=appealed", 0), ("?scope=verdict", 3),
        ("?scope=time", 0), ("?code=left_early", 3), ("?code=throttled", 0), ("?release=test-1", 3),
        ("?release=other", 0), ("?track=cpu-test", 3), ("?track=x", 0), ("?entrant=alph", 3), ("?entrant=beta", 0),
        ("?problem=number 1", 1), ("?state=nonsense&page=zz", 3),
    ],
)  # fmt: skip
def test_the_queue_is_filtered_by_its_address(judged: Any, cast: Any, query: str, n: int) -> None:
    page = text(signed_in(cast.organiser).get(reverse(QUEUE) + query))
    assert f"<p>{n} flag{'' if n == 1 else 's'}" in page
    assert page.count("data-row") == n


def test_an_appeal_brings_an_upheld_flag_back_until_the_next_ruling(judged: Any, cast: Any) -> None:
    flag = Flag.objects.order_by("pk")[0]
    decision = decide_flag(cast.organiser, flag, upheld=True, public_reason="It leaves.")
    browser = signed_in(cast.organiser)
    assert "<p>2 flags" in text(browser.get(reverse(QUEUE)))
    appeal(cast.teammate, decision, "The harness itself calls exit.")
    assert "<p>3 flags" in text(browser.get(reverse(QUEUE)))
    assert "<p>1 flag" in text(browser.get(reverse(QUEUE) + "?state=appealed"))
    page = text(browser.get(reverse("admin:leaderboard_flag_change", args=[flag.pk])))
    assert "The harness itself calls exit." in page
    assert "upheld, appealed" in page
    decide(cast.organiser, [f"{flag.pk}:{decision.pk}"], ruling="dismiss", reason="Right.")
    assert "<p>2 flags" in text(browser.get(reverse(QUEUE)))


def test_a_flags_page_has_the_evidence_side_by_side(judged: Any, cast: Any) -> None:
    flag = Flag.objects.order_by("pk")[0]
    page = text(signed_in(cast.organiser).get(reverse("admin:leaderboard_flag_change", args=[flag.pk])))
    for words in ("exit 0 # solution words", "exit 0 # reference words", "The benchmark ended with status 0",
                  "test log words", "build log words", "runs.json", "Provenance", "Witness: seen"):  # fmt: skip
        assert words in page
    assert "seen <b>here</b>" not in page
    assert "seen &lt;b&gt;here&lt;/b&gt;" in page
    assert 'rel="next"' in page
    assert 'rel="prev"' not in page


def test_a_rule_that_is_not_known_is_said_so(cast: Any) -> None:
    made = factories.release(1, "test-2")
    report = flagged("of_an_older_node")
    factories.judged_submission(cast.entrant, made, factories.offer(made), lambda _: report, n_samples=1)
    page = text(
        signed_in(cast.organiser).get(reverse("admin:leaderboard_flag_change", args=[Flag.objects.latest("pk").pk]))
    )
    assert "no words for the rule" in page


def test_the_queue_and_a_flags_page_cost_the_same_for_more_flags(cast: Any) -> None:
    made = factories.release(3, "test-2")
    track = factories.offer(made)
    browser = signed_in(cast.organiser)
    costs = []
    for script in ("exit 0 # first", "exit 0 # second"):
        factories.judged_submission(cast.entrant, made, track, lambda _: flagged(), n_samples=4, script=script)
        place = [reverse(QUEUE) + "?state=all", reverse("admin:leaderboard_flag_change", args=[Flag.objects.last().pk])]
        for path in place:
            with CaptureQueriesContext(connection) as queries:
                assert browser.get(path).status_code == 200
            costs.append(len(queries))
    assert costs[:2] == costs[2:]
    assert max(costs) <= 25


def test_no_flag_is_decided_by_a_get_a_stranger_or_a_clerk(judged: Any, cast: Any) -> None:
    flag = Flag.objects.order_by("pk")[0]
    clerk = factories.UserFactory(username="clerk", is_staff=True)
    places = [reverse(QUEUE), reverse("admin:leaderboard_flag_change", args=[flag.pk])]
    decide_at = reverse("admin:leaderboard_flag_decide")
    for user, status in ((cast.owner, 302), (clerk, 403), (cast.organiser, 200)):
        assert [signed_in(user).get(path).status_code for path in places] == [status, status]
    said = {"flag": f"{flag.pk}:0", "ruling": "dismiss", "reason": "x"}
    assert signed_in(cast.organiser).get(decide_at, said).status_code == 403
    assert signed_in(cast.owner).post(decide_at, said).status_code == 302
    assert signed_in(clerk).post(decide_at, said).status_code == 403
    assert not Decision.objects.exists()
    assert signed_in(cast.organiser).get(reverse("admin:leaderboard_flag_change", args=["x"])).status_code == 404
    assert signed_in(cast.organiser).get(reverse("admin:leaderboard_flag_change", args=[10**30])).status_code == 404


def test_the_standing_counts_its_flags_by_ruling(judged: Any, cast: Any) -> None:
    first, second, _ = Flag.objects.order_by("pk")
    decide_flag(cast.organiser, first, upheld=True, public_reason="It leaves.")
    decide_flag(cast.organiser, second, upheld=False, public_reason="Honest.")
    factories.rank(judged.release, judged.tracks.get())
    row = Standing.objects.get()
    assert (row.n_open_flags, row.n_upheld_flags, row.is_incomplete) == (1, 1, True)

"""Flags and decisions in public: badges that agree with ranks, the log, appeals, and what hidden results hide."""

import csv
import io
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.curation.decide import appeal, decide_flag, retract, void_problem
from leaderboard.flags.rules import FLAG_RULES
from leaderboard.models import Appeal, Flag, Standing
from problems.models import Release
from runners.wire.protocol import FlagReport, FlagScope
from tests import factories
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
ROOT = Path(__file__).resolve().parents[3]


def text(answer: Any) -> str:
    assert answer.status_code == 200
    return markup(answer)


def judged(entrant: Any, made: Release, *scopes: FlagScope) -> Any:
    """One sample a problem; the first problem's has a flag of each scope."""

    def verdict_of(evaluation: Any) -> Any:
        flags = [FlagReport(code="left_early" if one == "verdict" else "throttled", scope=one) for one in scopes]
        return factories.report(flags=flags if evaluation.problem.position == 0 else [])

    return factories.judged_submission(entrant, made, factories.offer(made), verdict_of, n_samples=1)


def ranked_again(stored: Any) -> Standing:
    factories.rank(stored.release, stored.tracks.get())
    return Standing.objects.get(submission=stored)


@pytest.mark.parametrize(
    ("scope", "metric", "open_words", "upheld_words", "is_incomplete"),
    [
        (FlagScope.VERDICT, "pass@1", "The pass does not count yet. The standing is incomplete",
         "The pass does not count.", True),
        (FlagScope.TIME, "pass@1", "Its time does not rank yet.</td>", "Its time does not rank.</td>", False),
        (FlagScope.TIME, "speedup", "does not rank yet. The standing is incomplete",
         "Its time does not rank.</td>", True),
    ],
)  # fmt: skip
def test_words_and_badges_agree_with_the_rank(
    client: Any, cast: Any, scope: FlagScope, metric: str, open_words: str, upheld_words: str, is_incomplete: bool
) -> None:
    made = factories.release(2, primary_metric=metric)
    stored = judged(cast.entrant, made, scope)
    board, flags = reverse("board", args=[made.slug]), reverse("release_flags", args=[made.slug])
    row = ranked_again(stored)
    assert (row.is_incomplete, row.rank is None) == (is_incomplete, is_incomplete)
    page = text(client.get(board))
    assert "1 open flag<" in page
    link = re.search(rf'href="({flags}[^"]*ruling=open)"', page)
    assert link
    listed = text(client.get(link[1].replace("&amp;", "&")))
    assert open_words in listed
    assert "1 flag<" in listed.replace("1 flag.", "1 flag<")
    decide_flag(cast.organiser, Flag.objects.get(), upheld=True, public_reason="Seen.")
    row = ranked_again(stored)
    assert (row.is_incomplete, row.rank) == (False, 1)
    assert "1 upheld flag<" in text(client.get(board))
    assert upheld_words in text(client.get(flags))
    decide_flag(cast.organiser, Flag.objects.get(), upheld=False, public_reason="Honest.")
    ranked_again(stored)
    page = text(client.get(board))
    assert "open flag" not in page
    assert "upheld flag" not in page
    assert "No flag fits" in text(client.get(flags))
    assert "None: the flag is dismissed." in text(client.get(flags + "?ruling=all"))


def test_the_problem_the_matrix_and_the_entrant_show_a_flag(client: Any, cast: Any) -> None:
    made = factories.release(2)
    stored = judged(cast.entrant, made, FlagScope.TIME)
    problem = made.problems.order_by("position").first()
    assert "1 open flag<" in text(client.get(reverse("problem", args=[made.slug, problem.slug])))
    assert "1 open flag<" in text(client.get(cast.entrant.get_absolute_url()))
    assert "flagged: its time does not rank until a decision" in text(client.get(stored.get_absolute_url()))
    decide_flag(cast.organiser, Flag.objects.get(), upheld=True, public_reason="Seen.")
    assert "flag upheld: its time does not rank" in text(client.get(stored.get_absolute_url()))


def test_no_time_ranks_beside_a_flag_that_says_it_does_not(client: Any, cast: Any) -> None:
    stored = judged(cast.entrant, factories.release(2), FlagScope.TIME)
    address = Flag.objects.get().result.evaluation.get_absolute_url()
    assert "<td>no: flagged</td>" in text(client.get(address))
    decide_flag(cast.organiser, Flag.objects.get(), upheld=True, public_reason="Seen.")
    assert "<td>no: flag upheld</td>" in text(client.get(address))
    decide_flag(cast.organiser, Flag.objects.get(), upheld=False, public_reason="Honest.")
    assert "<td>no: flag" not in text(client.get(address))
    ranked_again(stored)


def test_a_voided_problems_flags_have_no_effect_and_no_badge(client: Any, cast: Any) -> None:
    made = factories.release(2)
    stored = judged(cast.entrant, made, FlagScope.VERDICT)
    void_problem(cast.organiser, made.problems.order_by("position").first(), "Wrong test.")
    assert ranked_again(stored).n_open_flags == 0
    assert "No flag fits" in text(client.get(reverse("release_flags", args=[made.slug])))
    listed = text(client.get(reverse("release_flags", args=[made.slug]) + "?ruling=all"))
    assert "None: the problem is voided" in listed


def test_the_log_holds_every_decision_with_its_reason(client: Any, cast: Any) -> None:
    made = factories.release(2)
    stored = judged(cast.entrant, made, FlagScope.VERDICT)
    flag = Flag.objects.get()
    first = decide_flag(cast.organiser, flag, upheld=True, public_reason="=It leaves early")
    appeal(cast.owner, first, "private words of the team")
    decide_flag(cast.organiser, flag, upheld=False, public_reason="The harness leaves.")
    void_problem(cast.organiser, made.problems.order_by("position").last(), "Wrong test.")
    retract(cast.organiser, stored, "Asked to.")
    page = text(client.get(reverse("decisions", args=[made.slug])))
    for words in ("=It leaves early", "The harness leaves.", "Wrong test.", "Asked to.", "appealed",
                  "replaced by a later ruling", stored.get_absolute_url()):  # fmt: skip
        assert words in page
    assert "private words" not in page
    rows = client.get(reverse("decisions_json", args=[made.slug])).json()["decisions"]
    assert [one["public_reason"] for one in rows][-1] == "=It leaves early"
    assert [one["replaced"] for one in rows] == [False, False, False, True]
    table = list(csv.DictReader(io.StringIO(text(client.get(reverse("decisions_csv", args=[made.slug]))))))
    assert table[-1]["public_reason"] == "'=It leaves early"
    assert table[-1]["url"].startswith("http")
    assert reverse("decisions", args=[made.slug]) in text(client.get(reverse("release_about", args=[made.slug])))


def test_hidden_results_hide_rulings_and_flags_but_not_errata(client: Any, cast: Any) -> None:
    made = factories.release(2, hidden_until=timezone.now() + timedelta(days=1))
    stored = judged(cast.entrant, made, FlagScope.VERDICT)
    decide_flag(cast.organiser, Flag.objects.get(), upheld=True, public_reason="secret ruling")
    void_problem(cast.organiser, made.problems.order_by("position").last(), "open erratum")
    retract(cast.organiser, judged(cast.strangers_entrant, made), "secret retraction")
    for user, sees in ((None, False), (cast.stranger, False), (cast.teammate, True), (cast.organiser, True)):
        client.logout()
        if user:
            client.force_login(user)
        for name in ("decisions", "decisions_csv", "decisions_json"):
            page = text(client.get(reverse(name, args=[made.slug])))
            assert ("secret ruling" in page) is sees
            assert "open erratum" in page
        seen = user in (cast.stranger, cast.organiser)
        assert ("secret retraction" in text(client.get(reverse("decisions", args=[made.slug])))) is seen
        listed = text(client.get(reverse("release_flags", args=[made.slug])))
        assert (stored.get_absolute_url() in listed) is sees


def test_a_team_appeals_on_its_evaluations_page(client: Any, cast: Any) -> None:
    stored = judged(cast.entrant, factories.release(1), FlagScope.VERDICT)
    decision = decide_flag(cast.organiser, Flag.objects.get(), upheld=True, public_reason="It leaves.")
    page, address = stored.evaluations.get().get_absolute_url(), reverse("appeal_decision", args=[decision.pk])
    assert address not in text(client.get(page))
    client.force_login(cast.stranger)
    assert client.post(address, {"words": "x"}).status_code == 404
    client.force_login(cast.teammate)
    assert address in text(client.get(page))
    assert "Say in 1 to 4000" in text(client.post(address, {"words": " "}, follow=True))
    answer = text(client.post(address, {"words": "The <harness> leaves."}, follow=True))
    assert "organisers&#x27; queue" in answer
    assert "The &lt;harness&gt; leaves." in answer
    assert address not in answer
    assert Appeal.objects.get().appealed_by == cast.teammate
    client.logout()
    page = text(client.get(page))
    assert "Appealed on" in page
    assert "harness&gt;" not in page


def test_the_board_export_counts_flags(client: Any, cast: Any) -> None:
    made = factories.release(2)
    judged(cast.entrant, made, FlagScope.VERDICT, FlagScope.TIME)
    row = client.get(reverse("board_json", args=[made.slug])).json()["rows"][0]
    assert (row["open_flags"], row["upheld_flags"]) == (2, 0)


def _plain(cell: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell.strip())


def test_the_words_of_each_flag_are_those_of_the_docs() -> None:
    lines = (ROOT / "docs" / "flags.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if re.match(r"\| `[a-z_]+` \|", line)]
    table = {row[0].strip("`"): tuple(map(_plain, row[1:])) for row in rows if len(row) == 4}
    assert table == {code: (one.means, one.triggered_by, one.advice) for code, one in FLAG_RULES.items()}


def test_every_flag_that_code_raises_has_words() -> None:
    places = (ROOT / "runners" / "agent" / "judges", ROOT / "leaderboard" / "imports")
    sources = [path.read_text(encoding="utf-8") for place in places for path in place.rglob("*.py")]
    raised = {code for source in sources for code in re.findall(r'(?:Finding\(|\bcode=)\s*"([a-z_]+)"', source)}
    assert len(raised) > 20
    assert raised <= FLAG_RULES.keys()

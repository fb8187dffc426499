"""A release keeps its version of the rules until an organiser moves it to the newest; its pages say which it has."""

import html
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.urls import reverse

from leaderboard.actions.curation import adopt_rules as acting
from leaderboard.actions.curation import curate
from leaderboard.actions.curation.adopt_rules import adopt_rules
from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import AuditEntry, Entrant, Evaluation, RankedArrays, ReleaseTrack, Standing
from leaderboard.standings.board_arrays import PackedBoard, unpack
from leaderboard.standings.rank import rank_touched
from podium.remote import tables
from problems.models import Release
from runners.wire.protocol import Report
from scoring.rules import NEWEST, RULES
from scoring.sample import TimedCase, counted_if_surely_faster
from tests import factories
from tests.admin.pages import act, signed_in, text

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
RELEASE = "problems_release"
SURE = 2.0
WITHIN_NOISE = 1.03
"""The intervals of the factories' times reach 2 % to both sides."""


def timed(speedup: float) -> Any:
    def report(_one: Evaluation) -> Report:
        return factories.report(speedup=speedup)

    return report


def board(cast: Any, rules: int, n_problems: int = 6) -> Release:
    """The owner's samples are surely faster, the stranger's as much faster as noise is."""
    made = factories.release(n_problems, rules=rules, primary_metric="speedup")
    track = factories.offer(made)
    factories.judged_submission(cast.entrant, made, track, timed(SURE))
    factories.judged_submission(cast.strangers_entrant, made, track, timed(WITHIN_NOISE))
    return made


def speedups(made: Release) -> dict[str, float]:
    return dict(Standing.objects.filter(release=made).values_list("entrant__slug", "estimates__speedup__value"))


def effect_page(cast: Any, made: Release) -> str:
    answer = signed_in(cast.organiser).get(reverse(f"admin:{RELEASE}_act", args=[made.pk, "adopt-rules"]))
    assert answer.status_code == 200
    return html.unescape(text(answer))


def test_new_releases_have_the_newest_rules(cast: Any) -> None:
    assert factories.release(1).rules == NEWEST


@pytest.mark.parametrize(("rules", "noise_counts"), [(1, WITHIN_NOISE), (2, 1.0), (NEWEST, 1.0)])
def test_a_gain_within_the_noise_counts_by_the_first_rules_alone(cast: Any, rules: int, noise_counts: float) -> None:
    made = board(cast, rules)
    assert speedups(made) == {"alpha": pytest.approx(SURE), "strangers-model": pytest.approx(noise_counts)}
    call_command("rebuild_standings", check=True)


def test_a_published_release_moves_to_the_newest_rules_with_a_public_reason(cast: Any, client: Any) -> None:
    made = board(cast, 1)
    call_command("rebuild_standings", check=True)
    said = effect_page(cast, made)
    assert f"From rules 1 to {NEWEST}" in said
    assert all(RULES[version].title in said for version in range(2, NEWEST + 1)), "what each version since changed"
    assert "test-1 on cpu-test: 1 of 2 standings change." in said
    assert "Stranger's model: rank 2, 1.03, 6 of 6 solved → rank 2, 1, 6 of 6 solved" in said
    assert speedups(made)["strangers-model"] == pytest.approx(WITHIN_NOISE), "a look changes nothing"
    answer = act(cast.organiser, RELEASE, "adopt-rules", made, reason="Noise counted as a gain.")
    assert f"is ranked by rules {NEWEST} from now on" in text(answer)
    rank_touched()
    assert speedups(made) == {"alpha": pytest.approx(SURE), "strangers-model": 1.0}
    call_command("rebuild_standings", check=True)
    entry = AuditEntry.objects.get(action="adopt rules")
    assert (entry.actor, entry.reason) == (cast.organiser, "Noise counted as a gain.")
    assert (entry.detail["was"], entry.detail["now"]) == ({"rules": "1"}, {"rules": str(NEWEST)})
    assert "Noise counted as a gain." in html.unescape(text(client.get(reverse("board", args=[made.slug]))))
    assert f"version {NEWEST}" in text(client.get(reverse("release_about", args=[made.slug])))


def test_a_release_moves_once_and_never_while_it_is_frozen(cast: Any) -> None:
    made = board(cast, 1)
    curate.freeze(cast.organiser, made)
    with pytest.raises(Refused, match="is ranked by rules 1 and stays with them"):
        adopt_rules(cast.organiser, made, "Late.")
    newest = factories.release(1, "test-2")
    with pytest.raises(Refused, match=f"is ranked by rules {NEWEST} and stays with them"):
        adopt_rules(cast.organiser, newest, "Again.")
    answer = signed_in(cast.organiser).get(reverse(f"admin:{RELEASE}_act", args=[newest.pk, "adopt-rules"]))
    assert answer.status_code == 404


def test_a_large_release_is_moved_by_the_command(cast: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = board(cast, 1)
    monkeypatch.setattr(acting, "MOST_SCORES", 3)
    with pytest.raises(Refused, match=r"12 aggregates of test-1 have times; .* Run `manage.py adopt_rules test-1"):
        adopt_rules(cast.organiser, made, "Noise.")
    assert "12 aggregates of test-1 have times" in effect_page(cast, made)
    call_command("adopt_rules", made.slug, reason="Noise.")
    rank_touched()
    assert speedups(made)["strangers-model"] == 1.0
    call_command("rebuild_standings", check=True)
    with pytest.raises(CommandError, match="stays with them"):
        call_command("adopt_rules", made.slug, reason="Noise.")
    with pytest.raises(CommandError, match="No release has the slug"):
        call_command("adopt_rules", "nowhere", reason="Noise.")


def test_only_organisers_move_a_release(cast: Any, client: Any) -> None:
    made = board(cast, 1)
    with pytest.raises(NotAllowed):
        adopt_rules(cast.owner, made, "Mine.")
    url = reverse(f"admin:{RELEASE}_act", args=[made.pk, "adopt-rules"])
    for visitor in (client, signed_in(cast.stranger)):
        assert visitor.get(url).status_code in (302, 403)
        assert visitor.post(url, {"reason": "Mine."}).status_code in (302, 403)
    made.refresh_from_db()
    assert made.rules == 1


def test_the_database_keeps_the_rules_of_a_published_release(cast: Any) -> None:
    made = factories.release(1, rules=1)
    with pytest.raises(DatabaseError, match="only changes with a new correction"), transaction.atomic():
        Release.objects.filter(pk=made.pk).update(rules=2)


def test_arrays_that_were_stored_before_rules_had_versions_are_the_firsts(cast: Any) -> None:
    made = board(cast, 1)
    place = ReleaseTrack.objects.select_related("release", "track").get(release=made)
    stored = unpack(bytes(RankedArrays.objects.get(place=place).content))
    assert stored.settings["rules"] == 1
    older = PackedBoard(stored.arrays, {name: value for name, value in stored.settings.items() if name != "rules"})
    assert older.over(place, stored.arrays["voided"] == 0, stored.arrays["voided"]).input.rules == 1


@pytest.mark.parametrize(("n_problems", "words"), [(4, "few problems"), (5, "95 % interval of the rank")])
def test_a_board_of_few_problems_says_so_and_gives_no_interval_of_a_rank(
    cast: Any, client: Any, n_problems: int, words: str
) -> None:
    made = board(cast, 2, n_problems)
    page = text(client.get(reverse("board", args=[made.slug])))
    rows = page[page.index('id="row-alpha"') :]
    assert words in rows
    one = Standing.objects.get(entrant=Entrant.objects.get(slug="alpha"))
    assert (one.rank, one.rank_low is None, one.rank_high is None) == (1, n_problems < 5, n_problems < 5)
    value, low, _ = one.figure("pass@1")
    assert low is not None
    assert low < value == 1.0


def test_a_case_that_may_not_rank_lowers_a_sample_where_it_is_slower() -> None:
    fast = TimedCase(4.0, 0.05)
    assert counted_if_surely_faster(4.0, [fast, TimedCase(3.0, 0.05, ranks=False)]) == pytest.approx(0.6931, abs=1e-4)
    assert counted_if_surely_faster(4.0, [fast, TimedCase(0.5, 0.05, ranks=False)]) == pytest.approx(0.3466, abs=1e-4)


@pytest.mark.parametrize(("ends", "words"), [((None, None), "2 (few problems)"), ((1, 3), "2 (1–3)"), ((2, 2), "2")])
def test_the_terminal_tells_few_problems_too(ends: tuple[int | None, int | None], words: str) -> None:
    assert tables._rank({"rank": 2, "rank_low": ends[0], "rank_high": ends[1]}) == words

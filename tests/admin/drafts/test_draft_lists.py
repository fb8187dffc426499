"""The list of a draft's problems: searched, filtered, chosen over all its pages, moved, left out and brought back."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from zeal import zeal_context

from leaderboard.actions.curation.verify import verify
from leaderboard.actions.problems import drafts
from leaderboard.admin.drafts.pages import PER_PAGE
from leaderboard.models import AuditEntry, Evaluation, ProblemTrack
from problems.actions.drafts import add_problem
from problems.models import Problem, Release
from runners.wire.protocol import Verdict
from tests import factories, packs
from tests.admin.drafts.list_forms import address, choose, confirm, listed, opened_list, shown, words
from tests.admin.pages import signed_in, text
from tests.admin.sent_form import sent_by
from tests.question_records import choice

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def example(n: int) -> dict[str, Any]:
    return packs.problem(f"a/{n}", prompt=f"Sort the list number {n}.", group=f"group-{n % 5}")


def draft_of(n: int, **more: Any) -> Release:
    return factories.release(n, publish=False, problem=example, **more)


@pytest.fixture
def few() -> Release:
    return draft_of(6)


@pytest.fixture
def many() -> Release:
    """Three pages."""
    return draft_of(250)


def order(release: Release) -> list[str]:
    return list(release.problems.order_by("position").values_list("task_id", flat=True))


def row(release: Release, task_id: str) -> Problem:
    return Problem.with_left_out.select_related("release").get(release=release, task_id=task_id)


def judge_checks(release: Release) -> None:
    """References pass and the rest fails, as nodes would report."""
    for one in release.submissions.all():
        verdict = Verdict.PASSED if one.entrant.slug == "_reference" else Verdict.TEST_FAILED
        report = factories.report(verdict)
        factories.judge(one, lambda _, report=report: report)  # type: ignore[misc]


def test_a_page_has_a_hundred_rows_with_their_places(cast: Any, many: Release) -> None:
    page = listed(cast.organiser, many, "?page=3")
    assert shown(page) == [f"a/{n}" for n in range(200, 250)]
    assert [one.place for one in page.context["rows"]][:2] == [201, 202]
    assert page.context["page"].paginator.num_pages == 3
    assert len(shown(listed(cast.organiser, many, "?page=nonsense"))) == 100


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("a/3", ["a/3"]),
        ("SORT number 2.", ["a/2"]),
        ("gRoup-1", ["a/1"]),
        ("shell easy a/4", ["a/4"]),
        ("ÜBER-titel", ["b/1"]),
        ("scan warp", ["b/1"]),
        ("test/t.sh", []),
    ],
)
def test_words_are_searched_in_id_title_statement_group_and_tags(
    cast: Any, few: Release, search: str, found: list[str]
) -> None:
    fields = packs.problem("b/1", podium={"title": "Über-Titel"}, prompt="Do a scan of each WARP.")
    add_problem(few, fields)
    page = signed_in(cast.organiser).get(address("draft", few.pk), {"q": search})
    assert shown(page) == found
    assert found or "No problem fits." in words(page)


def with_filters() -> Release:
    made = factories.release(1, publish=False, problem=lambda _: packs.problem("a/full", benchmark_command="sh b.sh"))
    add_problem(made, packs.problem("a/bare", test_files=[], baseline_solution=None, type="python", group="other"))
    add_problem(made, packs.problem("a/unknown", podium={}, metadata=_secret()))
    add_problem(made, choice("q/1"))
    return made


def _secret() -> dict[str, Any]:
    fields: dict[str, Any] = packs.problem("x")["metadata"]
    return fields | {"do_not_release": True, "difficulty": "hard", "podium": {"build_only": ["test/t.sh"]}}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("group=other", ["a/bare"]),
        ("kind=choice", ["q/1"]),
        ("kind=command&group=shell", ["a/full", "a/unknown"]),
        ("type=python", ["a/bare"]),
        ("difficulty=hard", ["a/unknown"]),
        ("tag=warps", ["q/1"]),
        ("tag=shell&type=cpp", ["a/full", "a/unknown"]),
        ("tests=yes", ["a/full", "a/unknown"]),
        ("tests=no", ["a/bare"]),
        ("reference=yes", ["a/full", "a/unknown"]),
        ("reference=no", ["a/bare"]),
        ("timed=yes", ["a/full"]),
        ("timed=no", ["a/bare", "a/unknown"]),
        ("withheld=some", ["a/unknown"]),
        ("withheld=none", ["a/full", "a/bare"]),
        ("withheld=unknown", []),
        ("released=no", ["a/unknown"]),
        ("check=no-node", ["q/1"]),
        ("group=gone", []),
        ("check=nonsense", []),
        ("tests=yes&reference=yes&released=yes&q=full", ["a/full"]),
    ],
)
def test_filters_keep_what_they_say(cast: Any, query: str, found: list[str]) -> None:
    made = with_filters()
    Problem.objects.filter(task_id="q/1").update(has_baseline=False)  # a question needs no reference
    page = listed(cast.organiser, made, f"?{query}")
    assert shown(page) == found
    assert f"{len(found)} of 4 problems fit" in words(page) or "of 4 problems fits" in words(page)


def test_the_filter_that_is_asked_is_shown_even_if_nothing_has_its_value_now(cast: Any, few: Release) -> None:
    page = words(listed(cast.organiser, few, "?group=gone&timed=no"))
    assert '<option value="gone" selected>' in page
    assert "<details open><summary>More filters" in page
    assert '<option value="group-1">group-1 (1)</option>' in page


def test_the_states_of_verifying_filter_the_list(cast: Any) -> None:
    made = with_filters()
    track = factories.offer(made)
    drafts.change_problem(cast.organiser, row(made, "a/full"), packs.problem("a/full"), row(made, "a/full").record_md5)
    verify(cast.organiser, made, track)
    judge_checks(made)
    changed = row(made, "a/unknown")
    drafts.change_problem(cast.organiser, changed, packs.problem("a/unknown", timeout_seconds=9), changed.record_md5)
    cuda = add_problem(made, packs.problem("a/cuda", type="cuda_cpp"))
    drafts.bring_back(cast.organiser, *_left_out(cast, cuda))
    found = {name: shown(listed(cast.organiser, made, f"?check={name}"))
             for name in ("verified", "open", "changed", "no-track", "no-node")}  # fmt: skip
    assert found == {
        "verified": ["a/full"], "open": ["a/bare", "a/unknown"], "changed": ["a/unknown"], "no-track": ["a/cuda"],
        "no-node": ["q/1"],
    }  # fmt: skip
    assert "changed since</strong>: its reference has not been run" in words(listed(cast.organiser, made))


def _left_out(cast: Any, *rows: Problem) -> tuple[Problem, ...]:
    drafts.leave_out(cast.organiser, *rows)
    return rows


def test_a_revision_is_filtered_by_what_changed_since_the_last(cast: Any) -> None:
    first = factories.release(3, problem=example)
    made = drafts.next_revision(cast.organiser, first)
    one = row(made, "a/1")
    drafts.change_problem(cast.organiser, one, packs.problem("a/1", prompt="Other."), one.record_md5)
    add_problem(made, packs.problem("a/9"))
    found = {name: shown(listed(cast.organiser, made, f"?since={name}")) for name in ("new", "changed", "same")}
    assert found == {"new": ["a/9"], "changed": ["a/1"], "same": ["a/0", "a/2"]}


def test_one_problem_is_moved_by_110_places_in_two_requests(cast: Any, many: Release) -> None:
    effect = choose(cast.organiser, many, "move", [row(many, "a/0")], place="150")
    page = words(effect)
    assert "a/0 gets place 150, of 250 places: behind a/149, before a/150." in page
    assert "149 problems besides change place." in page
    assert order(many)[0] == "a/0", "the effect is told before anything is done"
    done = confirm(cast.organiser, effect)
    assert "a/0 has place 150 now." in words(done)
    assert done.redirect_chain[-1][0].endswith(f"?page=2#problem-{row(many, 'a/0').pk}")
    assert order(many)[149] == "a/0"
    entry = AuditEntry.objects.get(action="move problem", actor=cast.organiser)
    assert entry.told == "a/0: 1 → 150"


def test_several_move_together_in_their_order(cast: Any, few: Release) -> None:
    chosen = [row(few, name) for name in ("a/4", "a/0", "a/2")]
    effect = choose(cast.organiser, few, "move", chosen, place="2")
    assert "3 problems get the places 2 to 4, in the order that they have now" in words(effect)
    assert "of 6 places: behind a/1, before a/3" in words(effect)
    confirm(cast.organiser, effect)
    assert order(few) == ["a/1", "a/0", "a/2", "a/4", "a/3", "a/5"]
    assert AuditEntry.objects.get(action="move problem").detail["was"] == {"a/0": 1, "a/2": 3, "a/4": 5}
    confirm(cast.organiser, choose(cast.organiser, few, "move", chosen, place="6"))
    assert order(few) == ["a/1", "a/3", "a/5", "a/0", "a/2", "a/4"]


@pytest.mark.parametrize("place", ["", "0", "7", "-1", "two", "2.5", "٣", "9" * 50])
def test_a_place_that_is_none_is_refused_and_the_ticks_stay(cast: Any, few: Release, place: str) -> None:
    answer = choose(cast.organiser, few, "move", [row(few, "a/1")], place=place)
    assert answer.status_code == 422
    what = f"{place[:20]} is no place of this draft." if place else "The place is missing."
    assert f"{what} Type a number from 1 to 6." in words(answer)
    assert "aria-invalid" in words(answer)
    assert f'value="{row(few, "a/1").pk}" checked' in words(answer)
    assert f'name="place" value="{place}"' in words(answer)
    forged = signed_in(cast.organiser).post(
        address("draft_chosen", few.pk), {"act": "move", "confirmed": "1", "place": place}
    )
    assert forged.status_code == 422
    assert order(few) == [f"a/{n}" for n in range(6)]


def test_all_that_fit_on_three_pages_are_left_out_and_brought_back(cast: Any, many: Release) -> None:
    factories.offer(many)
    query = "?q=sort+list"
    effect = choose(cast.organiser, many, "leave-out", query=query, all="1")
    page = words(effect)
    assert "250 problems leave the draft; 0 stay. What is left out is kept in this draft" in page
    assert "And 150 more." in page
    assert many.problems.count() == 250
    done = confirm(cast.organiser, effect)
    assert "250 problems are left out" in words(done)
    assert done.redirect_chain[-1][0].endswith(query)
    assert many.problems.count() == 0
    assert not ProblemTrack.objects.filter(problem__release=many).exists()
    entry = AuditEntry.objects.get(action="leave out problem")
    assert (entry.detail["n"], len(entry.detail["problems"])) == (250, 250)
    assert "Left out (250)" in words(listed(cast.organiser, many))
    effect = choose(cast.organiser, many, "bring-back", query="?part=left-out&group=group-2", all="1")
    assert "50 problems come back, each behind the problem that it stood behind. The draft has 50" in words(effect)
    confirm(cast.organiser, effect)
    assert order(many) == [f"a/{n}" for n in range(2, 250, 5)]
    assert ProblemTrack.objects.filter(problem__release=many).count() == 50


def test_only_what_fits_the_filter_is_left_out(cast: Any, few: Release) -> None:
    confirm(cast.organiser, choose(cast.organiser, few, "leave-out", query="?group=group-0", all="1"))
    assert order(few) == ["a/1", "a/2", "a/3", "a/4"]


def test_leaving_out_tells_what_is_lost_with_it(cast: Any, few: Release) -> None:
    track = factories.offer(few)
    verify(cast.organiser, few, track)
    judge_checks(few)
    changed = row(few, "a/2")
    drafts.change_problem(
        cast.organiser, changed, packs.problem("a/2", timeout_seconds=9, group="group-2"), changed.record_md5
    )
    verify(cast.organiser, few, track)
    Release.objects.filter(pk=few.pk).update(weights={"group-1": 2.0})
    chosen = [row(few, name) for name in ("a/0", "a/1", "a/2")]
    page = words(choose(cast.organiser, few, "leave-out", chosen))
    assert "3 problems leave the draft; 3 stay" in page
    assert "Verified of them now: 2. What is brought back must be verified anew." in page
    assert "Evaluations of them that wait or run on nodes and are cancelled: 2." in page
    assert "Groups that have no problem then: group-1, group-2." in page
    assert "The release has weights of group-1: take them away before you publish." in page
    assert Evaluation.objects.filter(state="queued").count() == 2


def test_a_rows_own_button_leaves_out_that_row_alone(cast: Any, few: Release) -> None:
    one = row(few, "a/3")
    effect = choose(cast.organiser, few, f"leave-out:{one.pk}", [row(few, "a/1")])
    assert "a/3 leaves the draft; 5 stay" in words(effect)
    confirm(cast.organiser, effect)
    assert order(few) == ["a/0", "a/1", "a/2", "a/4", "a/5"]


def test_what_is_brought_back_returns_to_its_neighbour_after_moves(cast: Any, few: Release) -> None:
    drafts.leave_out(cast.organiser, row(few, "a/2"))
    confirm(cast.organiser, choose(cast.organiser, few, "move", [row(few, "a/1")], place="5"))
    effect = choose(cast.organiser, few, "bring-back", [row(few, "a/2")], query="?part=left-out")
    assert "To be verified on a node, even if verified before: 1 problem." in words(effect)
    confirm(cast.organiser, effect)
    assert order(few) == ["a/0", "a/3", "a/4", "a/5", "a/1", "a/2"]


def test_ticks_of_other_pages_are_kept(cast: Any, many: Release) -> None:
    first, second = row(many, "a/3"), row(many, "a/120")
    path = address("draft", many.pk)
    fields = opened_list(cast.organiser, path) | {"problem": [first.pk], "place": "7"}
    page = signed_in(cast.organiser).post(f"{path}?page=2", fields)
    assert page.status_code == 200
    assert f'name="kept" value="{first.pk}"' in words(page)
    assert "1 ticked on other pages" in words(page)
    assert 'name="place" value="7"' in words(page)
    effect = choose(cast.organiser, many, "move", [second], place="1", kept=str(first.pk))
    confirm(cast.organiser, effect)
    assert order(many)[:3] == ["a/3", "a/120", "a/0"]


def test_the_way_back_from_the_effect_keeps_what_is_chosen(cast: Any, few: Release) -> None:
    one = row(few, "a/1")
    effect = choose(cast.organiser, few, "move", [one], place="3")
    page = signed_in(cast.organiser).post(address("draft", few.pk), sent_by(text(effect), "confirm"))
    assert f'value="{one.pk}" checked' in words(page)
    assert 'name="place" value="3"' in words(page)
    assert order(few)[1] == "a/1"


def test_nothing_chosen_is_said_in_words(cast: Any, few: Release) -> None:
    answer = choose(cast.organiser, few, "leave-out", place="4")
    assert (answer.status_code, "No problem is chosen." in words(answer)) == (422, True)
    assert 'name="place" value="4"' in words(answer)


def change(cast: Any, release: Release, task_id: str) -> None:
    one = row(release, task_id)
    fields = packs.problem(task_id, prompt="Changed.", group=one.group)
    drafts.change_problem(cast.organiser, one, fields, one.record_md5)


STALE = {
    "changed": lambda cast, few: change(cast, few, "a/1"),
    "moved": lambda cast, few: drafts.move_problem(cast.organiser, row(few, "a/5"), -2),
    "left out": lambda cast, few: drafts.leave_out(cast.organiser, row(few, "a/1")),
    "added": lambda cast, few: drafts.add_problem(cast.organiser, few, packs.problem("b/1")),
}


@pytest.mark.parametrize("meanwhile", STALE)
def test_a_list_that_is_stale_is_refused_and_keeps_what_was_chosen(cast: Any, few: Release, meanwhile: str) -> None:
    fields = opened_list(cast.organiser, address("draft", few.pk))
    kept = row(few, "a/3")
    STALE[meanwhile](cast, few)
    before = order(few)
    fields |= {"problem": [kept.pk, row(few, "a/1").pk], "place": "2", "act": "move"}
    answer = signed_in(cast.organiser).post(address("draft_chosen", few.pk), fields)
    page = words(answer)
    assert answer.status_code == 422
    assert "was changed since you opened this page: the" in page
    assert " By organiser at " in page
    assert f'value="{kept.pk}" checked' in page
    assert 'name="place" value="2"' in page
    again = signed_in(cast.organiser).post(address("draft_chosen", few.pk), _pressed(answer) | {"act": "move"})
    assert again.status_code == 200, "the page as it is now can be sent"
    assert order(few) == before


def _pressed(answer: Any) -> dict[str, Any]:
    ticked = [one.problem.pk for one in answer.context["rows"] if one.is_ticked]
    return dict(sent_by(text(answer), "chosen")) | {"problem": ticked}


@pytest.mark.parametrize("meanwhile", STALE)
def test_a_confirmation_that_is_stale_does_nothing_and_tells_the_effect_anew(
    cast: Any, few: Release, meanwhile: str
) -> None:
    effect = choose(cast.organiser, few, "move", [row(few, "a/1"), row(few, "a/3")], place="5")
    STALE[meanwhile](cast, few)
    before = order(few)
    url = address("draft_chosen", few.pk)
    answer = signed_in(cast.organiser).post(url, sent_by(text(effect), "confirm") | {"confirmed": "1"})
    assert answer.status_code == 422
    assert "was changed since you opened this page" in words(answer)
    assert order(few) == before
    done = signed_in(cast.organiser).post(url, sent_by(text(answer), "confirm") | {"confirmed": "1"}, follow=True)
    assert "now." in words(done)
    assert order(few) != before


def test_a_confirmation_without_the_state_it_was_opened_on_is_refused(cast: Any, few: Release) -> None:
    said = {"act": "leave-out", "kept": str(row(few, "a/1").pk), "confirmed": "1"}
    answer = signed_in(cast.organiser).post(address("draft_chosen", few.pk), said)
    assert answer.status_code == 422
    assert "does not say which state of the draft" in words(answer)
    assert few.problems.count() == 6


def test_an_act_is_refused_if_all_that_was_chosen_is_gone(cast: Any, few: Release) -> None:
    effect = choose(cast.organiser, few, "leave-out", [row(few, "a/1")])
    drafts.leave_out(cast.organiser, row(few, "a/1"))
    url = address("draft_chosen", few.pk)
    answer = signed_in(cast.organiser).post(url, sent_by(text(effect), "confirm") | {"confirmed": "1"})
    assert (answer.status_code, "was changed since" in words(answer)) == (422, True)
    assert AuditEntry.objects.filter(action="leave out problem").count() == 1


def test_acts_that_are_none_and_problems_of_other_drafts_are_not_found(cast: Any, few: Release) -> None:
    other = factories.release(1, "other-1", publish=False)
    browser, url = signed_in(cast.organiser), address("draft_chosen", few.pk)
    assert browser.get(url).status_code == 405
    assert browser.post(url, {"act": "nonsense"}).status_code == 404
    assert browser.post(url, {"act": "bring-back"}).status_code == 404
    assert browser.post(f"{url}?part=left-out", {"act": "leave-out"}).status_code == 404
    answer = choose(cast.organiser, few, "leave-out", list(other.problems.all()), kept="x,-1,99999999999999999999,")
    assert "No problem is chosen." in words(answer)


def test_a_rows_buttons_lead_back_to_the_list_as_it_was_filtered(cast: Any, few: Release) -> None:
    one = row(few, "a/3")
    answer = signed_in(cast.organiser).post(address("draft_act", few.pk, one.pk, "up") + "?group=group-3&page=1")
    assert answer.url == f"{address('draft', few.pk)}?group=group-3&page=1#problem-{one.pk}"
    page = words(listed(cast.organiser, few, "?group=group-3"))
    assert f"/{one.pk}/up/?group=group-3" in page


def test_a_problems_page_leads_back_to_the_list_as_it_was_filtered(cast: Any, few: Release) -> None:
    one = row(few, "a/3")
    path = f"{address('draft_problem', few.pk, one.pk)}?group=group-3"
    assert f'href="{path}"' in words(listed(cast.organiser, few, "?group=group-3"))
    browser, back = signed_in(cast.organiser), f"{address('draft', few.pk)}?group=group-3#problem-{one.pk}"
    page = browser.get(path)
    assert f'href="{back}">Cancel' in words(page)
    fields = sent_by(text(page), "draft-form") | {"title": "Other"}
    assert browser.post(path, fields).url == back
    assert browser.post(path, sent_by(text(browser.get(path)), "draft-form") | {"stay": "1"}).url == path


def cost(browser: Any, path: str, fields: Any = None) -> int:
    with CaptureQueriesContext(connection) as queries, zeal_context():
        answer = browser.get(path) if fields is None else browser.post(path, fields)
        assert answer.status_code == 200
    return len(queries)


def costs(cast: Any, release: Release, n: int) -> list[int]:
    """Queries of the list in its forms, and of each page that tells an effect."""
    browser, path = signed_in(cast.organiser), address("draft", release.pk)
    browser.get(path)
    lists = [cost(browser, path + query) for query in ("", "?q=a", "?tests=yes", "?check=open&reference=yes")]
    effects = []
    for act in ("move", "leave-out"):
        fields = opened_list(cast.organiser, path) | {"all": "1", "act": act, "place": "1"}
        effects.append(cost(browser, address("draft_chosen", release.pk), fields))
    assert release.problems.count() == n
    return lists + effects


def test_twenty_problems_or_more_than_a_page_of_them_cost_the_same_queries(cast: Any) -> None:
    n_many = PER_PAGE + 10
    few, many = draft_of(20, name="few-1"), draft_of(n_many, name="many-1")
    for one in (few, many):
        verify(cast.organiser, one, factories.offer(one))
        judge_checks(one)
    found = costs(cast, few, 20)
    assert found == costs(cast, many, n_many)
    assert max(found) <= 30


def test_left_out_problems_are_paged_and_deleted(cast: Any, many: Release) -> None:
    drafts.leave_out(cast.organiser, *many.problems.select_related("release"))
    page = listed(cast.organiser, many, "?part=left-out&page=3")
    assert shown(page) == [f"a/{n}" for n in range(200, 250)]
    assert "Delete a/200 for good?" in words(page)
    assert "Move to place" not in words(page)

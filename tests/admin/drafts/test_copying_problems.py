"""Problems of another release are copied into a draft: searched, filtered and chosen over all pages of the list."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from zeal import zeal_context

from leaderboard.actions.problems import drafts
from leaderboard.errors import NotAllowed
from leaderboard.models import AuditEntry, ProblemTrack
from problems.actions.draft_copies import copy_problems as copied
from problems.actions.draft_copies import foreseen_copies
from problems.actions.drafts import add_problem, record_with
from problems.actions.releases import ReleaseRefused, import_release
from problems.formats.compute_eval.packs import problem_pack_from
from problems.models import Problem, ProblemBlob, Release
from problems.spec.profile import Profile
from tests import factories, packs
from tests.admin.drafts.list_forms import address, choose_copies, confirm, opened_list, shown, words
from tests.admin.pages import signed_in, text
from tests.admin.sent_form import sent_by

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
FROM = "?from=other-1"


def example(n: int) -> dict[str, Any]:
    return packs.problem(f"b/{n}", prompt=f"Scan number {n}.", group=f"group-{n % 5}")


def other_release(n: int, name: str = "other-1") -> Release:
    return factories.release(n, name, problem=example)


@pytest.fixture
def draft() -> Release:
    made = factories.release(2, publish=False)
    factories.offer(made)
    return made


def copies(draft: Release) -> list[str]:
    rows = draft.problems.filter(task_id__startswith="b/")
    return list(rows.order_by("position").values_list("task_id", flat=True))


def test_ticked_problems_are_copied_once_their_effect_is_told(cast: Any, draft: Release) -> None:
    other = factories.release(4, "other-1", publish=False, problem=example)
    one, two = other.problems.filter(task_id__in=["b/1", "b/3"]).order_by("position")
    ProblemBlob.objects.create(problem=one, name="data.bin", sha256="0" * 64, size_bytes=5, audience="public")
    effect = choose_copies(cast.organiser, draft, FROM, [two, one])
    page = words(effect)
    assert "2 problems of other-1 are copied. The draft has 4 problems then; the copies come last, from place 3" in page
    assert copies(draft) == []
    done = confirm(cast.organiser, effect)
    assert "2 problems copied of other-1." in words(done)
    assert shown(done)[-2:] == copies(draft) == ["b/1", "b/3"]
    made = draft.problems.get(task_id="b/1")
    assert made.record_md5 == record_with(example(1), Profile.PODIUM).md5
    blob = ProblemBlob.objects.get(problem=made)
    assert (blob.name, blob.size_bytes, blob.audience) == ("data.bin", 5, "public")
    assert ProblemBlob.objects.get(problem=one).pk != blob.pk
    assert ProblemTrack.objects.filter(problem__release=draft).count() == 4
    entry = AuditEntry.objects.get(action="copy problems", actor=cast.organiser)
    draft.refresh_from_db()
    assert entry.detail == {"copy_of": "other-1", "problems": ["b/1", "b/3"], "digest": draft.digest[:12]}


def test_all_that_fit_on_three_pages_are_copied_in_two_requests(cast: Any, draft: Release) -> None:
    other_release(250)
    effect = choose_copies(cast.organiser, draft, f"{FROM}&q=scan", all="1")
    assert "250 problems of other-1 are copied." in words(effect)
    assert "And 150 more." in words(effect)
    done = confirm(cast.organiser, effect)
    assert copies(draft) == [f"b/{n}" for n in range(250)]
    assert done.context["page"].number == 3


def test_the_copy_page_is_searched_and_filtered(cast: Any, draft: Release) -> None:
    other_release(120)
    add_problem(draft, example(7))
    browser, path = signed_in(cast.organiser), address("draft_copy", draft.pk)
    queries = ("q=SCAN+99", "here=yes", "group=group-2&q=1", "page=2", "reference=no", "difficulty=x")
    found = {query: shown(browser.get(f"{path}{FROM}&{query}")) for query in queries}
    assert (found["q=SCAN+99"], found["here=yes"]) == (["b/99"], ["b/7"])
    assert found["group=group-2&q=1"] == ["b/12", "b/17", "b/102", "b/107", "b/112", "b/117"]
    assert found["page=2"] == [f"b/{n}" for n in range(100, 120)]
    assert found["reference=no"] == found["difficulty=x"] == []
    page = words(browser.get(path + FROM + "&here=no"))
    assert "119 of 120 problems fit." in page
    assert f'href="{path}?from=other-1&here=no&page=2"' in page
    assert browser.get(path + "?from=nowhere").status_code == 404
    assert browser.get(path).status_code == 404
    assert browser.get(f"{path}?from={draft.slug}").status_code == 404


def test_what_cannot_be_copied_is_named_with_its_reason(cast: Any, draft: Release) -> None:
    other = other_release(3)
    add_problem(draft, example(0))
    left_out = add_problem(draft, example(1))
    drafts.leave_out(cast.organiser, left_out)
    effect = choose_copies(cast.organiser, draft, FROM, all="1")
    page = words(effect)
    assert "1 problem of other-1 is copied." in page
    assert "2 problems cannot be copied" in page
    assert "a problem with this task_id is in this draft" in page
    assert "a problem with this task_id is left out of this draft" in page
    confirm(cast.organiser, effect)
    assert copies(draft) == ["b/0", "b/2"]
    nothing = choose_copies(cast.organiser, draft, FROM, list(other.problems.all()))
    assert "Nothing is copied." in words(nothing)
    assert 'name="confirmed"' not in words(nothing)
    forged = signed_in(cast.organiser).post(
        address("draft_copy", draft.pk) + FROM, sent_by(text(nothing), "confirm") | {"confirmed": "1"}
    )
    assert "Nothing was copied." in words(forged)


def test_a_draft_of_the_strict_profile_takes_no_problem_of_another_kind(draft: Release) -> None:
    fields = packs.problem("CUDA/1", type="cuda_cpp", group="cuda-runtime", podium=None)
    fields["metadata"]["releases"] = ["2025-1"]
    head = {"release": "2025-1", "total_count": 1, "created_at": "2026-01-01T00:00:00"}
    strict = import_release(problem_pack_from(json.dumps(head).encode(), packs.line(fields))).release
    found = foreseen_copies(strict, list(draft.problems.select_related("release")))
    assert not found.records
    assert "does not match any of the expected tags: 'cuda_cpp', 'cuda_python'" in found.refused[0][1]


def test_nothing_chosen_is_said_in_words_and_ticks_of_other_pages_are_kept(cast: Any, draft: Release) -> None:
    other = other_release(120)
    answer = choose_copies(cast.organiser, draft, FROM)
    assert (answer.status_code, "No problem is chosen." in words(answer)) == (422, True)
    one = other.problems.get(task_id="b/3")
    path = address("draft_copy", draft.pk) + FROM
    fields = opened_list(cast.organiser, path) | {"problem": [one.pk]}
    page = words(signed_in(cast.organiser).post(f"{path}&page=2", fields))
    assert f'name="kept" value="{one.pk}"' in page
    confirm(cast.organiser, choose_copies(cast.organiser, draft, FROM, kept=str(one.pk)))
    assert copies(draft) == ["b/3"]


def _copy_one(cast: Any, draft: Release, other: Release) -> None:
    drafts.copy_problems(cast.organiser, draft, [other.problems.select_related("release").get(task_id="b/1")])


def _change_source(cast: Any, _draft: Release, other: Release) -> None:
    one = other.problems.select_related("release").get(task_id="b/2")
    drafts.change_problem(cast.organiser, one, packs.problem("b/2", prompt="Other."), one.record_md5)


@pytest.mark.parametrize("meanwhile", [_copy_one, _change_source])
def test_a_stale_form_copies_nothing_and_keeps_what_was_chosen(cast: Any, draft: Release, meanwhile: Any) -> None:
    other = factories.release(4, "other-1", publish=False, problem=example)
    chosen = list(other.problems.filter(task_id__in=["b/1", "b/2"]))
    path = address("draft_copy", draft.pk) + FROM
    fields = opened_list(cast.organiser, path) | {"problem": [one.pk for one in chosen], "act": "copy"}
    effect = choose_copies(cast.organiser, draft, FROM, chosen)
    meanwhile(cast, draft, other)
    before = copies(draft)
    refused = signed_in(cast.organiser).post(path, fields)
    assert refused.status_code == 422
    assert "was changed since you opened this page: the problems of" in words(refused)
    assert [one.problem.task_id for one in refused.context["rows"] if one.is_ticked] == ["b/1", "b/2"]
    late = signed_in(cast.organiser).post(path, sent_by(text(effect), "confirm") | {"confirmed": "1"})
    assert (late.status_code, "was changed since" in words(late)) == (422, True)
    assert copies(draft) == before
    signed_in(cast.organiser).post(path, sent_by(text(late), "confirm") | {"confirmed": "1"})
    assert set(copies(draft)) == {"b/1", "b/2"}


def test_twenty_problems_or_two_hundred_cost_the_same_queries(cast: Any, draft: Release) -> None:
    other_release(20, "few-1")
    other_release(200, "many-1")
    browser, found = signed_in(cast.organiser), []
    path = address("draft_copy", draft.pk)
    browser.get(f"{path}?from=few-1")
    for name in ("few-1", "many-1"):
        for query in ("", "&q=b", "&tests=yes&here=no"):
            with CaptureQueriesContext(connection) as queries, zeal_context():
                assert browser.get(f"{path}?from={name}{query}").status_code == 200
            found.append(len(queries))
        fields = opened_list(cast.organiser, f"{path}?from={name}") | {"all": "1", "act": "copy"}
        with CaptureQueriesContext(connection) as queries, zeal_context():
            assert browser.post(f"{path}?from={name}", fields).status_code == 200
        found.append(len(queries))
    assert found[:4] == found[4:]
    assert max(found) <= 40


def test_copying_asks_no_query_for_each_problem(cast: Any, draft: Release) -> None:
    found = []
    for n in (10, 100):
        sources = list(other_release(n, f"of-{n}").problems.select_related("release"))
        Problem.objects.filter(release=draft, task_id__startswith="b/").delete()
        with CaptureQueriesContext(connection) as queries:
            copied(draft, sources)
        found.append(len(queries))
    assert found[1] <= found[0] + 5, "SQLite takes some forty rows at a time"


def test_copying_into_a_published_release_and_by_others_than_organisers_is_refused(cast: Any, draft: Release) -> None:
    sources = list(other_release(1).problems.select_related("release"))
    with pytest.raises(NotAllowed):
        drafts.copy_problems(cast.owner, draft, sources)
    published = factories.release(1, "published-1")
    with pytest.raises(ReleaseRefused, match="its problems never change"):
        drafts.copy_problems(cast.organiser, published, sources)
    assert signed_in(cast.organiser).get(address("draft_copy", published.pk) + FROM).status_code == 404


def test_copies_get_slugs_of_their_own(draft: Release) -> None:
    add_problem(draft, packs.problem("b-0"))
    made = copied(draft, list(other_release(1).problems.select_related("release")))
    assert [one.slug for one in made] == ["b-0-2"]

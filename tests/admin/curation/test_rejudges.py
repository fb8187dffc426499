"""A rejudge in the admin: started from a form, watched on its page, applied or dropped by an organiser alone."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from leaderboard.actions.rejudging.rejudge import RejudgeScope, start
from leaderboard.models import Evaluation, Rejudge
from runners.wire.protocol import Purpose, Verdict
from tests.admin.pages import act, signed_in, text
from tests.fleet.site import Site, WireNode, passed
from tests.made_once import copied, of_module
from tests.packs import problem

pytestmark = pytest.mark.django_db
REJUDGE = "leaderboard_rejudge"
FAILED = passed().model_copy(update={"verdict": Verdict.TEST_FAILED})


def _make() -> Site:
    """Two problems, two samples each, all passed."""
    made = Site.make([problem("a/1"), problem("a/2")])
    made.submit({"a/1": ["exit 0", "exit 1"], "a/2": ["exit 0", "exit 1"]})
    work_all()
    return made


made_site = of_module(_make)


site = copied


def work_all(report: Any = None, n: int = 100) -> None:
    node = WireNode()
    for work in node.take_up_to(n):
        assert node.report(work, report).status_code == 200


def page_of(site: Site, rejudge: Rejudge, query: str = "") -> str:
    answer = signed_in(site.organiser).get(reverse(f"admin:{REJUDGE}_change", args=[rejudge.pk]) + query)
    assert answer.status_code == 200
    return text(answer)


def test_one_is_started_watched_and_applied_on_the_site(site: Site) -> None:
    said = {"release": site.release.pk, "task_ids": "a/1", "reason": "mended", "counted_only": "on"}
    answer = act(site.organiser, REJUDGE, "start", **said)
    made = Rejudge.objects.get()
    assert answer.url == reverse(f"admin:{REJUDGE}_change", args=[made.pk])
    assert "Running: 0 of 2 judged" in page_of(site, made)
    work_all(FAILED)
    page = page_of(site, made)
    assert "Ready: all 2 are judged" in page
    assert "2 verdicts; 0 times" in page
    for one in Evaluation.objects.filter(problem__task_id="a/1"):
        assert reverse("evaluation", args=[one.pk]) in page
    made.refresh_from_db()
    assert "2 applied." in text(act(site.organiser, REJUDGE, "apply", made, reason="The harness was wrong."))
    assert "The harness was wrong." in page_of(site, made)
    live = Evaluation.objects.live().filter(problem__task_id="a/1").first()
    assert live is not None
    assert "The harness was wrong." in text(Client().get(live.get_absolute_url()))


def test_a_release_and_a_drop(site: Site) -> None:
    answer = act(site.organiser, "problems_release", "rejudge", site.release, task_ids="", reason="why")
    assert answer.status_code == 302
    made = Rejudge.objects.get()
    assert "Nothing has changed." in text(act(site.organiser, REJUDGE, "drop", made))
    assert act(site.organiser, REJUDGE, "drop", made).status_code == 404


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"reason": "why"}, "Name a release or a node"),
        ({"reason": "why", "task_ids": "a/1"}, "choose the release too"),
        ({"reason": "why", "task_ids": "a/9 b", "release": "it"}, "has no problem a/9, b"),
        ({"reason": "why", "task_ids": "a/9\0", "release": "it"}, "Null characters"),
        ({"reason": "", "release": "it"}, "This field is required"),
        ({"reason": "why", "node": "no such node!"}, "valid"),
        ({"reason": "why", "node": "nobody"}, "no finished evaluation"),
        ({"reason": "why", "release": "999999"}, "valid choice"),
    ],
)
def test_bad_forms_are_refused_in_words(site: Site, said: dict[str, Any], words: str) -> None:
    given = {**said, "release": site.release.pk} if said.get("release") == "it" else said
    answer = act(site.organiser, REJUDGE, "start", **given)
    assert answer.status_code == 422
    assert words in text(answer)
    assert not Rejudge.objects.exists()


def test_changed_samples_come_100_a_page_with_the_same_queries(
    site: Site, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    monkeypatch.setattr("leaderboard.curation.rejudging.PAGE_ROWS", 3)
    made = start(site.organiser, RejudgeScope(site.release), "why")
    work_all(FAILED)
    browser = signed_in(site.organiser)
    with django_assert_max_num_queries(22):
        first = text(browser.get(reverse(f"admin:{REJUDGE}_change", args=[made.pk])))
    assert first.count(">shadow</a>") == 3
    assert "1 of 2" in first
    assert page_of(site, made, "?page=2").count(">shadow</a>") == 1
    assert "No sample has changed." in page_of(site, made, "?change=time")
    assert page_of(site, made, "?change=nonsense&page=x")


def test_only_organisers_see_and_do_it(site: Site) -> None:
    made = start(site.organiser, RejudgeScope(site.release), "why")
    work_all(FAILED)
    addresses = [
        reverse(f"admin:{REJUDGE}_changelist"),
        reverse(f"admin:{REJUDGE}_change", args=[made.pk]),
        reverse(f"admin:{REJUDGE}_list_act", args=["start"]),
        *(reverse(f"admin:{REJUDGE}_act", args=[made.pk, name]) for name in ("apply", "drop")),
    ]
    owner = signed_in(site.owner)
    for browser in (Client(), owner):
        for address in addresses:
            for answer in (browser.get(address), browser.post(address, {"reason": "mine"})):
                assert answer.status_code == 302
                assert "/login" in answer.url
    made.refresh_from_db()
    assert made.state == "ready"


def test_a_shadow_page_says_what_it_is(site: Site) -> None:
    start(site.organiser, RejudgeScope(site.release), "why")
    shadow = Evaluation.objects.filter(purpose=Purpose.SHADOW).first()
    assert shadow is not None
    assert "shadow evaluation" in text(signed_in(site.organiser).get(shadow.get_absolute_url()))
    assert Client().get(shadow.get_absolute_url()).status_code == 404


def test_the_command_starts_shows_and_applies(site: Site, capsys: Any) -> None:
    call_command("rejudge", site.release.slug, problem=["a/1"], reason="mended")
    assert "Rejudge #" in capsys.readouterr().out
    work_all(FAILED)
    made = Rejudge.objects.get()
    call_command("rejudge", show=made.pk)
    assert "passed → test_failed: 2" in capsys.readouterr().out
    with pytest.raises(CommandError, match="--as USERNAME"):
        call_command("rejudge", apply=made.pk, reason="public")
    call_command("rejudge", apply=made.pk, reason="public", user="organiser")
    assert "2 applied" in capsys.readouterr().out
    with pytest.raises(CommandError, match="is applied already"):
        call_command("rejudge", drop=made.pk)
    with pytest.raises(CommandError, match="no problem a/9"):
        call_command("rejudge", site.release.slug, problem=["a/9"], reason="x")

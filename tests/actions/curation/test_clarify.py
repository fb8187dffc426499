"""Clarifications: who may ask and how often, who reads which answer, and what an erratum does."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.curation import clarify
from leaderboard.errors import Conflict, NotAllowed, Refused, TooMuch
from leaderboard.models import AuditEntry, Clarification, Decision
from leaderboard.visibility import visible_clarifications
from tests import factories
from tests.admin.pages import act, signed_in, text

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
MODEL = "leaderboard_clarification"


@pytest.fixture
def problem(cast: Any) -> Any:
    made = factories.release(1)
    factories.offer(made)
    return made.problems.get()


def page_of(user: Any, problem: Any) -> str:
    path = reverse("problem", args=[problem.release.slug, problem.slug])
    client = signed_in(user) if user else Client()
    return text(client.get(path))


def test_a_question_is_asked_on_the_problems_page_and_answered_to_the_asker_alone(cast: Any, problem: Any) -> None:
    path = reverse("ask_about", args=[problem.release.slug, problem.slug])
    answer = signed_in(cast.owner).post(path, {"kind": "question", "text": " May I use <b>atomics</b>? "})
    asked = Clarification.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (302, asked.get_absolute_url())
    assert asked.text == "May I use <b>atomics</b>?"
    assert AuditEntry.objects.get(action="ask").actor == cast.owner
    act(cast.organiser, MODEL, "answer", asked, answer="You may.", shown_to="asker", public_text="x")
    assert "You may." in page_of(cast.owner, problem)
    assert "&lt;b&gt;atomics" in page_of(cast.owner, problem)
    for user in (None, cast.stranger):
        assert "You may." not in page_of(user, problem)
        assert "atomics" not in page_of(user, problem)


def test_a_public_answer_stands_on_both_pages_in_the_organisers_wording(cast: Any, problem: Any) -> None:
    asked = clarify.ask(cast.owner, problem, "question", "My kernel at 10.0.0.7 may use atomics?")
    act(cast.organiser, MODEL, "answer", asked, answer="You may.", shown_to="all", public_text="May one use atomics?")
    about = text(signed_in(cast.stranger).get(reverse("release_about", args=[problem.release.slug])))
    for page in (page_of(None, problem), page_of(cast.stranger, problem), about):
        assert "You may." in page
        assert "May one use atomics?" in page
        assert "10.0.0.7" not in page
        assert "owner" not in page.partition('id="clarifications"')[2].partition("</section>")[0]
    act(cast.organiser, MODEL, "answer", asked, answer="Wait.", shown_to="asker", public_text="")
    assert "You may." not in page_of(cast.stranger, problem)


def test_a_reported_fault_becomes_an_erratum(cast: Any, problem: Any) -> None:
    asked = clarify.ask(cast.owner, problem, "fault", "Its reference overflows.")
    page = text(act(cast.organiser, MODEL, "erratum", asked, reason="The reference overflows."))
    assert "is void" in page
    asked.refresh_from_db()
    assert asked.erratum == Decision.objects.get(problem=problem)
    assert "The reference overflows." in page_of(None, problem)
    with pytest.raises(Conflict, match="void already"):
        clarify.make_erratum(cast.organiser, clarify.ask(cast.owner, problem, "fault", "Again."), "Twice.")
    assert not Clarification.objects.get(text="Again.").answered_at


def test_only_who_may_read_the_problem_may_ask_and_only_organisers_answer(cast: Any, problem: Any) -> None:
    hidden = factories.release(1, "hidden-1", is_public=False)
    with pytest.raises(NotAllowed):
        clarify.ask(cast.stranger, hidden.problems.get(), "question", "What is it?")
    asked = clarify.ask(cast.owner, problem, "question", "Why?")
    for change in (
        lambda: clarify.answer(cast.owner, asked, "So.", public_text=""),
        lambda: clarify.make_erratum(cast.owner, asked, "Mine."),
    ):
        with pytest.raises(NotAllowed):
            change()
    assert not Decision.objects.exists()
    assert list(visible_clarifications(cast.stranger, problem.release)) == []
    assert list(visible_clarifications(cast.owner, problem.release)) == [asked]
    assert list(visible_clarifications(cast.organiser, problem.release)) == [asked]


@pytest.mark.parametrize(("kind", "words"), [("question", " \0 "), ("question", "x" * 4001), ("praise", "Good.")])
def test_bad_words_are_refused_and_shown_beside_the_form(cast: Any, problem: Any, kind: str, words: str) -> None:
    with pytest.raises(Refused):
        clarify.ask(cast.owner, problem, kind, words)
    path = reverse("ask_about", args=[problem.release.slug, problem.slug])
    answer = signed_in(cast.owner).post(path, {"kind": kind, "text": words.replace("\0", "")})
    assert answer.status_code == 422
    assert "errorlist" in text(answer)
    assert not Clarification.objects.exists()


def test_an_account_asks_ten_times_a_day(cast: Any, problem: Any) -> None:
    for n in range(clarify.DAILY_CLARIFICATIONS):
        clarify.ask(cast.owner, problem, "question", f"Why {n}?")
    with pytest.raises(TooMuch, match="10 times within 24 hours"):
        clarify.ask(cast.owner, problem, "question", "Why?")
    path = reverse("ask_about", args=[problem.release.slug, problem.slug])
    assert signed_in(cast.owner).post(path, {"kind": "question", "text": "Why?"}).status_code == 429
    clarify.ask(cast.stranger, problem, "question", "Why?")
    Clarification.objects.update(asked_at=timezone.now() - timedelta(days=2))
    clarify.ask(cast.owner, problem, "question", "Why?")


def test_what_waits_for_an_answer_is_on_the_dashboard(cast: Any, problem: Any) -> None:
    asked = clarify.ask(cast.owner, problem, "fault", "It is wrong.")
    panels = {one.title: one for one in signed_in(cast.organiser).get("/admin/").context["panels"]}
    assert panels["To answer"].count == "1"
    assert "It is wrong." in panels["To answer"].lines[0].note
    clarify.answer(cast.organiser, asked, "It is right.", public_text=None)
    panels = {one.title: one for one in signed_in(cast.organiser).get("/admin/").context["panels"]}
    assert panels["To answer"].count == "0"

"""A private release whose results are public, and problems that are not to be released: who reads, runs and submits."""

import gzip
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.intake.submit import submit
from leaderboard.actions.intake.try_solution import try_solution
from leaderboard.errors import NotAllowed
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Entrant
from leaderboard.rows.submissions import SubmissionMetadata
from problems.formats.submission import single_solution
from problems.models import Release
from problems.spec.solution import SourceFile
from tests import factories
from tests.factories import Cast
from tests.markup import markup

STATEMENT, VISIBLE_TEST, STARTER = "Write <code>solution.sh</code>", "echo visible test", "your code"
PEOPLE = (None, "stranger", "owner", "organiser")


def _made(cast: Cast, **fields: Any) -> Release:
    """A private release with a judged submission of the owner's. The owner is invited."""
    made = factories.release(is_public=False, **fields)
    made.invited.add(cast.owner)
    factories.judged_submission(cast.entrant, made, factories.offer(made))
    return made


def _as(client: Any, cast: Cast, who: str | None) -> Any:
    client.logout()
    if who:
        client.force_login(getattr(cast, who))
    return client


@pytest.mark.parametrize(
    ("fields", "boards", "readers"),
    [
        ({}, {"owner", "organiser"}, {"owner", "organiser"}),
        ({"results_are_public": True}, set(PEOPLE), {"owner", "organiser"}),
        ({"results_are_public": True, "invited_may_read": False}, set(PEOPLE), {"organiser"}),
        ({"invited_may_read": False}, {"owner", "organiser"}, {"organiser"}),
    ],
)
def test_who_sees_the_board_and_who_reads(
    fields: dict[str, bool], boards: set[str | None], readers: set[str | None], client: Any, cast: Cast
) -> None:
    made = _made(cast, **fields)
    for who in PEOPLE:
        _as(client, cast, who)
        for name in ("board", "charts", "problems", "release_about", "board_json"):
            assert client.get(reverse(name, args=[made.slug])).status_code == (200 if who in boards else 404), (
                who,
                name,
            )
        answer = client.get(reverse("problem", args=[made.slug, "shell-0"]))
        assert answer.status_code == (200 if who in boards else 404)
        text = markup(answer)
        for words in (STATEMENT, VISIBLE_TEST, "visible context"):
            assert (words in text) == (who in readers), (who, words)
        api = client.get(f"/api/v1/releases/{made.slug}/problems/shell-0")
        assert api.status_code == (200 if who in readers else 403 if who in boards else 404)
        assert (b"visible test" in api.content) == (who in readers)


def test_a_stranger_sees_the_ranking_of_a_private_problem_but_no_code(client: Any, cast: Cast) -> None:
    made = _made(cast, results_are_public=True)
    cast.entrant.publishes_code = True
    cast.entrant.save()
    text = markup(_as(client, cast, "stranger").get(reverse("problem", args=[made.slug, "shell-0"])))
    assert "Alpha" in text
    assert STARTER not in text
    evaluation = made.submissions.first().evaluations.first()
    text = markup(client.get(evaluation.get_absolute_url()))
    assert "passed" in text
    assert "solution words" not in text
    assert client.get(reverse("download_submission", args=[made.submissions.first().pk])).status_code == 404


@pytest.mark.parametrize(("invited", "may_read", "submits", "runs"), [
    (True, True, True, True), (True, False, True, False), (False, True, False, False),
])  # fmt: skip
def test_only_the_invited_submit_and_only_readers_run(
    invited: bool, may_read: bool, submits: bool, runs: bool, cast: Cast
) -> None:
    made = factories.release(is_public=False, results_are_public=True, invited_may_read=may_read)
    track = factories.offer(made)
    if invited:
        made.invited.add(cast.owner)
    draft = single_solution("Shell/0", [SourceFile(path="solution.sh", content="exit 0")], catalogue_of(made))
    metadata = SubmissionMetadata(entrant=cast.entrant, release=made, tracks=[track], asks_to_count=False)
    if submits:
        assert submit(cast.owner, metadata, draft).created
    else:
        with pytest.raises(NotAllowed, match="no release"):
            submit(cast.owner, metadata, draft)
    problem = made.problems.get(slug="shell-0")
    if runs:
        assert try_solution(cast.owner, problem, track, draft.samples[0]).pk
    else:
        with pytest.raises(NotAllowed, match="may not read Shell/0"):
            try_solution(cast.owner, problem, track, draft.samples[0])


def test_the_form_to_submit_offers_only_what_one_may_submit_to(client: Any, cast: Cast) -> None:
    made = _made(cast, results_are_public=True)
    text = markup(_as(client, cast, "stranger").get(reverse("submit")))
    assert made.title not in text
    assert made.title in markup(_as(client, cast, "owner").get(reverse("submit")))


def test_a_typed_solution_to_a_private_problem_is_refused_without_its_starter_code(client: Any, cast: Cast) -> None:
    made = _made(cast, results_are_public=True)
    _as(client, cast, "stranger")
    sent = {"path-0": "solution.sh", "content-0": "exit 0", "language": "cpp"}
    for name in ("submit_typed", "run_typed"):
        answer = client.post(reverse(name, args=[made.slug, "shell-0"]), sent)
        assert answer.status_code in (400, 403, 422)
        assert STARTER not in markup(answer)
    assert made.submissions.count() == 1


def _not_released(n: int) -> dict[str, Any]:
    fields = factories.example_problem(n)
    fields["metadata"]["do_not_release"] = n == 0
    return fields


def test_a_problem_that_is_not_to_be_released_is_read_by_organisers_alone(client: Any, cast: Cast) -> None:
    made = factories.release(problem=_not_released)
    factories.judged_submission(cast.entrant, made, factories.offer(made))
    for who in PEOPLE:
        text = markup(_as(client, cast, who).get(reverse("problem", args=[made.slug, "shell-0"])))
        assert (STATEMENT in text) == (who == "organiser")
        assert ("not to be released" in text) == (who != "organiser")
        assert STATEMENT in markup(client.get(reverse("problem", args=[made.slug, "shell-1"])))


def test_samples_of_a_problem_that_is_not_to_be_released_are_not_published(client: Any, cast: Cast) -> None:
    Entrant.objects.filter(pk=cast.entrant.pk).update(publishes_code=True)
    made = factories.release(problem=_not_released)
    stored = factories.judged_submission(cast.entrant, made, factories.offer(made))
    private, public = (stored.evaluations.filter(problem__slug=slug).first() for slug in ("shell-0", "shell-1"))
    for who, reads in ((None, False), ("stranger", False), ("owner", True), ("organiser", True)):
        site = _as(client, cast, who)
        for evaluation, is_shown in ((private, reads), (public, True)):
            text = markup(site.get(evaluation.get_absolute_url()))
            assert ("solution words" in text) == is_shown, (who, evaluation.problem.slug)
        pack = gzip.decompress(site.get(reverse("download_submission", args=[stored.pk])).content)
        assert (b"Shell/0" in pack) == reads
        assert b"Shell/1" in pack


def test_the_pages_say_what_is_private(client: Any, cast: Cast) -> None:
    made = _made(cast, results_are_public=True, licence="Apache-2.0", dataset_card="Made **by hand**.")
    text = markup(client.get(reverse("release_about", args=[made.slug])))
    assert "Results are public; statements and files of the problems are private." in text
    assert "Apache-2.0" in text
    assert "<strong>by hand</strong>" in text
    assert "private problems" in markup(client.get(reverse("releases")))

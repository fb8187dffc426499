"""A release's own solutions are measured like any submission and shown as baselines; only organisers read them."""

from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from leaderboard.actions.curation.baselines import submit_baselines
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Entrant, Standing, Submission
from problems.actions import releases as release_actions
from problems.models import Release
from tests import factories, packs
from tests.function_site import function, solution
from tests.markup import markup

pytestmark = pytest.mark.django_db
EXPERT, COMPILED = "// expert words\n", "# compiled words\n"
NAMES = ["Baseline: reference", "Baseline: torch.compile", "Baseline: expert"]


def made_release(*, publish: bool = True) -> Release:
    both = {
        "compiled": solution(text=COMPILED, path="solution.py"),
        "expert": solution(text=EXPERT),
    }
    pack = packs.problem_pack([function(other_baselines=both), factories.example_problem(0)], "mixed-1")
    made = release_actions.import_release(pack).release
    made.is_public = True
    made.save()
    factories.offer(made)
    if publish:
        release_actions.publish(made)
    made.refresh_from_db()
    return made


@pytest.fixture
def release() -> Release:
    return made_release()


@pytest.fixture
def track(release: Release) -> Any:
    return release.on_tracks.get().track


def test_each_name_is_a_submission_of_a_baseline_and_is_made_once(release: Release, track: Any) -> None:
    made = submit_baselines(None, release, track)
    assert [one.entrant.name for one in made] == NAMES
    assert {one.entrant.kind for one in made} == {"baseline"}
    tasks = [sorted(one.samples.values_list("problem__task_id", flat=True)) for one in made]
    assert tasks == [["Shell/0", "row-softmax"], ["row-softmax"], ["row-softmax"]]
    languages = [one.samples.get(problem__task_id="row-softmax").language for one in made]
    assert languages == ["cpp", "python", "cpp"]
    assert submit_baselines(None, release, track) == made


def test_the_board_shows_them_without_a_rank(release: Release, track: Any) -> None:
    for one in submit_baselines(None, release, track):
        factories.judge(one)
    factories.rank(release, track)
    standing = Standing.objects.get(submission__entrant__slug="baseline-reference")
    assert standing.rank is None
    page = markup(Client().get(reverse("board", args=[release.slug])))
    assert [name in page for name in NAMES] == [True, True, True]


def test_strangers_and_members_read_none_of_their_code(release: Release, track: Any) -> None:
    made = submit_baselines(None, release, track)
    stranger, member = Client(), Client()
    member.force_login(factories.UserFactory())
    organiser = Client()
    organiser.force_login(factories.UserFactory(is_staff=True))
    address = made[2].samples.get().evaluations.get().get_absolute_url()
    pages = [markup(one.get(address)) for one in (stranger, member, organiser)]
    assert ["Baseline: expert" in page for page in pages] == [True, True, True]
    assert ["expert words" in page for page in pages] == [False, False, True]


def test_only_an_organiser_submits_them(release: Release, track: Any) -> None:
    with pytest.raises(NotAllowed):
        submit_baselines(factories.UserFactory(), release, track)
    assert not Submission.objects.exists()


def test_a_draft_and_a_release_without_baselines_are_refused() -> None:
    draft = made_release(publish=False)
    with pytest.raises(Conflict, match="is a draft"):
        submit_baselines(None, draft, draft.on_tracks.get().track)
    bare = packs.problem_pack([function(baseline_solution=None)], "bare-1")
    made = release_actions.import_release(bare).release
    track = factories.offer(made)
    release_actions.publish(made)
    with pytest.raises(Refused, match="has a baseline of its own"):
        submit_baselines(None, made, track)


@pytest.mark.parametrize("fields", [{"kind": "model"}, {"kind": "baseline", "publishes_code": True}])
def test_an_entrant_that_would_show_them_is_refused(release: Release, track: Any, fields: dict[str, Any]) -> None:
    Entrant.objects.create(slug="baseline-expert", name="Other", **fields)
    with pytest.raises(Conflict, match="does not publish its code"):
        submit_baselines(None, release, track)
    assert not Submission.objects.exists()


def test_the_command_says_what_it_queued(release: Release, track: Any, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("submit_baselines", release.slug, track=track.slug)
    assert "Baseline: expert: 1 samples" in capsys.readouterr().out

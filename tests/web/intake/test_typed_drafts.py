"""Drafts of typed code: kept for the user who typed them, bounded, and refused at the field where a path is bad."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.intake import keep_typed_draft
from leaderboard.models import TypedDraft
from problems.models import Problem
from tests import factories, function_site
from tests.factories import Cast
from tests.markup import markup
from tests.web.functions.mixed_site import FunctionSite, make_function_site

JSON = {"Accept": "application/json"}


@pytest.fixture
def site(cast: Cast) -> FunctionSite:
    return make_function_site(cast)


@pytest.fixture
def command(site: FunctionSite) -> Problem:
    return site.release.problems.exclude(pk=site.problem.pk).get()


def save(client: Any, problem: Problem, *, by_script: bool = True, **fields: Any) -> Any:
    address = reverse("save_draft", args=[problem.release.slug, problem.slug])
    return client.post(address, fields, headers=JSON if by_script else {})


def page(client: Any, problem: Problem, **query: str) -> str:
    answer = client.get(reverse("problem", args=[problem.release.slug, problem.slug], query=query))
    return markup(answer)


def test_what_was_typed_is_there_on_return_and_nobody_else_sees_it(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    mine = {"path-0": "solution.cpp", "content-0": "// my own words\n", "language": "cpp"}
    assert save(client, site.problem, **mine).json()["saved_at"]
    assert "// my own words" in page(client, site.problem)
    assert "Your draft, saved at" in page(client, site.problem)
    for other in (cast.stranger, cast.teammate, cast.organiser):
        client.force_login(other)
        assert "// my own words" not in page(client, site.problem)


def test_each_language_has_a_draft_in_one_row(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    save(client, site.problem, **{"path-0": "solution.cpp", "content-0": "// one\n", "language": "cpp"})
    save(client, site.problem, **{"path-0": "solution.py", "content-0": "# two\n", "language": "python"})
    row = TypedDraft.objects.get()
    assert (row.language, set(row.files)) == ("python", {"cpp", "python"})
    text = page(client, site.problem)
    assert '<input type="hidden" name="language" value="python">' in text
    assert '<template data-draft="cpp" data-path="solution.cpp">// one' in text


def test_discarding_and_typing_the_starter_code_both_leave_no_draft(
    client: Any, cast: Cast, site: FunctionSite
) -> None:
    client.force_login(cast.owner)
    typed = {"path-0": "solution.cpp", "content-0": "// one\n", "language": "cpp"}
    save(client, site.problem, **typed)
    assert save(client, site.problem, discard="1", **typed).json() == {"saved_at": None, "faults": {}}
    save(client, site.problem, **typed)
    starter = site.problem.spec.starters["cpp"][0].content.replace("\n", "\r\n")
    save(client, site.problem, **typed | {"content-0": starter})
    assert not TypedDraft.objects.exists()


def test_without_scripts_the_button_saves_and_says_so(client: Any, cast: Cast, command: Problem) -> None:
    client.force_login(cast.owner)
    fields = {"path-0": "kept.sh", "content-0": "exit 0\n", "path-1": "", "content-1": ""}
    answer = save(client, command, by_script=False, **fields)
    assert answer.status_code == 302
    text = markup(client.get(answer.url))
    assert "Draft saved at" in text
    assert 'value="kept.sh"' in text


@pytest.mark.parametrize("path", ["/etc/passwd", "../up.cu", "a\\b.cu", "a//b.cu", ""])
def test_a_bad_path_is_refused_at_its_field(
    client: Any, cast: Cast, site: FunctionSite, command: Problem, path: str
) -> None:
    client.force_login(cast.owner)
    fields = {"path-0": "good.sh", "content-0": "x", "path-1": path, "content-1": "exit 0", "entrant": "alpha"}
    said = save(client, command, **fields).json()
    assert said["saved_at"]
    assert list(said["faults"]) == ["1"]
    address = reverse("submit_typed", args=[command.release.slug, command.slug])
    answer = client.post(address, fields | {"tracks": [site.track.slug]})
    text = markup(answer)
    assert answer.status_code == 422
    assert 'id="path-1"' in text
    assert 'aria-describedby="fault-1" aria-invalid="true"' in text
    assert 'aria-describedby="fault-0" aria-invalid="true"' not in text


def test_a_test_file_and_a_path_used_twice_are_refused_at_their_fields(
    client: Any, cast: Cast, command: Problem
) -> None:
    client.force_login(cast.owner)
    held_out = next(one.file.path for one in command.spec.files if one.is_held_out)
    fields = {
        "path-0": held_out,
        "content-0": "x",
        "path-1": "a.sh",
        "content-1": "",
        "path-2": "a.sh",
        "content-2": "",
    }
    faults = save(client, command, **fields).json()["faults"]
    assert "is a test file of the problem" in faults["0"]
    assert faults["2"] == "another file has the path 'a.sh'"


def test_a_run_without_scripts_keeps_the_draft(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    fields = {"entrant": "alpha", "tracks": [site.track.slug], "path-0": "solution.cpp", "content-0": function_site.CPP}
    client.post(reverse("run_typed", args=[site.release.slug, site.problem.slug]), fields)
    assert TypedDraft.objects.get().by_language["cpp"][0].content == function_site.CPP


def test_drafts_are_bounded_in_size_and_number(
    client: Any, cast: Cast, site: FunctionSite, command: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(cast.owner)
    large = save(client, command, **{"path-0": "a.sh", "content-0": "x" * keep_typed_draft.MAX_DRAFT_BYTES})
    assert (large.status_code, "256 KiB are kept" in large.json()["message"]) == (422, True)
    assert save(client, command, **{"path-0": "a.sh", "content-0": "a\0b"}).status_code == 422
    assert not TypedDraft.objects.exists()
    monkeypatch.setattr(keep_typed_draft, "MAX_DRAFTS", 1)
    save(client, command, **{"path-0": "a.sh", "content-0": "first"})
    save(client, site.problem, **{"path-0": "solution.cpp", "content-0": "second"})
    assert TypedDraft.objects.get().problem == site.problem


def test_a_draft_needs_the_right_to_read_the_statement(client: Any, cast: Cast) -> None:
    private = factories.release(is_public=False, results_are_public=True)
    problem = private.problems.first()
    client.force_login(cast.stranger)
    assert save(client, problem, **{"path-0": "a.sh", "content-0": "x"}).status_code == 404
    assert not TypedDraft.objects.exists()

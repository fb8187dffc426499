"""Runs from a problem's page: they are tried and not stored, shown beside the form, and to their user alone."""

import re
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.intake.try_solution import end_trial
from leaderboard.models import Submission, Trial, TrialState
from runners.fleet.models import Attempt, Job, JobState
from runners.wire.protocol import (
    Audience,
    CaseField,
    CaseReport,
    LogText,
    Provenance,
    Report,
    StepReport,
    Verdict,
)
from tests import factories, function_site
from tests.factories import Cast
from tests.made_once import of_module, part
from tests.markup import markup
from tests.web.functions.mixed_site import FunctionSite, make_function_site

VALUES = {"sample_inputs": "x = [1, 2]", "sample_expected": "y = [3, 6]", "sample_output": "y = [3, 5]"}


def _make() -> tuple[Cast, FunctionSite]:
    cast = Cast.make()
    return cast, make_function_site(cast)


made_site = of_module(_make)
cast, site = part(0), part(1)


def run(client: Any, site: FunctionSite, *, by_script: bool = True, **changes: Any) -> Any:
    fields = {
        "entrant": "alpha", "tracks": [site.track.slug], "path-0": "solution.cpp", "content-0": function_site.CPP,
    }  # fmt: skip
    headers = {"HX-Request": "true"} if by_script else {}
    address = reverse("run_typed", args=[site.release.slug, site.problem.slug])
    return client.post(address, fields | changes, headers=headers)


def report() -> Report:
    fields = [CaseField(name=name, value=value, audience=Audience.TEAM) for name, value in VALUES.items()]
    fields += [CaseField(name="n_wrong", value=1, audience=Audience.TEAM)]
    fields += [CaseField(name="check_ms", value=7.25, audience=Audience.ORGANISER)]
    return Report(
        verdict=Verdict.WRONG_ANSWER,
        reason="Case 3 x 5: 1 of 2 elements are wrong",
        cases=[CaseReport(name="3 x 5", verdict=Verdict.WRONG_ANSWER, fields=fields)],
        steps=[StepReport(name="run", exit_code=0, log=LogText(text="printed words"))],
        provenance=Provenance(),
    )


def test_a_run_is_shown_beside_the_form_until_it_has_ended(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    before = Submission.objects.count()
    started = run(client, site)
    trial = Trial.objects.get()
    address = reverse("trial", args=[trial.pk])
    assert (started.status_code, Submission.objects.count()) == (200, before)
    assert f'hx-get="{address}?seen=' in markup(started)
    assert "No node takes track cpu-test: none is granted it." in markup(started)
    end_trial(trial, report())
    text = markup(client.get(address, headers={"HX-Request": "true"}))
    assert "hx-get" not in text
    assert "<html" not in text
    for words in (*VALUES.values(), "1 of 2 elements are wrong", "printed words", "wrong answer"):
        assert words in text.replace("Wrong answer", "wrong answer")
    assert "7.25" not in text, "organisers' facts"


def test_an_unchanged_run_is_not_sent_again(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    started = markup(run(client, site))
    again = re.search(r'hx-get="([^"]+)"', started)
    assert again
    assert client.get(again[1], headers={"HX-Request": "true"}).status_code == 204
    end_trial(Trial.objects.get(), report())
    assert client.get(again[1], headers={"HX-Request": "true"}).status_code == 200


def test_a_run_that_no_node_can_take_says_so(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    assert "No node takes track cpu-test: none is granted it." in markup(run(client, site))
    address = reverse("trial", args=[Trial.objects.get().pk])
    node = factories.NodeFactory(disabled_reason="a new driver")
    factories.grant(node, site.track)
    refused = f"No node takes track cpu-test now: {node} is disabled (a new driver)."
    assert refused in markup(client.get(address))
    type(node).objects.update(disabled_reason="")
    served = markup(client.get(address))
    assert "A node takes it within seconds; 0 jobs of others come first." in served
    assert refused not in served


def _leased(trial: Trial, stage: str) -> None:
    job = Job.objects.get(trial=trial)
    Job.objects.filter(pk=job.pk).update(state=JobState.LEASED)
    node = factories.NodeFactory(slug="node-a")
    Attempt.objects.create(job=job, node=node, number=1, token_digest="0", work_stage=stage, log_tail="tail words")


@pytest.mark.parametrize(("stage", "who", "sees"), [
    ("building", "owner", True), ("running", "owner", False), ("running", "organiser", True),
])  # fmt: skip
def test_a_run_under_way_names_its_node_and_shows_what_its_build_prints(
    client: Any, cast: Cast, site: FunctionSite, stage: str, who: str, sees: bool
) -> None:
    client.force_login(cast.owner)
    run(client, site)
    trial = Trial.objects.get()
    Trial.objects.filter(pk=trial.pk).update(state=TrialState.LEASED)
    _leased(trial, stage)
    client.force_login(getattr(cast, who))
    text = markup(client.get(reverse("trial", args=[trial.pk])))
    assert f"{stage.capitalize()} on <a" in text
    assert ("tail words" in text) is sees


def test_without_scripts_a_run_has_a_page_of_its_own(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    started = run(client, site, by_script=False)
    trial = Trial.objects.get()
    assert (started.status_code, started.url) == (302, reverse("trial", args=[trial.pk]))
    page = markup(client.get(started.url))
    assert "Load this page again" in page
    assert site.page in page


@pytest.mark.parametrize("by_script", [True, False])
def test_a_refused_run_keeps_what_was_typed_and_says_why(
    client: Any, cast: Cast, site: FunctionSite, by_script: bool
) -> None:
    client.force_login(cast.owner)
    answer = run(client, site, by_script=by_script, **{"content-0": function_site.WRONG_SIGNATURE})
    text = markup(answer)
    assert answer.status_code == (200 if by_script else 422)
    assert "`solution` takes 2 parameters" in text
    assert not Trial.objects.exists()
    assert ("name=&quot;content-0&quot;" in text or 'name="content-0"' in text) is not by_script


def test_too_many_open_runs_are_refused_in_words(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    for _ in range(3):
        assert "No node takes track cpu-test: none is granted it." in markup(run(client, site))
    assert "3 of your trials are under way" in markup(run(client, site))
    assert Trial.objects.filter(state=TrialState.QUEUED).count() == 3


def test_a_run_is_its_users_alone(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    run(client, site)
    address = reverse("trial", args=[Trial.objects.get().pk])
    client.force_login(cast.stranger)
    assert client.get(address).status_code == 404
    client.logout()
    assert client.get(address).status_code == 404


def test_the_button_says_what_a_run_does(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    assert "Run one small case" in markup(client.get(site.page))
    command = site.release.problems.exclude(pk=site.problem.pk).get()
    page = reverse("problem", args=[site.release.slug, command.slug])
    assert "Try to build" in markup(client.get(page))


def test_a_run_may_choose_its_own_sizes(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    page = markup(client.get(site.page))
    assert 'name="size-cols" min="1" max="4096" placeholder="5"' in page
    text = markup(run(client, site, **{"size-rows": "7", "size-cols": ""}))
    assert Trial.objects.get().sizes == {"rows": 7}
    assert "rows = 7" in text


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"size-rows": "513"}, "rows is 513; choose 1 to 512, the most that a case has."),
        ({"size-rows": "0"}, "rows is 0; choose 1 to 512"),
        ({"size-rows": "many"}, "A size of a run is a whole number."),
        ({"size-rows": "9" * 5000}, "A size of a run is a whole number."),
    ],
)
def test_sizes_that_no_run_may_have_are_refused_in_words(
    client: Any, cast: Cast, site: FunctionSite, typed: dict[str, str], words: str
) -> None:
    client.force_login(cast.owner)
    assert words in markup(run(client, site, **typed))
    assert not Trial.objects.exists()


def test_a_command_problem_offers_no_sizes(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    command = site.release.problems.exclude(pk=site.problem.pk).get()
    page = reverse("problem", args=[site.release.slug, command.slug])
    assert "Sizes of the run" not in markup(client.get(page))


def test_of_several_cases_the_first_that_failed_is_shown(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    run(client, site)
    trial = Trial.objects.get()
    good = CaseReport(name="fine", verdict=Verdict.PASSED)
    bad = report().cases[0]
    later = bad.model_copy(update={"name": "later"})
    end_trial(trial, report().model_copy(update={"cases": [good, bad, later]}))
    text = markup(client.get(reverse("trial", args=[trial.pk])))
    assert "2 of 3 cases failed; this is the first of them." in text
    assert ["Case fine" in text, "Case 3 x 5" in text, "Case later" in text] == [False, True, False]

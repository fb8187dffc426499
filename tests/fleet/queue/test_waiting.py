"""The words for work that nobody does yet: where it waits, and for what."""

import pytest
from django.test import Client

from leaderboard.models import Evaluation
from runners.fleet.models import Job, JobState
from runners.wire.protocol import Stage
from tests.markup import markup
from tests.web.conftest import Site

pytestmark = pytest.mark.django_db
WAITS = "It waits for a node of track"


@pytest.fixture
def built(site: Site) -> Evaluation:
    """Built on one node, and to run on another that has not taken it yet."""
    job = Job.objects.filter(evaluation__submission=site.running, state=JobState.QUEUED).order_by("-pk").first()
    Job.objects.filter(pk=job.pk).update(stage=Stage.RUN)
    return job.evaluation


def page(client: Client, of: object) -> str:
    return markup(client.get(of.get_absolute_url()))


def test_what_is_built_says_that_it_waits_for_a_node(client: Client, site: Site, built: Evaluation) -> None:
    client.force_login(site.cast.owner)
    assert WAITS in page(client, built)
    Job.objects.filter(evaluation=built).update(state=JobState.LEASED)
    assert WAITS not in page(client, built)


def test_what_is_not_built_yet_does_not(client: Client, site: Site) -> None:
    client.force_login(site.cast.owner)
    for job in Job.objects.filter(evaluation__submission=site.running):
        assert WAITS not in page(client, job.evaluation)
    assert WAITS not in page(client, site.evaluation)


def test_a_submission_names_each_queue_by_its_stage(client: Client, site: Site, built: Evaluation) -> None:
    client.force_login(site.cast.owner)
    text = " ".join(page(client, site.running).split())
    assert "of track cpu-test works on 1 job; 0 jobs of others come first" in text
    assert "No node takes stage run of track cpu-test: none is granted it." in text

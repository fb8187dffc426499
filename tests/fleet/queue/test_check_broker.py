"""`manage.py check_broker` asks the broker itself, and says what it refuses and how many messages wait."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from django.core.management import CommandError, call_command
from kombu import Queue

from leaderboard.models import Track
from runners.fleet.management.commands import check_broker
from runners.fleet.models import NodeGrant
from runners.fleet.queue.top_up import top_up_all
from runners.fleet.worker import pulse
from runners.wire.broker import celery_settings
from tests.e2e.brokers import rabbitmq_url
from tests.fleet.site import Site
from tests.requirements import RABBITMQ4_URL, RABBITMQ_URL, requires

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def site() -> Site:
    for part in pulse.Part:
        pulse.note(part)
    made = Site.make()
    made.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    return made


def app_at(url: str, monkeypatch: pytest.MonkeyPatch, settings: Any, folder: Path) -> Celery:
    app = Celery("site", set_as_current=False, fixups=[])
    app.conf.update(celery_settings(url, folder))
    monkeypatch.setattr(check_broker, "app", app)
    settings.BROKER_URL = url
    return app


@pytest.fixture(
    params=[
        pytest.param(RABBITMQ_URL, marks=requires("rabbitmq")),
        pytest.param(RABBITMQ4_URL, marks=requires("rabbitmq4")),
    ],
    ids=["rabbitmq", "rabbitmq4"],
)
def url(request: Any) -> Iterator[str]:
    with rabbitmq_url(request.param) as made:
        yield made


def test_a_folder_is_well(
    site: Site, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    top_up_all(app_at(f"filesystem://{tmp_path}", monkeypatch, settings, tmp_path))
    call_command("check_broker")
    told = f"Broker filesystem://{tmp_path}.\ntrack.cpu-test.both: 2 messages ready, 2 jobs queued.\n"
    assert capsys.readouterr().out == told


def test_a_refused_queue_is_told_with_the_brokers_own_words_and_the_others_are_asked(
    site: Site, url: str, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    app = app_at(url, monkeypatch, settings, tmp_path)
    other = Track.objects.create(slug="other", title="Other", device="cpu")
    NodeGrant.objects.create(node=site.node, track=other, stage="run")
    with app.connection_for_write() as holder:
        Queue("track.cpu-test.both", exclusive=True, durable=False)(holder.channel()).declare()
        with pytest.raises(CommandError, match="The broker refuses 1 of 2 queues"):
            call_command("check_broker")
    first, refused, well = capsys.readouterr().out.splitlines()
    assert "RabbitMQ" in first
    assert "guest:guest" not in first
    assert refused.startswith("track.cpu-test.both: refused, 2 jobs queued: ")
    assert "RESOURCE_LOCKED" in refused
    assert well == "track.other.run: 0 messages ready, 0 jobs queued."


def test_a_broker_that_refuses_the_account_is_told(
    site: Site, url: str, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    app_at(url.replace("guest:guest", "guest:wrong"), monkeypatch, settings, tmp_path)
    with pytest.raises(CommandError, match="cannot be used: it refuses the account") as raised:
        call_command("check_broker")
    assert "wrong" not in str(raised.value)

"""While the blob store is down, nodes are given no work, and what they send is refused for now, not for good."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from runners.fleet.models import Attempt, AttemptState
from runners.fleet.worker.sweep import sweep
from runners.wire.protocol import BlobRef, LogText, StepReport
from tests.blob_stores import Break, mend_folder, no_folder, on_each_store
from tests.fleet.site import Site, WireNode, passed

pytestmark = [pytest.mark.django_db]
LOG = b"a long log"
LOG_REF = BlobRef(sha256=hashlib.sha256(LOG).hexdigest(), size_bytes=len(LOG))


@pytest.fixture
def site() -> Site:
    made = Site.make()
    made.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    return made


@pytest.fixture
def node(site: Site) -> WireNode:
    return WireNode()


@on_each_store
def test_no_job_is_leased(
    node: WireNode, break_store: Break, settings: Any, blob_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_store(settings, blob_folder, monkeypatch)
    answer = node.claim()
    assert (answer.status_code, answer.json()["code"]) == (503, "blobs_unavailable")
    assert not Attempt.objects.exists()


def test_jobs_are_leased_again_when_the_store_is_back(
    node: WireNode, settings: Any, blob_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_folder(settings, blob_folder, monkeypatch)
    assert node.claim().status_code == 503
    mend_folder(blob_folder)
    assert node.take()["number"] == 1


def test_a_store_that_fails_is_no_lost_blob(
    node: WireNode, settings: Any, blob_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """404 and 422 would make the node drop the attempt or its report."""
    work = node.take()
    node.blob(work, LOG_REF.sha256, LOG)
    report = passed(steps=[StepReport(name="test", log=LogText(blob=LOG_REF))])
    no_folder(settings, blob_folder, monkeypatch)
    assert node.blob(work, work["solution"]["sha256"]).status_code == 503
    assert node.blob(work, LOG_REF.sha256, LOG).status_code == 503
    assert node.report(work, report).status_code == 503
    assert node.heartbeat(work, "reporting").json()["cancel"] is False
    mend_folder(blob_folder)
    assert sweep() == 0
    assert node.report(work, report).status_code == 200
    assert Attempt.objects.get().state == AttemptState.REPORTED

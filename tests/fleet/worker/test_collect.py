"""Blob collection: what no row names goes after the grace, and nothing else does."""

import io
import os
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.core.files.storage import InMemoryStorage
from django.core.management import call_command
from django.db.models import CharField, JSONField
from django.utils import timezone

from leaderboard import blobs
from leaderboard.models import Result, Sample
from leaderboard.results.logs import log_text
from runners.fleet import tasks
from runners.fleet.models import Attempt, Job, JobState, SharedBuild
from runners.fleet.worker.collect import NAMED_BY, collect, names_in
from runners.wire.protocol import BlobRef, LogText, StepReport
from tests.fleet.site import Site, WireNode, passed

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
ELSEWHERE = {"Result.steps", "Attempt.uploads", "Job.artefact"}
"""Columns that name blobs for a time; `columns` reads them."""
WITHOUT_BLOBS = {
    "ApiToken.scopes", "Attempt.cases", "AuditEntry.detail", "JoinToken.stages", "Measurement.calls_ms",
    "Measurement.device", "Measurement.provenance", "Measurement.runs_ms", "Node.capabilities", "Node.peaks",
    "Packing.archive_sha256", "Packing.faults", "Packing.notes", "Packing.pack_sha256", "Packing.report",
    "Problem.build_only",
    "Problem.cases", "Problem.tags", "ProblemScore.fast_counts", "ProblemScore.times_ms",
    "ProblemTrack.baseline_cases_ms", "ProblemTrack.timed_cases", "Release.case_weights", "Release.ks",
    "Release.weights",
    "Result.provenance", "ResultCase.fields", "Standing.estimates", "Standing.fast_p", "Standing.groups",
    "Standing.round_figures", "Submission.generation", "Submission.measured_where", "Track.peaks", "Trial.sizes",
    "TypedDraft.files",
}  # fmt: skip
"""Packing's files lie in a store of their own."""


@pytest.fixture
def store(tmp_path: Path, settings: Any) -> blobs.FolderBlobs:
    settings.BLOB_URL = str(tmp_path / "blobs")
    (tmp_path / "blobs").mkdir()
    found = blobs.store()
    assert isinstance(found, blobs.FolderBlobs)
    return found


def old(store: blobs.FolderBlobs, *names: str) -> None:
    """Make these blobs, or all, older than the grace."""
    at = time.time() - blobs.GRACE.total_seconds() - 60
    for sha256 in names or list(store.names()):
        os.utime(store.root / sha256[:2] / sha256[2:4] / sha256, (at, at))


def graded(log: bytes) -> tuple[str, Result]:
    """A result whose log is a blob."""
    node = WireNode()
    node.hello()
    work = node.begin(node.take())
    sha256 = blobs.store().put(log)
    assert node.blob(work, sha256, log).status_code == 200
    step = StepReport(name="test", exit_code=0, log=LogText(blob=BlobRef(sha256=sha256, size_bytes=len(log))))
    assert node.report(work, passed(steps=[step])).status_code == 200
    return sha256, Result.objects.get(attempt=work["attempt"])


@pytest.fixture
def site(store: blobs.FolderBlobs) -> Site:
    made = Site.make()
    made.submit({"a/1": ["exit 0"], "a/2": ["exit 7"]})
    return made


def test_what_no_row_names_goes_after_the_grace_and_all_else_stays(site: Site, store: blobs.FolderBlobs) -> None:
    log, _ = graded(b"a long log")
    Attempt.objects.update(ended_at=timezone.now() - blobs.GRACE * 2)
    shared = store.put(b"a shared build")
    SharedBuild.objects.create(key="1" * 64, node=site.node, sha256=shared)
    artefact = store.put(b"an artefact")
    Job.objects.filter(state=JobState.QUEUED).update(artefact={"blob": {"sha256": artefact}})
    unnamed = store.put(b"nobody's")
    old(store)
    young = store.put(b"on its way")
    n = len(list(store.names()))
    assert collect(deletes=False).n_unnamed == 1
    assert store.has(unnamed)
    found = collect(deletes=True)
    assert (found.n_blobs, found.n_unnamed, found.n_bytes) == (n, 1, len(b"nobody's"))
    kept = {log, shared, artefact, young, *Sample.objects.values_list("solution_sha256", flat=True)}
    assert kept <= set(store.names())
    assert not store.has(unnamed)
    assert collect(deletes=True).n_unnamed == 0


def test_an_open_attempt_s_uploads_stay_and_a_done_job_s_artefact_goes(site: Site, store: blobs.FolderBlobs) -> None:
    node = WireNode()
    work = node.take()
    brought = store.put(b"a log without its report")
    node.blob(work, brought, b"a log without its report")
    artefact = store.put(b"an artefact")
    Job.objects.exclude(attempts=work["attempt"]).update(artefact={"sha256": artefact}, state=JobState.DONE)
    old(store)
    collect(deletes=True)
    assert store.has(brought)
    assert not store.has(artefact)


def test_logs_of_old_results_go_and_the_page_says_so(
    site: Site, store: blobs.FolderBlobs, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, result = graded(b"a long log")
    named = result.steps[0]["log"]
    two_days_on = timezone.now() + timedelta(days=2, seconds=60)
    monkeypatch.setattr("runners.fleet.worker.collect.timezone", SimpleNamespace(now=lambda: two_days_on))
    for days in (0, 3):
        settings.LOG_DAYS = days
        assert collect(deletes=True).n_unnamed == 0
        assert log_text(named) == "a long log"
    settings.LOG_DAYS = 2
    assert collect(deletes=True).n_unnamed == 1
    assert not store.has(log)
    assert log_text(named) == "The log is no longer kept: this site keeps logs for 2 days."
    assert Sample.objects.count() == sum(
        store.has(name) for name in Sample.objects.values_list("solution_sha256", flat=True)
    )


def test_a_blob_that_is_stored_again_is_young_again(store: blobs.FolderBlobs) -> None:
    sha256 = store.put(b"twice")
    old(store)
    assert not store.put_file(sha256, io.BytesIO(b"twice"))
    assert collect(deletes=True).n_unnamed == 0


def test_an_upload_between_look_and_move_keeps_its_blob(
    store: blobs.FolderBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look at its age says old; then it is stored again, and only then moved aside."""
    sha256 = store.put(b"raced")
    old(store)
    looked = blobs.FolderBlobs.stored_at

    def then_stored(self: blobs.FolderBlobs, name: str) -> Any:
        at = looked(self, name)
        self.put_file(name, io.BytesIO(b"raced"))
        return at

    monkeypatch.setattr(blobs.FolderBlobs, "stored_at", then_stored)
    assert collect(deletes=True).n_unnamed == 0
    assert blobs.read(sha256) == b"raced"
    assert not list(store.root.rglob("*.collected"))


def test_an_upload_after_the_move_stores_its_blob_anew(
    store: blobs.FolderBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha256 = store.put(b"raced")
    old(store)
    rename = Path.rename

    def then_stored(self: Path, target: Path) -> Any:
        moved = rename(self, target)
        if target.suffix == ".collected":
            assert store.put_file(sha256, io.BytesIO(b"raced"))
        return moved

    monkeypatch.setattr(Path, "rename", then_stored)
    assert collect(deletes=True).n_unnamed == 1
    assert blobs.read(sha256) == b"raced"


def test_other_stores_are_collected_and_refreshed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = InMemoryStorage()
    store = blobs.StorageBlobs(storage)
    monkeypatch.setattr(blobs, "store", lambda: store)
    sha256 = store.put(b"of a bucket")
    assert not store.put_file(sha256, io.BytesIO(b"of a bucket"))
    assert collect(deletes=True).n_unnamed == 0
    monkeypatch.setattr(blobs, "GRACE", timedelta(0))
    found = collect(deletes=True)
    assert (found.n_unnamed, found.n_bytes) == (1, len(b"of a bucket"))
    assert not store.has(sha256)


def test_the_command_deletes_only_when_asked(store: blobs.FolderBlobs) -> None:
    sha256 = store.put(b"nobody's")
    old(store)
    said = io.StringIO()
    call_command("collect_blobs", stdout=said)
    assert said.getvalue() == "1 of 1 blobs, 8 B, would be deleted with --delete.\n"
    assert store.has(sha256)
    call_command("collect_blobs", "--delete", stdout=said)
    assert not store.has(sha256)


@pytest.mark.parametrize(("asked", "hour", "remains"), [(True, 3, False), (True, 4, True), (False, 3, True)])
def test_the_worker_collects_at_night_if_it_is_told_to(
    asked: bool, hour: int, remains: bool, store: blobs.FolderBlobs, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha256 = store.put(b"nobody's")
    old(store)
    settings.COLLECT_BLOBS = asked
    monkeypatch.setattr(tasks, "COLLECT_HOUR", timezone.now().hour + (hour - 3))
    tasks.collect()
    assert store.has(sha256) is remains


def test_each_column_that_may_name_a_blob_is_read() -> None:
    """A new JSON column, or one of a sha256, belongs in one of the lists."""
    found = {
        f"{model.__name__}.{field.name}"
        for model in apps.get_models()
        if model._meta.app_label in ("leaderboard", "problems", "fleet")
        for field in model._meta.concrete_fields
        if isinstance(field, JSONField) or (isinstance(field, CharField) and field.name.endswith("sha256"))
    }
    read = {f"{model.__name__}.{name}" for model, names in NAMED_BY.items() for name in names} | ELSEWHERE
    assert read <= found
    assert found - read - WITHOUT_BLOBS == set()


def test_names_are_found_at_any_depth() -> None:
    one, two = "a" * 64, "0" * 64
    assert list(names_in({"x": [{"sha256": one}], two: 5, "y": "A" * 64, "z": None})) == [one, two]

"""How a release ranks, in the database: what it refuses, and what a correction may change."""

import importlib
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from problems import triggers
from problems.actions.releases import ReleaseRefused, correct_ranking, import_release, publish
from problems.models import Release
from tests.packs import problem, problem_pack

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
VALID = {
    "primary_metric": "pass@1", "timing_policy": "quick", "ks": [1], "weights": {}, "weights_note": "",
    "case_weights": {},
}  # fmt: skip
NOW = timezone.now()


@pytest.fixture
def release() -> Release:
    return import_release(problem_pack([problem("a/1")])).release


@pytest.mark.parametrize(
    "values",
    [
        {"primary_metric": "best"},
        {"primary_metric": ""},
        {"timing_policy": "slow"},
        {"opens_at": NOW, "closes_at": NOW - timedelta(days=1)},
    ],
)
def test_the_database_refuses_a_bad_value(release: Release, values: dict[str, Any]) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        Release.objects.filter(pk=release.pk).update(**values)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("primary_metric", "pass@x"),
        ("timing_policy", "slow"),
        ("ks", [0, "x"]),
        ("ks", "1"),
        ("weights", {"shell": -1}),
        ("closes_at", NOW - timedelta(days=1)),
    ],
)
def test_a_form_refuses_a_bad_value(release: Release, name: str, value: Any) -> None:
    release.opens_at = NOW
    setattr(release, name, value)
    with pytest.raises(ValidationError):
        release.full_clean()


def test_a_pack_may_say_how_its_release_ranks() -> None:
    pack = problem_pack([problem("a/1")], primary_metric="pass@5", timing_policy="ranked", ks=[3], weights={"shell": 2})
    made = import_release(pack).release
    assert (made.primary_metric, made.timing_policy, made.ks, made.weights) == (
        "pass@5", "ranked", [1, 3, 5], {"shell": 2},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "metadata", "words"),
    [
        ({"podium": {"title": "x" * 301}}, {}, "`title`: Ensure this value has at most 300 characters"),
        ({"podium": {"title": "x\0"}}, {}, "`title` holds a NUL character"),
        ({"group": "g" * 61}, {}, "`group`: Ensure this value has at most 60 characters"),
        ({}, {"title": "x" * 201}, "`title`: Ensure this value has at most 200 characters"),
    ],
)
def test_a_text_that_no_column_holds_is_refused_in_words(
    changes: dict[str, Any], metadata: dict[str, Any], words: str
) -> None:
    with pytest.raises(ReleaseRefused) as refused:
        import_release(problem_pack([problem("a/1", **changes)], **metadata))
    assert words in str(refused.value)
    assert not Release.objects.exists()


@pytest.mark.parametrize("name", ["***", "Ü", "r" * 100])
def test_a_release_gets_an_address_whatever_its_name(name: str) -> None:
    first = import_release(problem_pack([problem("a/1")], release=name)).release
    second = import_release(problem_pack([problem("a/2")], release=name)).release
    assert first.slug
    assert second.slug.endswith("-r2")


def test_a_correction_changes_a_published_ranking_and_says_why(release: Release) -> None:
    publish(release)
    correct_ranking(release, VALID | {"primary_metric": "pass@2"}, "The metric needed weights.")
    release.refresh_from_db()
    assert release.primary_metric == "pass@2"
    assert release.correction.endswith("The metric needed weights.")


def test_a_corrected_release_takes_as_many_samples_as_its_largest_k(release: Release) -> None:
    publish(release)
    correct_ranking(release, VALID | {"ks": [1, 50]}, "More samples.")
    release.refresh_from_db()
    assert release.max_samples == 50


def test_without_a_reason_nothing_is_corrected(release: Release) -> None:
    publish(release)
    with pytest.raises(ReleaseRefused, match="needs a reason"):
        correct_ranking(release, VALID, " ")
    with pytest.raises(DatabaseError), transaction.atomic():
        Release.objects.filter(pk=release.pk).update(primary_metric="pass@2", correction="")


def test_a_correction_takes_valid_values_only(release: Release) -> None:
    publish(release)
    with pytest.raises(ReleaseRefused, match="`ks`"):
        correct_ranking(release, VALID | {"ks": [0]}, "A reason.")


def test_an_upgrade_replaces_values_that_are_not_valid_and_says_so(release: Release) -> None:
    Release.objects.filter(pk=release.pk).update(ks=[0, "x", 4])
    publish(release)
    migration = importlib.import_module("problems.migrations.0006_mend_release_rankings")
    migration.mend(apps, SimpleNamespace(connection=connection))
    triggers.install(connection)
    release.refresh_from_db()
    assert release.ks == [1, 4]
    assert "ks was [0, 'x', 4]" in release.correction


def test_an_upgrade_says_whose_timed_work_is_checked() -> None:
    timed = {"benchmark_command": "sh solution.sh"}
    records = [
        problem("a/1", **timed),
        problem("a/2", **timed, podium={"work_checked": True}),
        problem("a/3", **timed, timing_mode={"type": "custom"}),
        problem("a/4", benchmark_command="sh  test/t.sh"),
        problem("a/5"),
    ]
    made = import_release(problem_pack(records)).release
    expected = list(made.problems.order_by("position").values_list("timed_work", flat=True))
    assert expected == ["unchecked", "checked", "self_reported", "checked", ""]
    made.problems.update(timed_work="")
    publish(made)
    migration = importlib.import_module("problems.migrations.0010_promises_and_timed_work")
    migration.let_change(apps, SimpleNamespace(connection=connection))
    migration.fill(apps, SimpleNamespace(connection=connection))
    triggers.install(connection)
    assert list(made.problems.order_by("position").values_list("timed_work", flat=True)) == expected

"""Replaces ranking values that are not valid, which earlier versions stored, and says so in the release's correction."""

from datetime import datetime, timedelta
from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.utils import timezone

from problems import triggers
from problems.spec.ranking import TimingPolicy, checked_ks, offered_ks
from scoring.metrics import metric_named


def mend(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    bad = [
        (release, found)
        for release in apps.get_model("problems", "Release").objects.all()
        if (found := _mended(release))
    ]
    if bad:
        triggers.remove(schema_editor.connection)  # made anew after the last migration
    for release, found in bad:
        words = ", ".join(f"{name} was {_shown(getattr(release, name))}" for name in found)
        release.correction = f"{timezone.now():%Y-%m-%d}: values that are not valid were replaced ({words})."
        for name, value in found.items():
            setattr(release, name, value)
        release.save(update_fields=["correction", *found])


def _shown(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M} UTC" if isinstance(value, datetime) else repr(value)


def _mended(release: Any) -> dict[str, Any]:
    """New values of the fields that are not valid."""
    found: dict[str, Any] = {}
    if not _is_metric(release.primary_metric):
        found["primary_metric"] = "pass@1"
    if release.timing_policy not in list(TimingPolicy):
        found["timing_policy"] = TimingPolicy.QUICK.value
    if not _are_ks(release.ks):
        found["ks"] = offered_ks(release.ks, release.primary_metric)
    if release.opens_at and release.closes_at and release.closes_at <= release.opens_at:
        found["opens_at"] = release.closes_at - timedelta(seconds=1)  # it has never been open; so it stays
    return found


def _is_metric(name: str) -> bool:
    try:
        metric_named(name)
    except ValueError:
        return False
    return True


def _are_ks(value: Any) -> bool:
    try:
        checked_ks(value)
    except ValueError:
        return False
    return True


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0005_release_ranking_fields"),
    ]

    operations = [migrations.RunPython(mend, migrations.RunPython.noop)]

"""The migration that brings policies keeps practice for what is published; drafts get the default."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from problems import migrations, triggers
from problems.models import Release
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
[MIGRATION] = (Path(migrations.__path__[0])).glob("*_question_policy.py")


def test_published_releases_keep_practice_and_drafts_get_the_default() -> None:
    published, draft = factories.release(1), factories.release(1, "draft-1", publish=False)
    schema: Any = connection.schema_editor()
    triggers.remove(connection)
    Release.objects.update(question_policy="")
    importlib.import_module(f"problems.migrations.{MIGRATION.stem}").keep_practice(apps, schema)
    triggers.install(connection)
    assert Release.objects.get(pk=published.pk).question_policy == "practice"
    assert Release.objects.get(pk=draft.pk).question_policy == ""

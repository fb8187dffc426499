"""Bounds the samples of a problem that a submission may have: 20, or the largest k of the release's pass@k."""

from typing import Any

import django.core.validators
from django.db import migrations, models

from problems.spec.ranking import offered_ks


def raise_to_largest_k(apps: Any, _schema_editor: Any) -> None:
    for release in apps.get_model("problems", "Release").objects.all():
        largest = max(offered_ks(release.ks, release.primary_metric))
        if largest > release.max_samples:
            release.max_samples = largest
            release.save(update_fields=["max_samples"])


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0008_ranked_by_default"),
    ]

    operations = [
        migrations.AddField(
            model_name="release",
            name="max_samples",
            field=models.PositiveIntegerField(
                default=20,
                help_text="The most samples of one problem that a submission may have; at least the largest k of its pass@k.",
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="samples a problem",
            ),
        ),
        migrations.RunPython(raise_to_largest_k, migrations.RunPython.noop),
    ]

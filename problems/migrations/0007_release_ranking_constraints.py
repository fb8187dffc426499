"""The database refuses an unknown primary metric or timing policy, and a release that closes before it opens."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0006_mend_release_rankings"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="release",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("primary_metric__in", ["speedup", "weighted", "gflops", "roofline"]),
                    ("primary_metric__startswith", "pass@"),
                    _connector="OR",
                ),
                name="release_primary_metric",
                violation_error_message="The primary metric is not one that Podium knows.",
            ),
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.CheckConstraint(
                condition=models.Q(("timing_policy__in", ["quick", "ranked"])), name="release_timing_policy"
            ),
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("opens_at", None), ("closes_at", None), ("closes_at__gt", models.F("opens_at")), _connector="OR"
                ),
                name="release_opens_before_it_closes",
                violation_error_message="A release must close after it opens.",
            ),
        ),
    ]

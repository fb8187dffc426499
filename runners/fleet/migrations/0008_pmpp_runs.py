"""Jobs of runs over PMPP's routes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0007_node_obstacle"),
        ("leaderboard", "0014_pmpp_runs"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="job", name="job_of_one"),
        migrations.AddField(
            model_name="job",
            name="pmpp_run",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="jobs",
                to="leaderboard.pmpprun",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["queued", "leased"])),
                fields=("pmpp_run", "stage"),
                name="job_one_open_pmpp_run",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("evaluation", None), ("pmpp_run", None), ("trial__isnull", False)),
                    models.Q(("evaluation__isnull", False), ("pmpp_run", None), ("trial", None)),
                    models.Q(("evaluation", None), ("pmpp_run__isnull", False), ("trial", None)),
                    _connector="OR",
                ),
                name="job_of_one",
            ),
        ),
    ]

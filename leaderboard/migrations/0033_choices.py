"""The submission that counts is chosen by events; a standing says on how many problems its GFLOPS are its own."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0032_rounds"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Chosen",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "chosen_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "submission",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="choosings",
                        to="leaderboard.submission",
                    ),
                ),
                (
                    "track",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="choosings", to="leaderboard.track"
                    ),
                ),
            ],
            options={"ordering": ["id"]},
        ),
        migrations.AddField(
            model_name="standing",
            name="n_gflops_own",
            field=models.PositiveIntegerField(
                default=0, help_text="Those on which its own GFLOPS count. On the others the baseline's do."
            ),
        ),
        migrations.AlterField(
            model_name="standing",
            name="gflops",
            field=models.FloatField(help_text="Geometric mean over the problems that the rules take.", null=True),
        ),
    ]

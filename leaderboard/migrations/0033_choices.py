"""Which submission counts is chosen; standings say how many GFLOPS are their own, and tell held-out cases apart."""

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
        migrations.AddField(
            model_name="problemscore",
            name="ln_held_out_sum",
            field=models.FloatField(
                default=0.0, help_text="Sum over passed samples of the mean ln ratio over held-out cases."
            ),
        ),
        migrations.AddField(
            model_name="problemscore",
            name="ln_public_sum",
            field=models.FloatField(default=0.0, help_text="The same of these samples over their other cases."),
        ),
        migrations.AddField(
            model_name="problemscore",
            name="n_held_out",
            field=models.PositiveIntegerField(default=0, help_text="The number of these samples."),
        ),
        migrations.AddField(
            model_name="standing",
            name="held_out_speedup",
            field=models.FloatField(help_text="Of passes, over held-out cases alone.", null=True),
        ),
        migrations.AddField(
            model_name="standing",
            name="public_speedup",
            field=models.FloatField(help_text="Of the same passes, over their other cases.", null=True),
        ),
        migrations.AddField(
            model_name="standing",
            name="n_held_out_problems",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AlterField(
            model_name="standing",
            name="gflops",
            field=models.FloatField(help_text="Geometric mean over the problems that the rules take.", null=True),
        ),
    ]

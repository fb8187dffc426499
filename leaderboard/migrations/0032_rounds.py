"""Rounds: second measurements beside first results, and from how many submissions a row was taken."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone


def touch_ranked(apps, schema_editor):
    """Boards are ranked anew, so that their rows say from how many submissions they were taken."""
    apps.get_model("leaderboard", "ReleaseTrack").objects.exclude(touched_at=None).update(touched_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0031_rules_and_shared_noise"),
        ("problems", "0016_first_failure"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="RoundPlace",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rank", models.PositiveIntegerField()),
                ("value", models.FloatField(help_text="In the release's primary metric.", null=True)),
                (
                    "n_imported",
                    models.PositiveIntegerField(
                        default=0, help_text="Passes that were imported: no node measures these."
                    ),
                ),
            ],
            options={
                "ordering": ["rank", "id"],
            },
        ),
        migrations.AddField(
            model_name="evaluation",
            name="second_result",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="Of a round: its times count in place of the current result's, whose verdict stays.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="second_of",
                to="leaderboard.result",
            ),
        ),
        migrations.AddField(
            model_name="rejudge",
            name="is_round",
            field=models.BooleanField(
                default=False,
                help_text="The one second measurement of a board's top, beside its first results; never applied or dropped.",
            ),
        ),
        migrations.AddField(
            model_name="standing",
            name="n_full_submissions",
            field=models.PositiveIntegerField(
                default=0,
                help_text="Full submissions of the entrant from which this one was taken; cancelled ones too.",
            ),
        ),
        migrations.AddField(
            model_name="standing",
            name="round_figures",
            field=models.JSONField(
                help_text="Of a board's round: rank and value before it, passes in it, judged anew, and imported.",
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name="evaluation",
            index=models.Index(
                condition=models.Q(("second_result__isnull", False)), fields=["second_result"], name="evaluation_second"
            ),
        ),
        migrations.AddConstraint(
            model_name="rejudge",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_round", True)), fields=("release", "track"), name="rejudge_one_round"
            ),
        ),
        migrations.AddField(
            model_name="roundplace",
            name="rejudge",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="places", to="leaderboard.rejudge"
            ),
        ),
        migrations.AddField(
            model_name="roundplace",
            name="submission",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="round_places", to="leaderboard.submission"
            ),
        ),
        migrations.AddConstraint(
            model_name="roundplace",
            constraint=models.UniqueConstraint(fields=("rejudge", "submission"), name="round_place_once"),
        ),
        migrations.RunPython(touch_ranked, migrations.RunPython.noop),
    ]

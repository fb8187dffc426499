"""Standings keep their sol_score, and aggregates and baselines the times by case that it needs."""

from typing import Any

from django.db import migrations, models


def fill(apps: Any, _schema_editor: Any) -> None:
    """The first rankable time of each case of each baseline. `rebuild_standings` fills the aggregates."""
    place, measurement = apps.get_model("leaderboard", "ProblemTrack"), apps.get_model("leaderboard", "Measurement")
    for one in place.objects.filter(has_rankable_baseline=True).iterator():
        primary = measurement.objects.filter(
            problem=one.problem_id, track=one.track_id, role="baseline", is_primary=True, ranks=True
        )
        times = primary.order_by("-id").values_list("case", "median_ms")
        one.baseline_cases_ms = dict(times)
        one.save(update_fields=["baseline_cases_ms"])


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0008_provisional_times"),
    ]

    operations = [
        migrations.AddField(
            model_name="problemscore",
            name="times_ms",
            field=models.JSONField(
                default=list,
                help_text="Of each sample whose time ranks: case → median, null if the case does not rank.",
            ),
        ),
        migrations.AddField(
            model_name="problemtrack",
            name="baseline_cases_ms",
            field=models.JSONField(blank=True, default=dict, help_text="The same by case: case → median."),
        ),
        migrations.AddField(
            model_name="standing",
            name="n_sol_score_left_out",
            field=models.PositiveIntegerField(
                default=0, help_text="Problems left out because their baseline is already at the bound."
            ),
        ),
        migrations.AddField(
            model_name="standing",
            name="n_sol_score_problems",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="standing",
            name="sol_score",
            field=models.FloatField(help_text="Mean score over problems whose work has a bound.", null=True),
        ),
        migrations.AddField(model_name="standing", name="sol_score_high", field=models.FloatField(null=True)),
        migrations.AddField(model_name="standing", name="sol_score_low", field=models.FloatField(null=True)),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]

"""Arrays of boards, per-problem sums of tracks, and each aggregate's sample with the largest speedup."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models
from django.db.models import F, Max, OuterRef, Subquery
from django.utils import timezone

from scoring.throughput import geometric_mean


def fill_best_samples(apps, schema_editor):
    """The sample with the largest speedup: mostly the fastest one. Boards are ranked anew for the rest."""
    ProblemScore = apps.get_model("leaderboard", "ProblemScore")
    Evaluation = apps.get_model("leaderboard", "Evaluation")
    Measurement = apps.get_model("leaderboard", "Measurement")
    ReleaseTrack = apps.get_model("leaderboard", "ReleaseTrack")
    timed = ProblemScore.objects.exclude(best_speedup=None)
    fastest = timed.filter(best_evaluation__current_result__speedup=F("best_speedup"))
    fastest.update(best_speedup_evaluation=F("best_evaluation"), best_speedup_ms=F("best_ms"))
    for score in timed.filter(best_speedup_evaluation=None).iterator():
        place = {"submission": score.submission_id, "track": score.track_id, "problem": score.problem_id}
        same = Evaluation.objects.filter(**place, purpose="live", current_result__speedup=score.best_speedup)
        if best := same.order_by("pk").first():
            own = Measurement.objects.filter(result=best.current_result_id, role="candidate")
            times_ms = [ms if ranks else None for ms, ranks in own.order_by("pk").values_list("median_ms", "ranks")]
            score.best_speedup_ms = geometric_mean(times_ms)
            score.best_speedup_evaluation = best
            score.save(update_fields=["best_speedup_ms", "best_speedup_evaluation"])
    results = Evaluation.objects.filter(
        submission=OuterRef("submission"), track=OuterRef("track"), problem=OuterRef("problem"), purpose="live"
    ).order_by()
    last = results.values("problem").annotate(last=Max("current_result__created_at")).values("last")
    ProblemScore.objects.update(last_result_at=Subquery(last))
    ReleaseTrack.objects.exclude(touched_at=None).update(touched_at=timezone.now())
    if schema_editor.connection.vendor == "postgresql":  # the new column's index is made next, in this transaction
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0023_teams_and_transfers"),
    ]

    operations = [
        migrations.AddField(
            model_name="problemscore",
            name="best_speedup_evaluation",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="leaderboard.evaluation",
            ),
        ),
        migrations.AddField(
            model_name="problemscore",
            name="best_speedup_ms",
            field=models.FloatField(blank=True, help_text="Time of the sample of `best_speedup`.", null=True),
        ),
        migrations.AddField(
            model_name="problemscore",
            name="last_result_at",
            field=models.DateTimeField(blank=True, help_text="When its newest current result was made.", null=True),
        ),
        migrations.AddField(
            model_name="problemtrack",
            name="best_speedup",
            field=models.FloatField(blank=True, help_text="The largest of their samples' speedups.", null=True),
        ),
        migrations.AddField(
            model_name="problemtrack",
            name="n_entrants",
            field=models.PositiveIntegerField(
                default=0,
                help_text="Of counted submissions, at the last ranking: entrants with samples that were not skipped.",
            ),
        ),
        migrations.AddField(
            model_name="problemtrack",
            name="n_passed",
            field=models.PositiveIntegerField(default=0, help_text="Their passing samples."),
        ),
        migrations.AddField(
            model_name="problemtrack",
            name="n_samples",
            field=models.PositiveIntegerField(default=0, help_text="Their samples."),
        ),
        migrations.AddField(
            model_name="problemtrack",
            name="n_solved",
            field=models.PositiveIntegerField(default=0, help_text="Those of them with a passing sample."),
        ),
        migrations.AddField(
            model_name="standing",
            name="n_correct_problems",
            field=models.PositiveIntegerField(
                default=0, help_text="Problems with a passing sample whose time ranks: those of the correct-only mean."
            ),
        ),
        migrations.CreateModel(
            name="RankedArrays",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("made_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("content", models.BinaryField(help_text="As leaderboard.standings.board_arrays packs it.")),
                (
                    "place",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="arrays",
                        to="leaderboard.releasetrack",
                    ),
                ),
            ],
        ),
        migrations.RunPython(fill_best_samples, migrations.RunPython.noop),
    ]

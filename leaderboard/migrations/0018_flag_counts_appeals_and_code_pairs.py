"""Appeals, counts of flags on aggregates and standings, fingerprints of code and pairs of similar samples."""

from collections import Counter

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def count_flags(apps, schema_editor):
    """Fill the new counts of samples that have flags, and rank their tracks anew."""
    Flag, Decision = apps.get_model("leaderboard", "Flag"), apps.get_model("leaderboard", "Decision")
    ProblemScore = apps.get_model("leaderboard", "ProblemScore")
    ReleaseTrack = apps.get_model("leaderboard", "ReleaseTrack")
    latest = Decision.objects.filter(flag=OuterRef("pk")).order_by("-id").values("kind")[:1]
    flags = Flag.objects.filter(result__current_of__purpose="live").annotate(ruling=Subquery(latest))
    place = [f"result__current_of__{name}" for name in ("submission_id", "track_id", "problem_id")]
    release = "result__current_of__submission__release_id"
    counts = Counter()
    touched = set()
    for *where, release_id, ruling in flags.order_by().values_list(*place, release, "ruling"):
        counts[(*where, "n_upheld_flags" if ruling == "flag_upheld" else "n_open_flags")] += ruling != "flag_dismissed"
        touched.add((release_id, where[1]))
    for (submission, track, problem, field), n in counts.items():
        rows = ProblemScore.objects.filter(submission_id=submission, track_id=track, problem_id=problem)
        rows.update(**{field: n})
    for release_id, track_id in touched:
        rows = ReleaseTrack.objects.filter(release_id=release_id, track_id=track_id)
        rows.exclude(touched_at=None).update(touched_at=django.utils.timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0017_board_snapshots"),
        ("problems", "0012_weights_and_kinds"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Appeal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("words", models.CharField(help_text="Shown to the team and to organisers.", max_length=4000)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="CodePair",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("similarity", models.FloatField(help_text="Share of common shingles among those of both, 0 to 1.")),
                ("found_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["-similarity", "id"],
            },
        ),
        migrations.CreateModel(
            name="Fingerprint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("solution_sha256", models.CharField(max_length=64)),
                ("hashes", models.BinaryField(help_text="Ascending little-endian 64-bit integers.")),
            ],
        ),
        migrations.AddField(
            model_name="problemscore",
            name="n_open_flags",
            field=models.PositiveIntegerField(default=0, help_text="Flags that nobody has decided."),
        ),
        migrations.AddField(
            model_name="problemscore",
            name="n_upheld_flags",
            field=models.PositiveIntegerField(default=0, help_text="Flags that an organiser upheld."),
        ),
        migrations.AddField(
            model_name="standing",
            name="n_open_flags",
            field=models.PositiveIntegerField(default=0, help_text="Flags that nobody has decided."),
        ),
        migrations.AddField(
            model_name="standing",
            name="n_upheld_flags",
            field=models.PositiveIntegerField(default=0, help_text="Flags that an organiser upheld."),
        ),
        migrations.AddField(
            model_name="submission",
            name="compared_at",
            field=models.DateTimeField(
                blank=True, help_text="When its code was compared with that of other entrants.", null=True
            ),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(condition=models.Q(("compared_at", None)), fields=["id"], name="submission_uncompared"),
        ),
        migrations.AddField(
            model_name="appeal",
            name="appealed_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="appeal",
            name="decision",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="appeal", to="leaderboard.decision"
            ),
        ),
        migrations.AddField(
            model_name="codepair",
            name="entrant",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="leaderboard.entrant"
            ),
        ),
        migrations.AddField(
            model_name="codepair",
            name="other_entrant",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="leaderboard.entrant"
            ),
        ),
        migrations.AddField(
            model_name="codepair",
            name="other_sample",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.sample"
            ),
        ),
        migrations.AddField(
            model_name="codepair",
            name="problem",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="code_pairs", to="problems.problem"
            ),
        ),
        migrations.AddField(
            model_name="codepair",
            name="sample",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaderboard.sample"
            ),
        ),
        migrations.AddField(
            model_name="fingerprint",
            name="entrant",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="fingerprints", to="leaderboard.entrant"
            ),
        ),
        migrations.AddField(
            model_name="fingerprint",
            name="problem",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="fingerprints", to="problems.problem"
            ),
        ),
        migrations.AddField(
            model_name="fingerprint",
            name="sample",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="fingerprint", to="leaderboard.sample"
            ),
        ),
        migrations.AddConstraint(
            model_name="codepair",
            constraint=models.UniqueConstraint(fields=("problem", "entrant", "other_entrant"), name="code_pair_once"),
        ),
        migrations.AddConstraint(
            model_name="codepair",
            constraint=models.CheckConstraint(
                condition=models.Q(("entrant__lt", models.F("other_entrant"))), name="code_pair_ordered"
            ),
        ),
        migrations.AddConstraint(
            model_name="fingerprint",
            constraint=models.UniqueConstraint(
                fields=("problem", "entrant", "solution_sha256"), name="fingerprint_once"
            ),
        ),
        migrations.RunPython(count_flags, migrations.RunPython.noop),
    ]

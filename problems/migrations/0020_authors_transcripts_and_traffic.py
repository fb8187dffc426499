"""A release names its authors, for citations, says whether transcripts are public, and may weight cases by traffic."""

from django.db import migrations, models

import problems.models


class Migration(migrations.Migration):
    dependencies = [
        ("problems", "0019_question_policy"),
    ]

    operations = [
        migrations.AddField(
            model_name="release",
            name="authors",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Authors for citations, as BibTeX separates names: Ada Lovelace and Grace Hopper. Left empty,"
                " citations name the site.",
                max_length=400,
            ),
        ),
        migrations.AddField(
            model_name="release",
            name="transcripts_are_public",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Whether everybody who may read a sample's solution may also read how it was generated:"
                " prompts, replies and calls of tools. If not, its team and organisers read them.",
                verbose_name="transcripts public",
            ),
        ),
        migrations.AddField(
            model_name="release",
            name="case_weights",
            field=models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                help_text="Weights of cases by their traffic, for the metric traffic_speedup:"
                ' {"task": {"case": 3}}. Cases left out weigh the mean of their task\'s.',
                validators=[problems.models.valid_case_weights],
            ),
        ),
        migrations.RemoveConstraint(model_name="release", name="release_primary_metric"),
        migrations.AlterField(
            model_name="release",
            name="primary_metric",
            field=models.CharField(
                default="pass@1",
                help_text="What ranks follow: pass@k for some k, speedup, traffic_speedup, coding, weighted, questions,"
                " gflops, roofline, sol_score.",
                max_length=40,
                validators=[problems.models.valid_metric],
            ),
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "primary_metric__in",
                        [
                            "speedup",
                            "traffic_speedup",
                            "coding",
                            "weighted",
                            "questions",
                            "gflops",
                            "roofline",
                            "sol_score",
                        ],
                    ),
                    ("primary_metric__startswith", "pass@"),
                    _connector="OR",
                ),
                name="release_primary_metric",
                violation_error_message="The primary metric is not one that Podium knows.",
            ),
        ),
    ]

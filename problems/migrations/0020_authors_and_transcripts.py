"""A release names its authors, for citations, and says whether transcripts of its samples are public."""

from django.db import migrations, models


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
    ]

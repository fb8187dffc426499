"""Standings keep pass@1 of coding problems and of questions apart. `rebuild_standings` fills them."""

from django.db import migrations, models

FIELDS = {
    "coding": "pass@1 over coding problems, where questions or weights exist.",
    "questions": "pass@1 over questions.",
}


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0011_questions"),
    ]

    operations = [
        *(
            migrations.AddField(
                model_name="standing", name=name, field=models.FloatField(help_text=help_text, null=True)
            )
            for name, help_text in FIELDS.items()
        ),
        *(
            migrations.AddField(model_name="standing", name=f"{name}_{end}", field=models.FloatField(null=True))
            for name in FIELDS
            for end in ("low", "high")
        ),
        migrations.AlterField(
            model_name="standing",
            name="weighted",
            field=models.FloatField(help_text="The same by the weights that the release gives to groups.", null=True),
        ),
    ]

"""The board that an organiser puts on the front page."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0039_drop_columns_of_metrics"),
    ]

    operations = [
        migrations.AddField(
            model_name="releasetrack",
            name="on_front_page",
            field=models.BooleanField(
                default=False, help_text="Whether an organiser chose its board for the front page: one board at most."
            ),
        ),
        migrations.AddConstraint(
            model_name="releasetrack",
            constraint=models.UniqueConstraint(
                condition=models.Q(("on_front_page", True)), fields=("on_front_page",), name="one_board_on_front_page"
            ),
        ),
    ]

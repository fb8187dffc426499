"""The skeletons of names in use, and those of the names that are here already."""

from django.db import migrations, models

from leaderboard.models.entrants.names import digest_of_skeleton, why_imitates

NAMES = (
    ("leaderboard", "Entrant", "name", "entrant"),
    ("leaderboard", "Entrant", "organisation", "organisation"),
    ("leaderboard", "Team", "name", "team"),
    ("auth", "User", "username", "user"),
)

OF_SITE = {"Entrant": {"kind__in": ["system", "baseline"]}, "User": {"is_staff": True}}


def note_names(apps, schema_editor):
    skeletons = apps.get_model("leaderboard", "NameSkeleton")
    for app, model, field, kind in NAMES:
        all_rows = apps.get_model(app, model).objects.exclude(**{field: ""})
        rows = all_rows.values_list("pk", field)
        of_site = set(all_rows.filter(**OF_SITE[model]).values_list("pk", flat=True)) if model in OF_SITE else set()
        skeletons.objects.bulk_create(
            (
                skeletons(
                    kind=kind,
                    row_id=pk,
                    name=name,
                    digest=digest_of_skeleton(name),
                    imitates=pk not in of_site and bool(why_imitates(name)),
                )  # fmt: skip
                for pk, name in rows.iterator()
            ),
            batch_size=500,
        )


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0025_first_ranks"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="NameSkeleton",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("entrant", "Entrants"),
                            ("organisation", "Organisations"),
                            ("team", "Teams"),
                            ("user", "Accounts"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "row_id",
                    models.BigIntegerField(
                        help_text="The entrant's, team's or user's; of an organisation, the entrant's."
                    ),
                ),
                ("name", models.CharField(max_length=150)),
                ("digest", models.CharField(max_length=64)),
                (
                    "imitates",
                    models.BooleanField(
                        default=False, help_text="Somebody's new name like it would be refused by itself."
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["kind", "digest"], name="skeletons_alike"),
                    models.Index(fields=["imitates"], condition=models.Q(imitates=True), name="skeletons_imitating"),
                ],
                "constraints": [models.UniqueConstraint(fields=["kind", "row_id"], name="skeleton_of_row")],
            },
        ),
        migrations.RunPython(note_names, migrations.RunPython.noop),
    ]

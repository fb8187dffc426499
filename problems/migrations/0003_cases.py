"""Declared work moves from three columns of a problem into the list of its cases."""

from typing import Any

from django.db import migrations, models

from problems import triggers


def _let_change(_apps: Any, schema_editor: Any) -> None:
    """Published problems are guarded; the triggers are made anew after every migrate."""
    triggers.remove(schema_editor.connection)


def _fill(apps: Any, _schema_editor: Any) -> None:
    problem = apps.get_model("problems", "Problem")
    for one in problem.objects.filter(has_benchmark=True).defer("record").iterator():
        fastest = one.flops_dtype or "fp32"
        dtype = "fp32" if fastest == "tf32" else fastest
        case = {"name": "", "size": None, "flops": one.flops, "bytes": one.bytes, "dtype": dtype}
        one.cases = [case | {"fastest_dtype": fastest}]
        one.save(update_fields=["cases"])


class Migration(migrations.Migration):
    dependencies = [("problems", "0002_flops_dtype")]

    operations = [
        migrations.RunPython(_let_change, migrations.RunPython.noop),
        migrations.AddField(
            model_name="problem",
            name="cases",
            field=models.JSONField(default=list, help_text="The timed cases: name, size, flops, bytes, data types."),
        ),
        migrations.RunPython(_fill, migrations.RunPython.noop),
        migrations.RemoveField(model_name="problem", name="flops"),
        migrations.RemoveField(model_name="problem", name="bytes"),
        migrations.RemoveField(model_name="problem", name="flops_dtype"),
    ]

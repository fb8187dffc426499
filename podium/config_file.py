"""`--config-file FILE`: options of a command in YAML; those on the command line win."""

from pathlib import Path
from typing import Annotated

import typer
import yaml


def _load(context: typer.Context, path: Path | None) -> Path | None:
    """Make the file's values the defaults of the other options. Raises typer.BadParameter."""
    if path is None:
        return None
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise typer.BadParameter(f"{path}: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise typer.BadParameter(f"{path}: must be a mapping of options to values")
    values = {str(name).lstrip("-").replace("-", "_"): value for name, value in data.items()}
    known = {parameter.name for parameter in context.command.params} - {"config_file"}
    if unknown := sorted(values.keys() - known):
        raise typer.BadParameter(
            f"{path}: there is no option {unknown[0]!r}; known are {', '.join(sorted(map(str, known)))}"
        )
    context.default_map = {**(context.default_map or {}), **values}
    return path


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        exists=True, dir_okay=False, is_eager=True, callback=_load, help="Options in YAML; those given here win."
    ),
]

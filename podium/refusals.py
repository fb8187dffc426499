"""How commands tell people things on standard error, and end with exit status 2 where they cannot go on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.console import Console

from problems.formats.errors import PackRefused

REFUSED = 2
told = Console(stderr=True, soft_wrap=True)


def say(words: str) -> None:
    told.print(words, markup=False, highlight=False)


def refuse(words: str) -> NoReturn:
    """Print why in red and end the command."""
    told.print(words, style="red", markup=False, highlight=False)
    raise typer.Exit(REFUSED)


@contextmanager
def refusing(*errors: type[Exception]) -> Iterator[None]:
    """Turn these errors, and those of files, into a refusal."""
    try:
        yield
    except errors as error:
        refuse("\n".join(error.every_message if isinstance(error, PackRefused) else [str(error)]))
    except OSError as error:
        refuse(f"{error.filename or 'A file'} cannot be used: {error.strerror or error}")

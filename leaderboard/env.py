"""The three typed readers of the environment; each fails loudly, naming the variable and how to mend it."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off", ""}


def text(name: str, default: str | None = None) -> str:
    """The variable, or the content of the file that `<name>_FILE` names (for secrets), or the default."""
    file = os.environ.get(f"{name}_FILE")
    if file is not None:
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE names {file}, which cannot be read: {error.strerror}") from error
    value = os.environ.get(name, default)
    if value is None:
        raise ImproperlyConfigured(f"{name} is not set. Set it, or set {name}_FILE to a file that holds it.")
    return value


def boolean(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    if value.strip().lower() not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name} is {value!r}; use 1 or 0.")
    return value.strip().lower() in _TRUE


def integer(name: str, default: int) -> int:
    value = os.environ.get(name)
    if value is None:
        return default
    try:
        return int(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is {value!r}; use a whole number.") from error

"""The three typed readers of the environment; each fails loudly, naming the variable and how to mend it."""

import os
import re
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off", ""}


def text(name: str, default: str | None = None) -> str:
    """The variable, or the content of the file that `<name>_FILE` names (for secrets), or the default.

    An empty value is refused unless the default is empty: it would stand for a path, an address or a level.
    """
    value = _from_file(name) if f"{name}_FILE" in os.environ else os.environ.get(name, default)
    if value is None:
        raise ImproperlyConfigured(f"{name} is not set. Set it, or set {name}_FILE to a file that holds it.")
    if not value and default != "":
        raise ImproperlyConfigured(f"{name} is empty. Give it a value, or unset it.")
    return value


def _from_file(name: str) -> str:
    file = os.environ[f"{name}_FILE"]
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{name}_FILE names {file}, which cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ImproperlyConfigured(f"{name}_FILE names {file}, which is not UTF-8 text.") from error


def boolean(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    if value.strip().lower() not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name} is {value!r}; use 1 or 0.")
    return value.strip().lower() in _TRUE


def integer(name: str, default: int, least: int = 1) -> int:
    """A whole number of at least `least`."""
    value = os.environ.get(name)
    if value is None:
        return default
    if not re.fullmatch(r"[0-9]{1,18}", value.strip()) or int(value) < least:
        raise ImproperlyConfigured(f"{name} is {value!r}; use a whole number of at least {least}.")
    return int(value)

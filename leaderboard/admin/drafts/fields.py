"""Form fields of several lines, and how what was typed is laid over what a record holds."""

import re
from typing import Any

from django import forms

from problems.actions.drafts import RELEASE_NAME


class Text(forms.CharField):
    """Text of several lines with `\\n` between them, whatever the browser sends."""

    def __init__(self, *, rows: int = 4, **more: Any) -> None:
        super().__init__(strip=False, widget=forms.Textarea(attrs={"rows": rows}), **more)

    def to_python(self, value: Any) -> str:
        return plain(super().to_python(value) or "")


class Lines(forms.CharField):
    """A list of texts, one a line; empty lines are left out."""

    def __init__(self, *, rows: int = 3, required: bool = False, **more: Any) -> None:
        super().__init__(required=required, widget=forms.Textarea(attrs={"rows": rows}), **more)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return [line for one in plain(text).split("\n") if (line := one.strip())]


class Blocks(Lines):
    """The same, but of texts that may have several lines: then an empty line stands between two of them."""

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return ("\n\n" if any("\n" in one for one in value) else "\n").join(map(str, value))

    def clean(self, value: Any) -> Any:
        text = plain(forms.CharField.clean(self, value))
        parts = re.split(r"\n[ \t]*\n", text) if re.search(r"\n[ \t]*\n", text.strip()) else text.split("\n")
        return [part for one in parts if (part := one.strip())]


def plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def kept_text(before: str, typed: str) -> str:
    """The typed text, or the stored one where they differ in line ends alone, which browsers change."""
    return before if plain(before) == plain(typed) else typed


def overlay(fields: dict[str, Any], name: str, value: Any, default: Any) -> None:
    """Set a field. An equal value is left as it is written, and a default is not written."""
    if fields.get(name, default) == value:
        return
    if value == default:
        fields.pop(name, None)
    else:
        fields[name] = value


class ReleaseNameField(forms.CharField):
    """The name inside a release's packs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=60, **kwargs)

    def clean(self, value: Any) -> str:
        name: str = super().clean(value)
        if not RELEASE_NAME.fullmatch(name):
            words = "Use letters, digits, dots, hyphens and underscores, beginning with a letter or digit."
            raise forms.ValidationError(words)
        return name

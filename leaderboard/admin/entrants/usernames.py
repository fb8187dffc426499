"""A field for several accounts, by name: one a line. A list to choose from would hold every account of the site."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.models import User


class _Lines(forms.Textarea):
    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:  # noqa: ARG002
        return str(data.get(name, "")).split()

    def format_value(self, value: Any) -> str:
        return "\n".join(sorted(map(str, value or [])))


class UsernamesField(
    forms.ModelMultipleChoiceField[User] if TYPE_CHECKING else forms.ModelMultipleChoiceField  # type: ignore[misc]
):
    def __init__(self, help_text: str) -> None:
        super().__init__(
            User.objects.order_by("username"),
            to_field_name="username",
            required=False,
            widget=_Lines(attrs={"rows": 4}),
            help_text=f"{help_text} Usernames, one a line.",
            error_messages={"invalid_choice": "There is no account named %(value)s."},
        )

"""Forms that edit a row. They refuse a save if somebody has changed the row since the form was opened.

The form carries a signed token: a digest of each value that it edits, and the row's latest audit entry. The view locks
the row before it builds the form, so that the token is compared with what the save would overwrite.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.core import signing
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils.html import format_html

from leaderboard.models.audit import AuditEntry, target_of

if TYPE_CHECKING:
    _BaseModelForm = forms.BaseModelForm[Any]
else:
    _BaseModelForm = forms.BaseModelForm

OPENED = "opened"
"""The name of the hidden input that carries the token."""
_SALT = "podium.opened-row"
_DIGEST_CHARACTERS = 16
_TOLD_ENTRIES = 5
_TOLD_CHARACTERS = 300


class _Encoder(DjangoJSONEncoder):
    def default(self, value: Any) -> Any:
        if isinstance(value, models.Model):
            return value.pk
        try:
            return super().default(value)
        except TypeError:
            return str(value)


def _digest(value: Any) -> str:
    """The same for equal values; the order of rows in a set does not count."""
    if isinstance(value, list | tuple | models.QuerySet) and all(isinstance(one, models.Model) for one in value):
        value = sorted(str(one.pk) for one in value)
    text = json.dumps(value, cls=_Encoder, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARACTERS]


def lock(row: models.Model) -> None:
    """Hold the row until the transaction ends. To be called before the form reads it."""
    type(row)._base_manager.select_for_update().filter(pk=row.pk).values_list("pk").first()


def token_of(row: models.Model, values: Mapping[str, Any]) -> str:
    """The token of a form that shows `values` of the row."""
    entry = AuditEntry.objects.filter(target=target_of(row)).values_list("pk", flat=True).first()
    digests = {name: _digest(value) for name, value in values.items()}
    return signing.dumps([_place(row), entry or 0, digests], salt=_SALT, compress=True)


def hidden_input(token: str) -> str:
    return format_html('<input type="hidden" name="{}" value="{}">', OPENED, token)


@dataclass(frozen=True)
class Stale:
    """The changes since a form was opened: the names of its values, and the audit's entries since."""

    row: models.Model
    names: Sequence[str]
    entries: Sequence[AuditEntry]

    @property
    def by(self) -> str:
        """The author, time and kind of the change, as a sentence after a blank; "" where the audit has no entry."""
        acts = [
            f"{one.actor_name} at {one.at:%Y-%m-%d %H:%M} UTC ({shorten(one.told, _TOLD_CHARACTERS, placeholder=' …')})"
            for one in self.entries
        ]
        return f" By {'; '.join(acts)}." if acts else ""

    @property
    def words(self) -> str:
        if not self.names:
            return (
                "The page that you sent does not say which state of the row it was opened on. Nothing was saved, and"
                " what you typed is still here. Open this page again in another tab, and save it there."
            )
        what = ", ".join(name.replace("_", " ") for name in self.names)
        return (
            f"{self.row} was changed while you edited it: {what}.{self.by} Nothing was saved, and what you typed is"
            " still here. Open this page again in another tab, bring both together there, and save that."
        )


def stale_since(token: str, row: models.Model, values: Mapping[str, Any]) -> Stale | None:
    """Returns the changes since the token was made; None if there are none. A missing token counts as changed."""
    try:
        place, entry, digests = signing.loads(token, salt=_SALT)
    except signing.BadSignature:
        return Stale(row, [], [])
    now = {name: _digest(value) for name, value in values.items()}
    names = sorted(name for name in now.keys() | digests.keys() if now.get(name) != digests.get(name))
    if place == _place(row) and not names:
        return None
    since = AuditEntry.objects.filter(target=target_of(row), pk__gt=entry)
    return Stale(row, names, list(since[:_TOLD_ENTRIES]))


def _place(row: models.Model) -> str:
    return f"{row._meta.label_lower} {row.pk}"


class GuardedForm(_BaseModelForm):
    """A base before a model form. Its page shows `opened` inside the form; its view locks the row."""

    also_opened: ClassVar[Mapping[str, Any]] = {}
    """Values that the page edits beside the form's own."""

    @property
    def opened_values(self) -> dict[str, Any]:
        own = {name: field for name, field in self.fields.items() if not field.disabled}
        return {name: self.get_initial_for_field(field, name) for name, field in own.items()} | {**self.also_opened}

    @property
    def opened(self) -> str:
        """A refused form keeps its token: what was changed meanwhile is still not in it."""
        if self.instance.pk is None:
            return ""
        given = self.data.get(OPENED, "") if self.is_bound else token_of(self.instance, self.opened_values)
        return hidden_input(given)

    def clean(self) -> dict[str, Any] | None:
        said = super().clean()
        if self.instance.pk is not None:
            stale = stale_since(self.data.get(OPENED, ""), self.instance, self.opened_values)
            if stale is not None:
                self.add_error(None, forms.ValidationError(stale.words, code="stale"))
        return said

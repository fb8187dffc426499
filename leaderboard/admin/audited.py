"""Rows that are edited in the admin: a stale save is refused, and an edit is audited with old and new values."""

from typing import Any

from django.contrib.admin.utils import unquote
from django.db import transaction
from django.forms.models import _get_foreign_key
from django.http import HttpRequest

from leaderboard.admin.base import ActingAdmin
from leaderboard.models.audit import record
from leaderboard.models.audit_values import edit_detail
from leaderboard.site import stale_forms
from leaderboard.site.stale_forms import GuardedForm


class AuditedAdmin(ActingAdmin):
    """Rows that may be edited, by one person at a time; every edit is audited with old and new values.

    A save writes the fields that its form changed, and is refused if somebody has changed the row since the form was
    opened. Nothing is deleted.
    """

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        with transaction.atomic():
            row = self.get_object(request, unquote(object_id)) if request.method == "POST" and object_id else None
            if row is not None:
                stale_forms.lock(row)
            return super().changeform_view(request, object_id, form_url, extra_context)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """The form. For an existing row it carries a token of the row's state when the form was opened."""
        if change and obj is not None:
            base = kwargs.get("form", self.form)
            own = {"also_opened": self._inline_rows(request, obj), "__module__": base.__module__}
            kwargs["form"] = type(base)(base.__name__, (GuardedForm, base), own)
        return super().get_form(request, obj, change=change, **kwargs)

    def _inline_rows(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        """The rows that the page's inlines edit, by the inline's name."""
        found = {}
        for inline in self.get_inline_instances(request, obj):
            key = _get_foreign_key(self.model, inline.model, fk_name=inline.fk_name)
            rows = inline.get_queryset(request).filter(**{key.name: obj}).order_by("pk")
            found[str(inline.model._meta.verbose_name_plural)] = list(rows.values_list())
        return found

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Only the columns that this form changed."""
        if not change:
            super().save_model(request, obj, form, change)
        elif columns := _changed_columns(obj):
            obj.save(update_fields=columns)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        before = self._inline_texts(form.instance, formsets) if change else {}
        super().save_related(request, form, formsets, change)
        row = form.instance
        after = {name: form.cleaned_data.get(name) for name in form.changed_data}
        after |= self._inline_texts(row, formsets)
        initial = {name: form.get_initial_for_field(form.fields[name], name) for name in form.changed_data}
        was = {name: _shown(row, name, value) for name, value in initial.items()} if change else {}
        if detail := edit_detail(was | before, after):
            record(request.user, "edit" if change else "add", self.audited(row), **detail)

    def audited(self, row: Any) -> Any:
        """The row that the audit names."""
        return row

    @staticmethod
    def _inline_texts(row: Any, formsets: Any) -> dict[str, list[str]]:
        """Texts of the changed inlines as the database holds them."""
        changed = [one for one in formsets if one.has_changed()]
        return {
            one.prefix: [str(each) for each in one.model._base_manager.filter(**{one.fk.name: row})] for one in changed
        }


def _changed_columns(row: Any) -> list[str]:
    """The row's columns that differ from what is stored, by field."""
    stored = type(row)._base_manager.get(pk=row.pk)
    fields = [one for one in row._meta.concrete_fields if not one.primary_key]
    return [one.name for one in fields if getattr(stored, one.attname) != getattr(row, one.attname)]


def _shown(row: Any, name: str, value: Any) -> Any:
    """A form's initial value as its cleaned value is: of a foreign key the row in place of its id."""
    field = row._meta.get_field(name) if name in {one.name for one in row._meta.fields} else None
    if field is not None and field.remote_field and value is not None:
        return field.remote_field.model._base_manager.filter(pk=value).first()
    return value

"""What the admin's pages share: read-only rows, and acts (a button, a form, an action, its report line by line)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import models
from django.forms.fields import InvalidJSONInput
from django.http import Http404, HttpRequest, HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from leaderboard.errors import Refused
from leaderboard.models.audit import record
from problems.actions.releases import ReleaseRefused
from problems.formats.errors import PackRefused
from problems.spec.nesting import nests_too_deeply

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin

Outcome = list[str] | HttpResponseBase
"""Lines of a report, or an answer of its own (a download)."""


class NoFields(forms.Form):
    """For acts that need nothing but a yes."""


class ReasonForm(forms.Form):
    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}), help_text="Shown publicly beside what it changes."
    )


class BoundedJSONField(forms.JSONField):
    """Refuses JSON that nests too deeply, of which a few bytes can exhaust the stack."""

    def to_python(self, value: Any) -> Any:
        try:
            found = super().to_python(value)
            is_too_deep = nests_too_deeply(found)
        except RecursionError:
            is_too_deep = True
        if is_too_deep:
            raise ValidationError(self.error_messages["invalid"], code="invalid", params={"value": str(value)[:100]})
        return found

    def bound_data(self, data: Any, initial: Any) -> Any:
        try:
            found = super().bound_data(data, initial)
            return InvalidJSONInput(data) if nests_too_deeply(found) else found
        except RecursionError:
            return InvalidJSONInput(data)


@dataclass(frozen=True)
class Act:
    """A button on a row (or, among `list_acts`, above the list) that leads to a form and then runs an action."""

    name: str
    label: str
    explains: str
    run: Callable[[HttpRequest, Any, dict[str, Any]], Outcome]
    form: Callable[[Any], type[forms.BaseForm]] = lambda _row: NoFields
    offered: Callable[[Any], bool] = lambda _row: True


class ActingAdmin(_ModelAdmin):
    """A model admin with acts. Acting needs the model's change permission, even where rows are read-only."""

    change_form_template = "admin/podium/change_form.html"
    change_list_template = "admin/podium/change_list.html"
    formfield_overrides: ClassVar = {models.JSONField: {"form_class": BoundedJSONField}}
    acts: Sequence[Act] = ()
    list_acts: Sequence[Act] = ()

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        own = [
            path("act/<slug:name>/", wrap(self._list_act), name=f"{self._url_name}_list_act"),
            path("<path:object_id>/act/<slug:name>/", wrap(self._act), name=f"{self._url_name}_act"),
        ]
        return own + super().get_urls()

    @property
    def _url_name(self) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}"

    def may_act(self, request: HttpRequest) -> bool:
        user: Any = request.user
        return bool(
            user.is_active and user.is_staff and user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")
        )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        buttons = [self._list_button(act) for act in self.list_acts] if self.may_act(request) else []
        return super().changelist_view(request, {**(extra_context or {}), "act_buttons": buttons})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> Any:
        row = self.get_object(request, object_id)
        offered = [act for act in self.acts if row is not None and act.offered(row)] if self.may_act(request) else []
        buttons = [(act.label, self._act_url(act, object_id)) for act in offered]
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "act_buttons": buttons})

    def _list_button(self, act: Act) -> tuple[str, str]:
        return act.label, reverse(f"admin:{self._url_name}_list_act", args=[act.name])

    def _act_url(self, act: Act, object_id: str) -> str:
        return reverse(f"admin:{self._url_name}_act", args=[object_id, act.name])

    def _list_act(self, request: HttpRequest, name: str) -> HttpResponseBase:
        return self._page(request, self._named(self.list_acts, name), None)

    def _act(self, request: HttpRequest, object_id: str, name: str) -> HttpResponseBase:
        row = self.get_object(request, object_id)
        act = self._named(self.acts, name)
        if row is None or not act.offered(row):
            raise Http404(f"There is nothing to {name} here.")
        return self._page(request, act, row)

    def _named(self, acts: Sequence[Act], name: str) -> Act:
        for act in acts:
            if act.name == name:
                return act
        raise Http404(f"There is no act {name!r}.")

    def _page(self, request: HttpRequest, act: Act, row: Any) -> HttpResponseBase:
        """GET shows the form; POST runs the action and shows its lines, or its refusal above the form."""
        if not self.may_act(request):
            raise PermissionDenied
        form = act.form(row)(request.POST, request.FILES) if request.method == "POST" else act.form(row)()
        lines: list[str] | None = None
        if form.is_bound and form.is_valid():
            outcome = _run(request, act, row, form)
            if isinstance(outcome, HttpResponseBase):
                return outcome
            lines = outcome
        return self._render(request, act, row, form, lines)

    def _render(
        self, request: HttpRequest, act: Act, row: Any, form: forms.BaseForm, lines: list[str] | None
    ) -> TemplateResponse:
        back = f"admin:{self._url_name}_change" if row is not None else f"admin:{self._url_name}_changelist"
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": act.label if row is None else f"{act.label}: {row}",
            "act": act,
            "form": form,
            "lines": lines,
            "back_url": reverse(back, args=[row.pk] if row is not None else []),
        }
        return TemplateResponse(request, "admin/podium/act.html", context, status=200 if not form.errors else 422)


def _run(request: HttpRequest, act: Act, row: Any, form: forms.BaseForm) -> Outcome | None:
    """None when the action refused; its words are then the form's error."""
    try:
        return act.run(request, row, form.cleaned_data)
    except (Refused, ReleaseRefused, PackRefused) as refused:
        form.add_error(None, str(refused))
        return None


class ReadOnlyAdmin(ActingAdmin):
    """Rows that nobody edits, adds or deletes here."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - the base class's signature
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


class AuditedAdmin(ActingAdmin):
    """Rows that may be edited; every edit is an audit entry that names the fields. Nothing is deleted."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        changed = [*form.changed_data, *(f"{one.prefix}" for one in formsets if one.has_changed())]
        if changed:
            record(request.user, "edit" if change else "add", form.instance, fields=changed)

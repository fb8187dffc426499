"""Bases of the admin's pages: read-only rows, and acts (a button, a form, an action, its report line by line).

An act works on one row, on none (above a list), or on the rows ticked in a list.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db import models, transaction
from django.db.models import QuerySet
from django.forms.fields import InvalidJSONInput
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.functional import cached_property
from django.utils.html import format_html

from leaderboard.errors import Refused
from leaderboard.models.audit import AuditEntry, target_of
from leaderboard.site import stale_forms
from problems.actions.releases import ReleaseRefused
from problems.formats.errors import PackRefused
from problems.spec.nesting import nests_too_deeply

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin

Outcome = list[str] | HttpResponseBase
"""Lines of a report, or an answer of its own (a download)."""
MAX_TICKED = 1000
"""The most rows that one act on ticked rows may have."""
COUNTED_ROWS = 10_000
"""A list counts its rows up to this number, and shows no more of them."""
HISTORY_ENTRIES = 200


class BoundedPaginator(Paginator[Any] if TYPE_CHECKING else Paginator):  # type: ignore[misc]
    """Counts no further than `COUNTED_ROWS`: counting millions of rows would take longer than showing them."""

    @cached_property
    def _found(self) -> int:
        return int(self.object_list.order_by()[: COUNTED_ROWS + 1].count())

    @cached_property
    def count(self) -> int:
        return min(self._found, COUNTED_ROWS)

    @property
    def is_cut(self) -> bool:
        return self._found > COUNTED_ROWS


def admin_link(row: Any, text: object = None) -> str:
    """A link to the row's page in the admin; a dash if there is no row."""
    if row is None:
        return "–"
    url = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', url, row if text is None else text)


class NoFields(forms.Form):
    """The form of acts that need nothing but a yes."""


class ReasonForm(forms.Form):
    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}), help_text="Shown publicly beside what it changes."
    )


class MomentInput(forms.DateTimeInput):
    """The browser's own picker of date and time. Times are UTC."""

    input_type = "datetime-local"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"step": "1", **(attrs or {})}, format="%Y-%m-%dT%H:%M:%S")


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
    """A button on a row (or, among `list_acts`, above the list) that leads to a form and then runs an action.

    Among `bulk_acts` it is offered for the ticked rows of a list, and `run` gets a list of them.
    """

    name: str
    label: str
    explains: str
    run: Callable[[HttpRequest, Any, dict[str, Any]], Outcome]
    form: Callable[[Any], type[forms.BaseForm]] = lambda _row: NoFields
    offered: Callable[[Any], bool] = lambda _row: True
    edits: Sequence[str] = ()
    """The row's fields that the form shows and `run` overwrites: refused if one was changed since it was opened."""
    effect: Callable[[HttpRequest, Any], Sequence[str]] = lambda _request, _row: ()
    """Effects of the act if it were done now, one a line; shown above the form. Among `bulk_acts` it gets the list
    of rows."""


class ActingAdmin(_ModelAdmin):
    """A model admin with acts. Acting needs the model's change permission, even where rows are read-only."""

    formfield_overrides: ClassVar = {
        models.JSONField: {"form_class": BoundedJSONField},
        models.DateTimeField: {"form_class": forms.DateTimeField, "widget": MomentInput},
    }
    acts: Sequence[Act] = ()
    list_acts: Sequence[Act] = ()
    bulk_acts: Sequence[Act] = ()
    paginator = BoundedPaginator
    list_per_page = 100
    show_full_result_count = False

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

    def get_view_on_site_url(self, obj: Any = None) -> str | None:
        """The row's own page, without Django's redirect through its table of content types."""
        return obj.get_absolute_url() if hasattr(obj, "get_absolute_url") else None

    @admin.display(description="page")
    def page(self, row: Any) -> str:
        """A link to the row's own page, for `list_display`."""
        return format_html('<a href="{}">View on site</a>', row.get_absolute_url())

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The audit's entries on the row, in place of the framework's log."""
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404(f"There is no {self.opts.verbose_name} {object_id}.")
        if not self.has_view_or_change_permission(request, row):
            raise PermissionDenied
        entries = list(AuditEntry.objects.filter(target=target_of(row))[:HISTORY_ENTRIES])
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "object": row,
            "title": f"History of {row}",
            "entries": entries,
            "is_cut": len(entries) == HISTORY_ENTRIES,
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/object_history.html", context)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Django's actions that the user may take, and the acts on ticked rows."""
        found: dict[str, Any] = super().get_actions(request)
        if self.may_act(request):
            found |= {act.name: (_on_ticked_rows(act), act.name, act.label) for act in self.bulk_acts}
        return found

    def bulk_page(self, request: HttpRequest, act: Act, chosen: QuerySet[Any]) -> HttpResponseBase:
        """The first POST, from the list, shows the form; the one from the form itself runs the action."""
        if not self.may_act(request):
            raise PermissionDenied
        rows = list(chosen[: MAX_TICKED + 1])
        form = act.form(rows)(request.POST) if "confirmed" in request.POST else act.form(rows)()
        lines: list[str] | None = None
        if len(rows) > MAX_TICKED:
            form = act.form(rows)({})
            form.full_clean()
            form.errors.clear()
            form.add_error(
                None, f"At most {MAX_TICKED} rows at a time. Narrow the list by its filters, and tick again."
            )
        elif form.is_bound and form.is_valid():
            outcome = _run(request, act, rows, form)
            if isinstance(outcome, HttpResponseBase):
                return outcome
            lines = outcome
        ticked = {
            "chosen": rows,
            "ticked": request.POST.getlist(ACTION_CHECKBOX_NAME),
            "select_across": request.POST.get("select_across", "0"),
        }
        return self._render(request, act, None, form, lines, ticked)

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
            outcome = _run_edit(request, act, row, form) if act.edits else _run(request, act, row, form)
            if isinstance(outcome, HttpResponseBase):
                return outcome
            lines = outcome
        opened = _opened(request, act, row) if act.edits else ""
        return self._render(request, act, row, form, lines, {"opened": opened})

    def _render(
        self,
        request: HttpRequest,
        act: Act,
        row: Any,
        form: forms.BaseForm,
        lines: list[str] | None,
        more: dict[str, Any],
    ) -> TemplateResponse:
        back = f"admin:{self._url_name}_change" if row is not None else f"admin:{self._url_name}_changelist"
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": act.label if row is None else f"{act.label}: {row}",
            "act": act,
            "form": form,
            "lines": lines,
            "effect": () if lines is not None else act.effect(request, more.get("chosen", row)),
            "back_url": reverse(back, args=[row.pk] if row is not None else []),
            **more,
        }
        template = "admin/podium/bulk_act.html" if "ticked" in context else "admin/podium/act.html"
        return TemplateResponse(request, template, context, status=200 if not form.errors else 422)


def _on_ticked_rows(act: Act) -> Callable[[ActingAdmin, HttpRequest, QuerySet[Any]], HttpResponseBase]:
    def run(model_admin: ActingAdmin, request: HttpRequest, chosen: QuerySet[Any]) -> HttpResponseBase:
        return model_admin.bulk_page(request, act, chosen)

    return run


def each_row(rows: Sequence[Any], run: Callable[[Any], str]) -> list[str]:
    """A line for each row: what was done, or why it was refused. The others go on."""
    lines = []
    for row in rows:
        try:
            lines.append(run(row))
        except (Refused, ReleaseRefused) as refused:
            lines.append(f"{row}: not done. {refused}")
    return lines


def _run(request: HttpRequest, act: Act, row: Any, form: forms.BaseForm) -> Outcome | None:
    """None when the action refused; its words are then the form's error."""
    try:
        return act.run(request, row, form.cleaned_data)
    except (Refused, ReleaseRefused, PackRefused) as refused:
        form.add_error(None, str(refused))
        return None


def _values(act: Act, row: Any) -> dict[str, Any]:
    return {name: getattr(row, row._meta.get_field(name).attname) for name in act.edits}


def _opened(request: HttpRequest, act: Act, row: Any) -> str:
    given = request.POST.get(stale_forms.OPENED, "") if request.method == "POST" else None
    return stale_forms.hidden_input(stale_forms.token_of(row, _values(act, row)) if given is None else given)


def _run_edit(request: HttpRequest, act: Act, row: Any, form: forms.BaseForm) -> Outcome | None:
    """As `_run`, for an act that overwrites what its form shows."""
    with transaction.atomic():
        stale_forms.lock(row)
        row.refresh_from_db()
        stale = stale_forms.stale_since(request.POST.get(stale_forms.OPENED, ""), row, _values(act, row))
        if stale is None:
            return _run(request, act, row, form)
    form.add_error(None, stale.words)
    return None


class ReadOnlyAdmin(ActingAdmin):
    """Rows that nobody edits, adds or deletes here."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - the base class's signature
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


class OwnPageAdmin(ReadOnlyAdmin):
    """Rows that `page_of` shows on a page of their own, in place of the form of their fields."""

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",  # noqa: ARG002 - the base class's signature
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:
        if request.method == "POST":
            raise PermissionDenied
        self.check_view(request)
        return self.page_of(request, object_id)

    def page_of(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        raise NotImplementedError

    def check_view(self, request: HttpRequest) -> None:
        """Raises PermissionDenied."""
        if not self.has_view_permission(request):
            raise PermissionDenied

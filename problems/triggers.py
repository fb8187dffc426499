"""Database triggers that refuse to change what must not change; made anew at every migrate, compared by a check.

Each app registers its guards (`Guard`). The condition is SQL over OLD and NEW that is true for a forbidden change;
`{differs}` stands for the null-safe inequality of the database at hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.signals import post_migrate, pre_migrate


@dataclass(frozen=True)
class Guard:
    """One forbidden change: `event` on `table` while `condition` holds."""

    table: str
    event: str
    name: str
    condition: str
    message: str

    @property
    def trigger(self) -> str:
        return f"podium_{self.table}_{self.name}"


_GUARDS: list[Guard] = []


def guard(*guards: Guard) -> None:
    _GUARDS.extend(one for one in guards if one not in _GUARDS)


def any_differs(columns: list[str]) -> str:
    return " OR ".join(f'OLD."{column}" {{differs}} NEW."{column}"' for column in columns)


def columns_of(model: type[models.Model], without: set[str]) -> list[str]:
    return [field.column for field in model._meta.concrete_fields if field.column and field.name not in without]


def _sqlite(one: Guard) -> list[str]:
    condition = one.condition.replace("{differs}", "IS NOT")
    return [
        f'DROP TRIGGER IF EXISTS "{one.trigger}"',
        f'CREATE TRIGGER "{one.trigger}" BEFORE {one.event} ON "{one.table}" FOR EACH ROW WHEN {condition} '
        f"BEGIN SELECT RAISE(ABORT, '{one.message}'); END",
    ]


def _postgresql(one: Guard) -> list[str]:
    condition = one.condition.replace("{differs}", "IS DISTINCT FROM")
    row = "OLD" if one.event == "DELETE" else "NEW"
    return [
        f'DROP TRIGGER IF EXISTS "{one.trigger}" ON "{one.table}"',
        f'CREATE OR REPLACE FUNCTION "{one.trigger}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN '
        f"IF ({condition}) THEN RAISE EXCEPTION '{one.message}' USING ERRCODE = 'integrity_constraint_violation'; "
        f"END IF; RETURN {row}; END $$",
        f'CREATE TRIGGER "{one.trigger}" BEFORE {one.event} ON "{one.table}" '
        f'FOR EACH ROW EXECUTE FUNCTION "{one.trigger}"()',
    ]


def statements(vendor: str, one: Guard) -> list[str]:
    return _sqlite(one) if vendor == "sqlite" else _postgresql(one)


def install(connection: BaseDatabaseWrapper) -> None:
    tables = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for one in _GUARDS:
            if one.table in tables:
                for sql in statements(connection.vendor, one):
                    cursor.execute(sql)


def remove(connection: BaseDatabaseWrapper) -> None:
    """Take the triggers away, for a migration or a test that flushes tables; nothing else should."""
    with connection.cursor() as cursor:
        for one in _GUARDS:
            suffix = "" if connection.vendor == "sqlite" else f' ON "{one.table}"'
            cursor.execute(f'DROP TRIGGER IF EXISTS "{one.trigger}"{suffix}')


def missing(connection: BaseDatabaseWrapper) -> list[str]:
    """Names of guards whose trigger is absent, or (SQLite, which keeps the text) differs from ours."""
    tables = set(connection.introspection.table_names())
    guards = [one for one in _GUARDS if one.table in tables]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            found = dict(cursor.fetchall())
            return [g.trigger for g in guards if found.get(g.trigger) != _sqlite(g)[-1]]
        cursor.execute("SELECT t.tgname, p.prosrc FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid")
        found = dict(cursor.fetchall())
        return [g.trigger for g in guards if found.get(g.trigger) != _postgresql(g)[1].split("$$")[1]]


def _before_migrate(using: str, plan: Sequence[Any], **_: Any) -> None:
    """SQLite renames no table while a trigger names one that is just being made anew."""
    if plan:
        remove(connections[using])


def _after_migrate(using: str, **_: Any) -> None:
    install(connections[using])


@register(Tags.database)
def check_triggers(
    app_configs: Sequence[AppConfig] | None = None,  # noqa: ARG001 - what Django passes
    databases: Sequence[str] | None = None,
    **_: Any,
) -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    for alias in databases or []:
        if gone := missing(connections[alias]):
            problems.append(
                # a warning, since `migrate`, which mends it, refuses to start on an error
                Warning(
                    f"Immutability triggers are missing or changed in database {alias!r}: {', '.join(gone)}.",
                    hint="Run `manage.py migrate`; it makes them anew.",
                    id="podium.W010",
                )
            )
    return problems


def connect() -> None:
    pre_migrate.connect(_before_migrate, dispatch_uid="podium-no-triggers")
    post_migrate.connect(_after_migrate, dispatch_uid="podium-triggers")

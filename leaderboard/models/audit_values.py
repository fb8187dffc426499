"""Old and new values of an edit as the audit keeps them: short texts without secrets or personal data."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import models

MAX_CHARACTERS = 200
NOT_SHOWN = "(not shown)"
_SECRET_NAMES = re.compile(r"password|token|secret|digest|credential|private|(?:^|_)key$|recovery|otp")
_PERSONAL_NAMES = frozenset({"email", "first_name", "last_name"})
"""The audit outlives an account, so that it names these fields and keeps none of their values."""
_SECRETS = re.compile(r"\bpd[a-z]{1,2}_[\w-]{8,}|\b(?:sk|ghp|gho|github_pat|hf)[-_][\w-]{12,}|(?<=://)[^\s/@]{1,200}@")


def edit_detail(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """`fields`, the names whose values differ, and what each `was` and is `now`. Empty if none differs."""
    names = [name for name in after if _text(before.get(name), full=True) != _text(after[name], full=True)]
    if not names:
        return {}
    was, now = ({name: value_text(name, found.get(name)) for name in names} for found in (before, after))
    return {"fields": names, "was": was, "now": now}


def value_text(name: str, value: Any) -> str:
    """At most `MAX_CHARACTERS` characters."""
    if name in _PERSONAL_NAMES or _SECRET_NAMES.search(name.lower()):
        return NOT_SHOWN
    return _text(value)


def _text(value: Any, *, full: bool = False) -> str:
    if value is None or value == "":
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple | set | models.QuerySet):
        words = ", ".join(sorted(map(str, value))) or "nothing"
    else:
        words = str(value)
    if full:
        return words
    words = _SECRETS.sub("(secret)", words)
    return words if len(words) <= MAX_CHARACTERS else f"{words[: MAX_CHARACTERS - 1]}…"


def told(detail: Mapping[str, Any]) -> str:
    """An entry's detail in words; an edit as `name: old → new`."""
    was, now = detail.get("was"), detail.get("now")
    if isinstance(was, dict) and isinstance(now, dict):
        rest = [_one(name, value) for name, value in detail.items() if name not in ("fields", "was", "now")]
        return "; ".join([*_pairs(was, now), *rest])
    return "; ".join(_one(name, value) for name, value in detail.items())


def _pairs(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterable[str]:
    return (f"{name}: {was.get(name, 'nothing')} → {value}" for name, value in now.items())


def _one(name: str, value: Any) -> str:
    return f"{name}: {', '.join(map(str, value)) if isinstance(value, list) else value}"

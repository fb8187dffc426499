"""Template tags and filters that write figures, times and verdicts alike on every page."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.models import Measurement
from leaderboard.results.measured import measured_words
from leaderboard.results.timings import clock_words
from leaderboard.site import numerals
from leaderboard.submissions.side_by_side import FilePair
from leaderboard.web.accounts.account_nav import account_nav
from leaderboard.web.problems import highlight
from leaderboard.web.problems.statement import as_html
from leaderboard.web.results import verdicts

register = template.Library()

register.filter("percent", numerals.percent)
register.filter("ratio", numerals.ratio)
register.filter("significant", numerals.significant)
register.filter("general", numerals.general)
register.filter("amount", numerals.amount)
register.filter("milliseconds", numerals.milliseconds)
register.filter("size", numerals.size)
register.filter("duration", numerals.duration)
register.filter("measured", measured_words)
register.filter("markdown", as_html)
register.simple_tag(account_nav)
register.filter("code", highlight.code)


def _budget(context: template.Context) -> highlight.Budget:
    """The page's remaining budget of coloured text, counted for each template by itself."""
    budget: Any = context.render_context.setdefault("code_budget", highlight.Budget())  # type: ignore[arg-type]
    return cast(highlight.Budget, budget)


@register.simple_tag(takes_context=True)
def source(context: template.Context, path: str, text: str, anchored: bool = True) -> SafeString:
    """A file as numbered, coloured lines. A path's anchors may be on a page once: see highlight.py."""
    return highlight.source(path, text, _budget(context), anchored=anchored)


@register.simple_tag(takes_context=True)
def coloured(context: template.Context, pair: FilePair) -> list[highlight.ColouredRow]:
    """The rows of two files side by side."""
    return highlight.coloured(pair, _budget(context))


@register.filter
def verdict(name: str) -> SafeString:
    return verdicts.chip(verdicts.VERDICTS[name])


@register.filter
def state(name: str) -> SafeString:
    return verdicts.chip(verdicts.STATES[name])


@register.filter
def moment(when: datetime | None) -> SafeString | str:
    """A time in UTC that machines can read too."""
    if when is None:
        return numerals.MISSING
    utc = timezone.localtime(when, timezone.get_default_timezone())
    full, short = f"{utc:%Y-%m-%d %H:%M:%S} UTC", f"{utc:%Y-%m-%d %H:%M}"
    return format_html('<time datetime="{}" title="{}">{}</time>', utc.isoformat(), full, short)


@register.filter
def day(when: datetime | None) -> str:
    return numerals.MISSING if when is None else f"{when:%Y-%m-%d}"


@register.filter
def ago(when: datetime | None) -> str:
    """`3 min 20 s ago`; `never` for None."""
    return "never" if when is None else f"{numerals.duration((timezone.now() - when).total_seconds())} ago"


@register.filter
def words(code: str) -> str:
    """`busy_disagrees` → `Busy disagrees`."""
    return code.replace("_", " ").capitalize()


@register.filter
def measured_time(one: Measurement | None) -> str:
    """A measurement's time, with the decimals that its interval supports."""
    return numerals.MISSING if one is None else numerals.milliseconds(one.median_ms, one.ci_low_ms, one.ci_high_ms)


@register.filter
def measured_interval(one: Measurement) -> str:
    return numerals.milliseconds_interval(one.median_ms, one.ci_low_ms, one.ci_high_ms, len(one.runs_ms))


@register.filter
def whose_clock(one: Measurement, is_function: bool) -> str:
    return clock_words(one.clock, is_function=is_function)


LANGUAGES = {"cuda": "CUDA C++", "cpp": "C++", "triton": "Triton", "python": "Python"}


@register.filter
def language(code: str | None) -> str:
    return LANGUAGES.get(code or "", code or "")


@register.filter
def shape(lengths: Sequence[int]) -> str:
    """[512, 4096] → `512 × 4096`; an array without axes has one element."""
    return " × ".join(map(str, lengths)) or "1"


@register.filter
def item(mapping: Any, key: Any) -> Any:
    return mapping.get(key)

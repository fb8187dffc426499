"""Template tags and filters that write figures, times and verdicts alike on every page."""

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast
from urllib.parse import quote, urlencode

from django import forms, template
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.boards.columns import primary_score
from leaderboard.boards.problem_choice import Facet
from leaderboard.models import Evaluation, Measurement
from leaderboard.results.measured import measured_words
from leaderboard.results.timings import clock_words
from leaderboard.site import numerals
from leaderboard.submissions.side_by_side import FilePair
from leaderboard.visibility import SEALED
from leaderboard.web.accounts.account_nav import account_nav
from leaderboard.web.problems import highlight
from leaderboard.web.problems.statement import as_html
from leaderboard.web.results import verdicts
from problems.models import Release

register = template.Library()

register.filter("percent", numerals.percent)
register.filter("ratio", numerals.ratio)
register.filter("significant", numerals.significant)
register.filter("general", numerals.general)
register.filter("amount", numerals.amount)
register.filter("milliseconds", numerals.milliseconds)
register.filter("microseconds", numerals.microseconds)
register.filter("size", numerals.size)
register.filter("tokens", numerals.tokens)
register.filter("duration", numerals.duration)
register.filter("measured", measured_words)
register.filter("primary_score", primary_score)
register.filter("markdown", as_html)
register.simple_tag(account_nav)
register.filter("code", highlight.code)
register.simple_tag(verdicts.count_chip)


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
def evaluation_chip(evaluation: Evaluation) -> SafeString:
    """The chip of an evaluation: its verdict, that it is sealed, or its state."""
    result = evaluation.current_result
    if result is None and evaluation.is_sealed:
        return verdict(SEALED)
    return verdicts.chip(verdicts.look_of(evaluation.state, result.verdict if result else None))


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
def coded(text: str) -> SafeString:
    """Escaped text whose parts in backticks are code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one is not closed
        return format_html("{}", text)
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if n % 2 else part,) for n, part in enumerate(parts))
    )


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


@register.filter
def column_words(column: Mapping[str, str]) -> str:
    """A column's definition, its unit, and which direction is better."""
    unit = f" Unit: {column['unit']}." if column["unit"] else ""
    better = {"up": " More is better.", "down": " Less is better."}.get(column["better"], "")
    return f"{column['definition']}{unit}{better}"


@register.inclusion_tag("podium/site/fact.html")
def fact(title: str, value: Any) -> dict[str, Any]:
    """One term of a `<dl class="facts">` and its value."""
    return {"title": title, "value": value}


@register.inclusion_tag("podium/site/chart.html")
def chart(label: str, url: str, name: str, facts: str = "") -> dict[str, str]:
    """The place of a chart that charts.js draws from the figures at `url`. `name` begins its file when it is saved.

    `facts` is what the file says of its source, as JSON.
    """
    return {"label": label, "url": url, "name": name, "facts": facts}


@register.inclusion_tag("podium/site/numbers.html")
def numbers(table: Any, n_names: int, name: str) -> dict[str, Any]:
    """The numbers of the chart of that name as a table that can be opened. Its first `n_names` columns are words."""
    return {"table": table, "n_names": n_names, "name": name}


@register.inclusion_tag("podium/site/choice.html")
def choice(label: str, name: str, options: Iterable[tuple[Any, Any]], chosen: Any, every: str = "") -> dict[str, Any]:
    """A labelled `<select>` of pairs of value and words; `every` names the first option, which has no value."""
    return {"label": label, "name": name, "options": options, "chosen": chosen, "every": every}


@register.simple_tag
def ticks(name: str, options: Iterable[tuple[str, str]], chosen: Container[str]) -> SafeString:
    """A checkbox in a label for each pair of value and words. No white space stands between them."""
    checked = SafeString(" checked")
    label = '<label><input type="checkbox" name="{}" value="{}"{}> {}</label>'
    rows = ((name, value, checked if value in chosen else "", words) for value, words in options)
    return format_html_join("", label, rows)


@register.filter
def counted(facets: Iterable[Facet]) -> list[tuple[str, str]]:
    """The options of a `choice`: `scan (3)` for a value that three rows have."""
    return [(facet.value, f"{facet.value} ({facet.count})") for facet in facets]


@register.filter
def titled(rows: Iterable[Any]) -> list[tuple[str, str]]:
    """The options of a `choice` among tracks, releases or entrants, by their slugs."""
    return [(row.slug, getattr(row, "title", "") or getattr(row, "name", "") or row.slug) for row in rows]


@register.inclusion_tag("podium/results/flag_badges.html")
def flag_badges(release: Release, n_open: int, n_upheld: int, **narrowed: str) -> dict[str, Any]:
    """The numbers of open and of upheld flags, linked to the release's flags that are narrowed by these parameters."""
    url = f"{reverse('release_flags', args=[release.slug])}?{urlencode(narrowed, quote_via=quote)}"
    return {"url": url, "n_open": n_open, "n_upheld": n_upheld}


@register.simple_tag
def field_groups(form: forms.BaseForm, names: str) -> SafeString:
    """Those of the named fields that the form has, with labels, help and errors. No white space stands between them."""
    return format_html_join("", "{}", ((form[name].as_field_group(),) for name in names.split() if name in form.fields))


@register.filter
def keyed(columns: Iterable[Any]) -> list[tuple[str, str]]:
    """The options of `ticks` among a board's columns."""
    return [(column.key, column.title) for column in columns]


@register.simple_tag
def parameters(**values: Any) -> SafeString:
    """`?track=gpu&amp;k=4`, without the names that have no value; "" if none has one."""
    query = urlencode({name: value for name, value in values.items() if value}, quote_via=quote)
    return format_html("?{}", query) if query else SafeString("")

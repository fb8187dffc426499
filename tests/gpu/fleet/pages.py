"""A person at the site: pages, cookies, and forms that are sent as a browser would send them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import IO
from urllib.parse import urljoin

import requests

from tests.gpu.fleet.report import Failed

PAGE_SECONDS = 120
File = tuple[str, IO[bytes], str]
"""Name, content and type."""


@dataclass
class Form:
    """`fields` is what a browser sends of it untouched; `options` are the values of its boxes and choices."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    options: dict[str, list[str]] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        return any(known == name for known, _ in self.fields)


class Forms(HTMLParser):
    """Every form of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._select = ""
        self._takes_many = False
        self._area: tuple[str, list[str]] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self.forms.append(Form(given.get("action") or "", (given.get("method") or "get").lower()))
        if not self.forms:
            return
        form, name = self.forms[-1], given.get("name") or ""
        if tag in ("input", "select", "textarea", "button") and name:
            form.names.add(name)
        if tag == "input" and name:
            self._input(form, name, given)
        elif tag == "select":
            self._select, self._takes_many = name, "multiple" in given
        elif tag == "option" and self._select:
            form.options.setdefault(self._select, []).append(given.get("value") or "")
            if "selected" in given:
                form.fields.append((self._select, given.get("value") or ""))
        elif tag == "textarea" and name:
            self._area = (name, [])

    @staticmethod
    def _input(form: Form, name: str, given: Mapping[str, str | None]) -> None:
        kind = given.get("type") or "text"
        if kind in ("checkbox", "radio"):
            value = given.get("value") or "on"
            form.options.setdefault(name, []).append(value)
            if "checked" in given:
                form.fields.append((name, value))
        elif kind not in ("submit", "file", "button"):
            form.fields.append((name, given.get("value") or ""))

    def handle_data(self, data: str) -> None:
        if self._area:
            self._area[1].append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "select" and self._select:
            form, name = self.forms[-1], self._select
            if not self._takes_many and not form.has(name) and form.options.get(name):
                form.fields.append((name, form.options[name][0]))  # a browser shows and sends the first
            self._select = ""
        elif tag == "textarea" and self._area:
            name, parts = self._area
            self.forms[-1].fields.append((name, "".join(parts).removeprefix("\n")))
            self._area = None


def words_of(page: str) -> str:
    """The text that a reader sees, on one line."""
    body = re.sub(r"<(script|style|head)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body))).strip()


def found_in(pattern: str, page: str, what: str) -> str:
    """The pattern's first group. Raises Failed."""
    found = re.search(pattern, page, re.DOTALL)
    if found is None:
        raise Failed(f"no {what} in: {words_of(page)[:800]}")
    return found[1]


def report_of(answer: requests.Response) -> str:
    """The report of an action of the admin."""
    return unescape(found_in(r'<pre class="readonly" role="status">(.*?)</pre>', answer.text, "report")).strip()


class Browser:
    """One person's session."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._session = requests.Session()

    def get(self, path: str) -> requests.Response:
        """Raises Failed where the site does not answer with a page."""
        return _page(self._session.get(urljoin(self.url, path), timeout=PAGE_SECONDS))

    def fill(
        self,
        path: str,
        values: Mapping[str, str | list[str]] | None = None,
        files: Mapping[str, File] | None = None,
        every: Sequence[str] = (),
    ) -> requests.Response:
        """Get the page, fill its form in, send it. `every` names boxes of which all are ticked. Raises Failed."""
        page = self.get(path)
        form = _form_of(page, {*(values or {}), *(files or {}), *every})
        filled = {**(values or {}), **{name: form.options.get(name, []) for name in every}}
        sent = [(name, value) for name, value in form.fields if name not in filled]
        for name, value in filled.items():
            sent += [(name, one) for one in (value if isinstance(value, list) else [value])]
        where = urljoin(page.url, form.action)
        return _page(
            self._session.post(where, data=sent, files=files, headers={"Referer": page.url}, timeout=PAGE_SECONDS)
        )


def _form_of(page: requests.Response, needed: set[str]) -> Form:
    for one in Forms(page.text).forms:
        if one.method == "post" and "logout" not in one.action and needed <= one.names:
            return one
    raise Failed(f"{page.url} has no form with {sorted(needed)}: {words_of(page.text)[:600]}")


def _page(answer: requests.Response) -> requests.Response:
    if answer.status_code >= 400:
        asked = answer.request.method
        raise Failed(f"{asked} {answer.url}: {answer.status_code} {words_of(answer.text)[-800:]}")
    return answer

"""A list of problems as the address asks for it, a page at a time; and which of them its form chooses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, QueryDict

from leaderboard.admin.drafts.lists.choices import Choice, Rows, with_words
from leaderboard.admin.drafts.pages import PER_PAGE
from leaderboard.site import stale_forms
from problems.models import Release

MAX_SEARCH = 200
MAX_TICKED = 10_000


@dataclass(frozen=True)
class Select:
    """A select as the page shows it. A value that the list does not have is kept: it explains the empty list."""

    name: str
    label: str
    value: str
    options: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Listing:
    """The problems of `rows` that fit what `given`, the address's parameters, asks for by `choices`."""

    rows: Rows
    choices: Sequence[Choice]
    given: QueryDict
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Parameters that say which list it is; they stay when the filters are taken away."""

    @cached_property
    def search(self) -> str:
        return self.given.get("q", "").strip()[:MAX_SEARCH]

    @cached_property
    def asked(self) -> dict[str, str]:
        """The values of the selects that narrow the list."""
        return {one.name: value for one in self.choices if (value := self.given.get(one.name, "")[:MAX_SEARCH])}

    @cached_property
    def found(self) -> list[tuple[int, str]]:
        """Id and record's hash of each problem that fits, in their order."""
        rows = self.rows
        for one in self.choices:
            if one.name in self.asked:
                rows = one.narrow(rows, self.asked[one.name])
        if self.search:
            rows = with_words(rows, self.search)
        return list(rows.order_by("position").values_list("pk", "record_md5"))

    @cached_property
    def ids(self) -> list[int]:
        return [pk for pk, _ in self.found]

    @cached_property
    def n_all(self) -> int:
        return self.rows.count()

    @cached_property
    def page(self) -> Page[int]:
        return Paginator(self.ids, PER_PAGE).get_page(self.given.get("page"))

    @property
    def page_numbers(self) -> Sequence[Any]:
        return list(self.page.paginator.get_elided_page_range(self.page.number, on_each_side=2, on_ends=1))

    @property
    def narrowing(self) -> dict[str, str]:
        return ({"q": self.search} if self.search else {}) | self.asked

    @property
    def query(self) -> str:
        """The query string of this list, without the page."""
        return urlencode({**self.fixed, **self.narrowing})

    @property
    def unfiltered(self) -> str:
        return urlencode(self.fixed)

    @property
    def page_query(self) -> str:
        """The query string of the page that is shown."""
        more = {"page": str(self.page.number)} if self.page.number > 1 else {}
        return urlencode({**self.fixed, **self.narrowing, **more})

    @property
    def selects(self) -> list[Select]:
        return [self._select(one) for one in self._shown if not one.is_rare]

    @property
    def rare_selects(self) -> list[Select]:
        return [self._select(one) for one in self._shown if one.is_rare]

    @property
    def _shown(self) -> list[Choice]:
        return [one for one in self.choices if one.name in self.asked or not one.is_idle]

    def _select(self, choice: Choice) -> Select:
        value = self.asked.get(choice.name, "")
        options = {one.value: one.words for one in choice.options}
        if value:
            options.setdefault(value, value)
        return Select(choice.name, choice.label, value, list(options.items()))

    @property
    def asks_rarely(self) -> bool:
        return any(one.is_rare and one.name in self.asked for one in self.choices)


@dataclass(frozen=True)
class Ticks:
    """A form's choice of rows in a list: the ticked problems of every visited page, or all that fit."""

    ids: frozenset[int] = frozenset()
    is_all: bool = False

    @classmethod
    def of(cls, request: HttpRequest) -> "Ticks":
        return cls(frozenset(sent_ids(request)), "all" in request.POST)

    def among(self, ids: Sequence[int]) -> list[int]:
        """The chosen ones in the list's order."""
        return [pk for pk in ids if self.is_all or pk in self.ids]

    def elsewhere(self, listing: Listing) -> list[int]:
        """The ticked rows that other pages of the list show."""
        return [pk for pk in listing.ids if pk in self.ids and pk not in listing.page.object_list]


def sent_ids(request: HttpRequest) -> list[int]:
    """The ids that the form ticks (`problem`) and those that it keeps from elsewhere (`kept`, with commas)."""
    texts = [*request.POST.getlist("problem"), *request.POST.get("kept", "").split(",")][:MAX_TICKED]
    return [int(one) for one in texts if one.isascii() and one.isdecimal() and len(one) < 19]


def why_stale(token: str, draft: Release, values: Mapping[str, Any]) -> str:
    """Names the changes of the draft since a page was opened, in words for the page itself; "" if there are none."""
    stale = stale_forms.stale_since(token, draft, values)
    if stale is None:
        return ""
    if not stale.names:
        return (
            "The page that you sent does not say which state of the draft it was opened on. Nothing was done. Your"
            " choice is still here: look at the page as it is now, and press the button again."
        )
    return (
        f"{draft} was changed since you opened this page: {', '.join(stale.names)}.{stale.by} Nothing was done. Your"
        " choice is still here: look at the page as it is now, and press the button again."
    )

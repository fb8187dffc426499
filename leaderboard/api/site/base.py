"""Bases of the endpoints: scopes, bounded pages, known parameters, and look-ups that fail with words."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, TypeVar

from django.db.models import Model, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework import exceptions, generics
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.views import APIView

from leaderboard.api.site.permissions import HasScope
from leaderboard.errors import BadQuery

Row = TypeVar("Row", bound=Model)


class Pages(LimitOffsetPagination):
    """`?limit=` and `?offset=`; at most 500 rows at once."""

    default_limit = 100
    max_limit = 500


class NamedNotFound(exceptions.NotFound):
    """A row that the request's body names is not there. `pointer` is the JSON pointer of the name."""

    def __init__(self, words: str, pointer: str | None) -> None:
        super().__init__(words)
        self.pointer = pointer


PAGING = (OpenApiParameter("limit", int), OpenApiParameter("offset", int))


class _KnownParameters(APIView):
    """An endpoint that refuses parameters of the address that it does not have: a program must be told of a typo."""

    permission_classes = [HasScope]
    parameters: ClassVar[Sequence[OpenApiParameter]] = ()
    """Those of its GET; its `extend_schema` names the same."""
    paging: ClassVar[Sequence[OpenApiParameter]] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method == "GET":
            _check_names(request.query_params, [one.name for one in (*self.parameters, *self.paging)])


class ApiView(_KnownParameters):
    """One endpoint."""


class ApiList(_KnownParameters, generics.ListAPIView[Any]):
    """One endpoint that lists rows."""

    pagination_class = Pages
    paging = PAGING


def _check_names(asked: Iterable[str], known: Sequence[str]) -> None:
    """Raises BadQuery."""
    for name in asked:
        if name not in known:
            listed = f"There are: {', '.join(known)}." if known else "It has none."
            raise BadQuery(name[:80], f"This address has no parameter {name[:80]!r}. {listed}")


def found(rows: QuerySet[Row], what: str, *, pointer: str | None = None, **lookup: Any) -> Row:
    """The one row among those the asker may see; raises NotFound. `pointer`: where the body names the row."""
    row = rows.filter(**lookup).first()
    if row is None:
        raise not_found(what, next(iter(lookup.values())), pointer)
    return row


def not_found(what: str, name: Any, pointer: str | None = None) -> exceptions.NotFound:
    """Does not tell hidden from absent."""
    return NamedNotFound(f"There is no {what} {name!r} that you may see.", pointer)

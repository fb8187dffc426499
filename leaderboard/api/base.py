"""What every endpoint shares: scopes, bounded pages, and look-ups that fail with words."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework import exceptions, generics
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.views import APIView

from leaderboard.api.permissions import HasScope

Row = TypeVar("Row", bound=Model)


class Pages(LimitOffsetPagination):
    """`?limit=` and `?offset=`; at most 500 rows at once."""

    default_limit = 100
    max_limit = 500


class ApiView(APIView):
    """One endpoint."""

    permission_classes = [HasScope]


class ApiList(generics.ListAPIView[Any]):
    """One endpoint that lists rows."""

    permission_classes = [HasScope]
    pagination_class = Pages


def found(rows: QuerySet[Row], what: str, **lookup: Any) -> Row:
    """The one row among those the asker may see; raises NotFound."""
    row = rows.filter(**lookup).first()
    if row is None:
        raise not_found(what, next(iter(lookup.values())))
    return row


def not_found(what: str, name: Any) -> exceptions.NotFound:
    """Does not tell hidden from absent."""
    return exceptions.NotFound(f"There is no {what} {name!r} that you may see.")

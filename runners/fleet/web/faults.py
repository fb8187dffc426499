"""A node's faults by day, for its page's chart and table."""

from dataclasses import dataclass
from datetime import UTC, timedelta

from django.db.models import Count, Q
from django.db.models.functions import TruncDate
from django.utils import timezone

from leaderboard.charts import faults
from leaderboard.charts.chart import Table
from runners.fleet.models import AttemptState, Node

DAYS = 30


@dataclass(frozen=True)
class FaultHistory:
    caption: str
    table: Table


def fault_days(node: Node) -> list[faults.FaultDay]:
    """The last DAYS days, oldest first. Makes one query."""
    today = timezone.now().astimezone(UTC).date()
    first = today - timedelta(days=DAYS - 1)
    ended = node.attempts.filter(
        state__in=[AttemptState.EXPIRED, AttemptState.FAULTED, AttemptState.GIVEN_BACK],
        ended_at__gte=timezone.now() - timedelta(days=DAYS),
    )
    rows = ended.order_by().annotate(day=TruncDate("ended_at", tzinfo=UTC)).values_list("day").annotate(
        lost=Count("pk", filter=Q(state=AttemptState.EXPIRED)),
        faulted=Count("pk", filter=Q(state=AttemptState.FAULTED)),
        given_back=Count("pk", filter=Q(state=AttemptState.GIVEN_BACK)),
    )  # fmt: skip
    found = {day: faults.FaultDay(day, *counts) for day, *counts in rows}
    days = [first + timedelta(days=n) for n in range(DAYS)]
    return [found.get(day, faults.FaultDay(day)) for day in days]


def fault_history(node: Node) -> FaultHistory | None:
    """None if there was no fault."""
    table = faults.table(fault_days(node))
    return FaultHistory(faults.CAPTION, table) if table.rows else None

"""The broker's refusals to the site, kept as rows, so that pages tell them without asking the broker."""

from collections.abc import Mapping

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from runners.fleet.models import BrokerFault

WHOLE = ""
"""In place of a queue's name: the broker lets the site in for nothing at all."""


def keep_of_broker(words: str) -> None:
    """Store why the broker cannot be used; "" once it can."""
    _keep({WHOLE: words} if words else {}, dict(_stored().filter(queue=WHOLE).values_list("queue", "words")))


def keep_of_queues(found: Mapping[str, str]) -> None:
    """Store the queues that are refused now, by name, with the reason. All others are not refused any more."""
    _keep(found, dict(_stored().exclude(queue=WHOLE).values_list("queue", "words")))


def _stored() -> QuerySet[BrokerFault]:
    return BrokerFault.objects.order_by()


def _keep(found: Mapping[str, str], stored: Mapping[str, str]) -> None:
    """Writes what differs only: it is called every second."""
    if dict(found) == dict(stored):
        return
    with transaction.atomic():
        _stored().filter(queue__in=stored.keys() - found.keys()).delete()
        for queue, words in found.items():
            if queue in stored:
                _stored().filter(queue=queue).update(words=words)
            else:
                row = BrokerFault(queue=queue, words=words, since=timezone.now())
                BrokerFault.objects.bulk_create([row], ignore_conflicts=True)

"""`manage.py check_broker`: ask the broker for each queue, as the site's worker does, and say what it refuses."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from kombu import Connection

from leaderboard.celery import app
from runners.fleet.queue.messages import ready
from runners.fleet.queue.top_up import places, queue_of, queued_jobs
from runners.fleet.queue.waiting import Fleet
from runners.wire.broker import refusal
from runners.wire.queues import queue_name


class Command(BaseCommand):
    help = "Check that the broker lets the site in and takes its queues. Declares missing queues."

    def handle(self, *_: Any, **__: Any) -> None:
        connection = app.connection_for_write()
        errors = (*connection.connection_errors, *connection.channel_errors)
        address = connection.as_uri() if "@" in settings.BROKER_URL else settings.BROKER_URL
        try:
            connection.connect()
        except errors as error:
            raise CommandError(f"The broker {address} cannot be used: {refusal(error)} ({error}).") from error
        self.stdout.write(f"Broker {address}{_version(connection)}.")
        n_refused = 0
        queued = queued_jobs()
        for place in places(queued):
            n, jobs = queue_name(*place), queued.get(place, 0)
            try:
                self.stdout.write(f"{n}: {ready(connection, queue_of(place))} messages ready, {jobs} jobs queued.")
            except errors as error:
                n_refused += 1
                self.stdout.write(f"{n}: refused, {jobs} jobs queued: {error}")
                connection.close()
                connection.connect()
        connection.release()
        if words := Fleet(()).site_words:
            self.stdout.write(words)
        if n_refused:
            raise CommandError(f"The broker refuses {n_refused} of {len(places(queued))} queues.")


def _version(connection: Connection) -> str:
    """RabbitMQ names itself."""
    told = getattr(connection.connection, "server_properties", None) or {}
    return f", {told['product']} {told['version']}" if "product" in told else ""

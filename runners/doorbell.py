"""The names both sides of the doorbell agree on."""

from runners.protocol import Stage

TASK = "podium.doorbell"
EXPIRES_SECONDS = 300


def queue_name(track: str, stage: Stage | str) -> str:
    """The Celery queue that carries the doorbell of one stage of a track."""
    return f"track.{track}.{Stage(stage).value}"

"""Organisers' notes on samples: write or change one's own, and take it back."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import Sample, SampleNote
from leaderboard.models.audit import record
from leaderboard.models.submissions.sample_note import NOTE_CHARACTERS, Thumb
from leaderboard.visibility import is_organiser


@transaction.atomic
def note_sample(user: Any, sample: Sample, thumb: str, text: str) -> SampleNote:
    """Keep the organiser's note, in place of an earlier one of theirs. Raises NotAllowed or Refused."""
    _check(user)
    if thumb not in Thumb.values:
        raise Refused("thumb_needed", "Say whether the thumb is up or down.")
    words = text.replace("\0", "").strip()
    if len(words) > NOTE_CHARACTERS:
        raise Refused("note_too_long", f"The note has {len(words)} characters; at most {NOTE_CHARACTERS} are kept.")
    fields = {"thumb": thumb, "text": words, "at": timezone.now()}
    note, _ = SampleNote.objects.update_or_create(sample=sample, author=user, defaults=fields)
    record(user, "note", sample, words, thumb=thumb, submission=sample.submission_id)
    return note


@transaction.atomic
def take_note_back(user: Any, sample: Sample) -> None:
    """Remove the organiser's own note. Nothing happens if there is none. Raises NotAllowed."""
    _check(user)
    removed, _ = SampleNote.objects.filter(sample=sample, author=user).delete()
    if removed:
        record(user, "take note back", sample, submission=sample.submission_id)


def _check(user: Any) -> None:
    if not is_organiser(user):
        raise NotAllowed("organisers_only", "Only an organiser writes notes on samples.")

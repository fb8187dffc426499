"""Sets the weights of a draft's groups. Callers check rights and write the audit entry."""

from collections.abc import Mapping

from django.db import transaction

from problems.actions.drafts import hold_draft, rewrite
from problems.actions.releases import ReleaseRefused, check_fields
from problems.models import Release
from problems.spec.site.release import why_bad_weights


@transaction.atomic
def set_weights(release: Release, weights: Mapping[str, float], note: str) -> None:
    """Replace weights and note, and the metadata for export with them. Raises ReleaseRefused if it is no draft."""
    held = hold_draft(release)
    held.weights, held.weights_note = dict(weights), note
    check_fields(held, ("weights", "weights_note"), held.slug)
    if reason := why_bad_weights(weights, set(held.problems.values_list("group", flat=True))):
        raise ReleaseRefused(f"{held.slug}: `weights`: {reason}.")
    held.save(update_fields=["weights", "weights_note"])
    rewrite(held)
    release.refresh_from_db()

"""Gives a draft the weights that follow from the pass rates of chosen submissions."""

from collections.abc import Collection
from typing import Any

from django.db import transaction

from leaderboard.actions.curation.curate import check_organiser
from leaderboard.curation.calibration import CalibrationBases, CannotCalibrate, Pair, WeightCalibration
from leaderboard.errors import Refused
from leaderboard.models.audit import record
from leaderboard.models.audit_values import edit_detail
from leaderboard.site import stale_forms
from leaderboard.standings.scores import touch_release
from problems.actions import weights
from problems.models import Release


def token_of(found: WeightCalibration) -> str:
    """A token of the weights that were shown: `calibrate` refuses other weights, of the draft or from the results."""
    return stale_forms.token_of(found.release, _shown(found))


def _shown(found: WeightCalibration) -> dict[str, Any]:
    release = found.release
    return {"weights": release.weights, "weights_note": release.weights_note, "calibrated_weights": found.weights}


@transaction.atomic
def calibrate(user: Any, release: Release, chosen: Collection[Pair], epsilon: float, token: str) -> WeightCalibration:
    """Replace the draft's weights and their note. Raises NotAllowed, Refused or ReleaseRefused."""
    check_organiser(user)
    stale_forms.lock(release)
    release.refresh_from_db()
    try:
        found = CalibrationBases(release).calibrated(chosen, epsilon)
    except CannotCalibrate as error:
        raise Refused("cannot_calibrate", str(error)) from error
    if found.faults:
        raise Refused("cannot_calibrate", " ".join(found.faults))
    if stale := stale_forms.stale_since(token, release, _shown(found)):
        what = " and ".join(name.replace("_", " ") for name in stale.names) or "what the page showed"
        raise Refused(
            "weights_changed",
            f"The {what} of {release} are not what you were shown: something was chosen or changed since. Nothing was"
            " stored. The table shows what would follow now: look at it, and press the button again.",
        )
    before = {"weights": release.weights, "weights_note": release.weights_note}
    weights.set_weights(release, found.weights, found.note)
    touch_release(release)
    after = {"weights": release.weights, "weights_note": release.weights_note}
    facts: dict[str, Any] = {"epsilon": epsilon, "submissions": [one.counted.submission_id for one in found.sources]}
    record(user, "calibrate weights", release, **facts, **edit_detail(before, after))
    return found

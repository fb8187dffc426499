"""Template tags that draw the fleet's parts of other pages; `runners.fleet.web.fragments` refreshes them."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.template.context import Context

from leaderboard.models import Evaluation, Submission, Trial
from runners.fleet.web.fleet_state import fleet_state_context
from runners.fleet.web.progress import progress_context
from runners.fleet.web.track_state import track_choices_context
from runners.fleet.web.work import trial_work_context, work_context
from runners.wire.protocol import Stage

register = template.Library()


@register.filter
def stage(value: str) -> str:
    """`both` → `build and run`."""
    return "build and run" if value == Stage.BOTH else value


@register.inclusion_tag("fleet/state.html")
def fleet_state() -> dict[str, Any]:
    return fleet_state_context()


@register.simple_tag
def track_choices(boxes: Iterable[Any]) -> dict[str, Any]:
    """The tracks of a form to choose from, and the notice beside its buttons: two parts of the page."""
    return track_choices_context(boxes)


@register.inclusion_tag("fleet/submission_progress.html", takes_context=True)
def submission_progress(context: Context, submission: Submission) -> dict[str, Any]:
    return progress_context(context["view"], submission)


@register.inclusion_tag("fleet/evaluation_work.html", takes_context=True)
def evaluation_work(context: Context, evaluation: Evaluation) -> dict[str, Any]:
    return work_context(context["request"].user, context["view"], evaluation)


@register.inclusion_tag("fleet/trial_work.html", takes_context=True)
def trial_work(context: Context, trial: Trial) -> dict[str, Any]:
    return trial_work_context(context["request"].user, trial)

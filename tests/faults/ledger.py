"""The evaluations and attempts in a site's database, as JSON; run in the site's own environment."""

import json
import sys
from typing import Any

import django

django.setup()

from leaderboard.models import Evaluation  # noqa: E402
from runners.fleet.models import Attempt, Job  # noqa: E402


def evaluations() -> list[dict[str, Any]]:
    rows = Evaluation.objects.select_related("problem", "sample", "current_result").order_by("pk")
    return [
        {
            "evaluation": one.pk,
            "sample": [one.problem.task_id, one.sample.index],
            "state": one.state,
            "verdict": one.current_result.verdict if one.current_result else None,
            "reason": one.current_result.reason if one.current_result else "",
            "n_results": one.results.count(),
        }
        for one in rows
    ]


def attempts() -> list[dict[str, Any]]:
    rows = Attempt.objects.select_related("job", "node").order_by("leased_at")
    return [
        {
            "job": one.job_id,
            "evaluation": one.job.evaluation_id,
            "node": one.node.slug,
            "number": one.number,
            "state": one.state,
            "fault": one.fault,
            "leased_at": one.leased_at.timestamp(),
            "ended_at": one.ended_at and one.ended_at.timestamp(),
        }
        for one in rows
    ]


def main() -> dict[str, Any]:
    open_jobs = Job.objects.exclude(state__in=["done", "cancelled"]).count()
    return {"evaluations": evaluations(), "attempts": attempts(), "open_jobs": open_jobs}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main()))

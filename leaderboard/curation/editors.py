"""Addresses in the admin where rows of public pages are edited."""

from django.urls import reverse

from problems.models import Problem


def problem_editor(problem: Problem) -> str:
    """Where a draft's problem is edited; of any other release the problem's page in the admin."""
    if problem.release.is_draft:
        return reverse("admin:problems_release_draft_problem", args=[problem.release_id, problem.pk])
    return reverse("admin:problems_problem_change", args=[problem.pk])

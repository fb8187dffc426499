"""Addresses of problems."""

from django.urls import path

from leaderboard.web.problems import audit, clarifications, coverage, problem

urlpatterns = [
    path("releases/<slug:slug>/audit/", audit.audit, name="audit"),
    path("releases/<slug:slug>/coverage/", coverage.coverage, name="coverage"),
    path("releases/<slug:slug>/problems/", problem.problems, name="problems"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/", problem.problem, name="problem"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/roofline.json", problem.roofline, name="roofline"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/runtimes.json", problem.runtimes, name="runtimes"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/sizes.json", problem.sizes, name="sizes"),
    path(
        "releases/<slug:slug>/problems/<slug:problem_slug>/processes.json",
        problem.processes,
        name="processes",
    ),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/ask/", clarifications.ask_about, name="ask_about"),
]

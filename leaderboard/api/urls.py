"""Addresses of the REST API; each also answers with a slash at its end."""

from django.urls import URLPattern, include, path, re_path

from leaderboard.api import board, entrants, evaluations, fleet, me, releases, schema, submissions

_ROUTES = [
    ("me", me.MeView),
    ("releases", releases.ReleaseList),
    ("releases/<slug:slug>", releases.ReleaseDetail),
    ("releases/<slug:slug>/problems", releases.ProblemList),
    ("releases/<slug:slug>/problems/<slug:problem>", releases.ProblemDetail),
    ("releases/<slug:slug>/board", board.Board),
    ("tracks", fleet.TrackList),
    ("nodes", fleet.NodeList),
    ("entrants", entrants.EntrantList),
    ("entrants/<slug:slug>", entrants.EntrantDetail),
    ("submissions", submissions.SubmissionList),
    ("submissions/<int:pk>", submissions.SubmissionDetail),
    ("submissions/<int:pk>/progress", submissions.SubmissionProgress),
    ("submissions/<int:pk>/cancel", submissions.SubmissionCancel),
    ("submissions/<int:pk>/rerun", submissions.SubmissionRerun),
    ("submissions/<int:pk>/results.jsonl", submissions.SubmissionResults),
    ("evaluations/<int:pk>", evaluations.EvaluationDetail),
]

documented: list[URLPattern] = [
    path(route, view.as_view(), name=f"api-{view.__name__.lower()}") for route, view in _ROUTES
]
_with_slash = [path(f"{route}/", view.as_view(schema=None)) for route, view in _ROUTES]  # documented once

urlpatterns = [
    path("", schema.swagger_view, name="api"),
    path("schema/", schema.schema_view([path("api/v1/", include(documented))]), name="api-schema"),
    path("v1/", include(documented + _with_slash)),
    re_path(r"^v1/", schema.NothingHere.as_view(schema=None)),
]

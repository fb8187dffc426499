"""Addresses of the REST API, except those that the fleet serves."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView

from leaderboard.api import (
    board,
    compare,
    downloads,
    dry_runs,
    entrants,
    evaluations,
    me,
    releases,
    submissions,
    tracks,
    trials,
)
from leaderboard.api.site import routes, schema

ROUTES: list[routes.Route] = [
    ("me", me.MeView),
    ("releases", releases.ReleaseList),
    ("releases/<slug:slug>", releases.ReleaseDetail),
    ("releases/<slug:slug>/problems", releases.ProblemList),
    ("releases/<slug:slug>/problems/<slug:problem>", releases.ProblemDetail),
    ("releases/<slug:slug>/board", board.Board),
    ("releases/<slug:slug>/compare", compare.Compare),
    ("releases/<slug:slug>/starter-kit.zip", downloads.StarterKit),
    ("tracks", tracks.TrackList),
    ("entrants", entrants.EntrantList),
    ("entrants/<slug:slug>", entrants.EntrantDetail),
    ("submissions", submissions.SubmissionList),
    ("submissions/check", dry_runs.SubmissionCheck),
    ("samples.jsonl", downloads.OwnSamples),
    ("submissions/<int:pk>", submissions.SubmissionDetail),
    ("submissions/<int:pk>/cancel", submissions.SubmissionCancel),
    ("submissions/<int:pk>/choose", submissions.SubmissionChoose),
    ("submissions/<int:pk>/rerun", submissions.SubmissionRerun),
    ("submissions/<int:pk>/results.jsonl", submissions.SubmissionResults),
    ("evaluations/<int:pk>", evaluations.EvaluationDetail),
    ("evaluations/<int:pk>/solution.tar.gz", downloads.EvaluationSolution),
    ("trials", trials.TrialList),
    ("trials/<int:pk>", trials.TrialDetail),
]

urlpatterns = [
    path("", schema.swagger_view, name="api"),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("v1/", include(routes.documented(ROUTES) + routes.with_slash(ROUTES))),
    re_path(r"^v1/", schema.NothingHere.as_view(schema=None)),
]

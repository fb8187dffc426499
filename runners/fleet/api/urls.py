"""Addresses of the fleet's part of the REST API."""

from leaderboard.api.site import routes
from runners.fleet.api import nodes, progress

ROUTES: list[routes.Route] = [
    ("nodes", nodes.NodeList),
    ("submissions/<int:pk>/progress", progress.SubmissionProgress),
]

urlpatterns = routes.documented(ROUTES) + routes.with_slash(ROUTES)

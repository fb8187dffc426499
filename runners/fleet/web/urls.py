"""The addresses of the fleet's pages, of the parts that it refreshes on other pages, and of the readiness check."""

from django.urls import path

from runners.fleet.web import fragments, metrics, nodes, readiness

urlpatterns = [
    path("readyz", readiness.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("metrics/jobs", metrics.open_jobs, name="open_jobs"),
    path("nodes/", nodes.nodes, name="nodes"),
    path("nodes/<slug:slug>/", nodes.node, name="node"),
    path("nodes/<slug:slug>/golden.json", nodes.node_golden, name="node_golden"),
    path("nodes/<slug:slug>/faults.json", nodes.node_faults, name="node_faults"),
    path("fleet/state/", fragments.fleet_state, name="fleet_state"),
    path("fleet/tracks/", fragments.track_states, name="track_states"),
    path("submissions/<int:pk>/progress/", fragments.submission_progress, name="submission_progress"),
    path("evaluations/<int:pk>/work/", fragments.evaluation_work, name="evaluation_work"),
]

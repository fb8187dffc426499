"""Addresses at which solutions are sent and tried."""

from django.urls import path

from leaderboard.web.intake import starter_kit, submit, trial, typed_drafts

urlpatterns = [
    path("releases/<slug:slug>/problems/<slug:problem_slug>/submit/", submit.typed_submission, name="submit_typed"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/run/", trial.run_typed, name="run_typed"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/draft/", typed_drafts.save_draft, name="save_draft"),
    path("trials/<int:pk>/", trial.trial, name="trial"),
    path("releases/<slug:slug>/starter-kit.zip", starter_kit.starter_kit, name="starter_kit"),
    path("submissions/new/", submit.new_submission, name="submit"),
]

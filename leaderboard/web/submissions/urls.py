"""Addresses of submissions and their samples."""

from django.urls import path

from leaderboard.web.submissions import compare_code, own_submissions, rollouts, submission

urlpatterns = [
    path("compare/code/", compare_code.compare_code, name="compare_code"),
    path("submissions/<int:pk>/", submission.submission, name="submission"),
    path("submissions/<int:pk>/samples/", submission.submission_samples, name="submission_samples"),
    path("submissions/<int:pk>/cancel/", submission.cancel_submission, name="cancel_submission"),
    path("submissions/<int:pk>/choose/", submission.choose_submission, name="choose_submission"),
    path("submissions/<int:pk>/rerun/", submission.rerun_submission, name="rerun_submission"),
    path("submissions/<int:pk>/solutions.tar.gz", submission.download, name="download_submission"),
    path("submissions/<int:pk>/rollouts/", rollouts.rollouts, name="rollouts"),
    path("submissions/<int:pk>/rollouts/<int:sample>/note/", rollouts.note_rollout, name="note_rollout"),
    path("submissions/<int:pk>/rollouts/<int:sample>/<slug:part>.txt", rollouts.rollout_text, name="rollout_text"),
    path("account/submissions/", own_submissions.submissions, name="own_submissions"),
    path("account/submissions/samples.jsonl", own_submissions.samples, name="own_samples"),
]

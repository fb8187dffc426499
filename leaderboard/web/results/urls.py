"""Addresses of results, failures, flags and decisions."""

from django.urls import path

from leaderboard.web.results import evaluation, failures, flags, machine_code

urlpatterns = [
    path("trials/<int:pk>/machine-code/", machine_code.trial_machine_code, name="trial_machine_code"),
    path("trials/<int:pk>/listing.txt", machine_code.trial_listing, name="trial_listing"),
    path("releases/<slug:slug>/failures/", failures.release_failures, name="release_failures"),
    path("releases/<slug:slug>/flags/", flags.release_flags, name="release_flags"),
    path("releases/<slug:slug>/decisions/", flags.decisions, name="decisions"),
    path("releases/<slug:slug>/decisions.csv", flags.decisions_csv, name="decisions_csv"),
    path("releases/<slug:slug>/decisions.json", flags.decisions_json, name="decisions_json"),
    path("decisions/<int:pk>/appeal/", flags.appeal_decision, name="appeal_decision"),
    path("submissions/<int:pk>/failures/", failures.submission_failures, name="submission_failures"),
    path("evaluations/<int:pk>/", evaluation.evaluation, name="evaluation"),
    path("evaluations/<int:pk>/runs.json", evaluation.evaluation_runs, name="evaluation_runs"),
    path("evaluations/<int:pk>/logs/<slug:step>.txt", evaluation.evaluation_log, name="evaluation_log"),
    path("evaluations/<int:pk>/solutions.tar.gz", evaluation.evaluation_solution, name="evaluation_solution"),
    path("evaluations/<int:pk>/profile", evaluation.evaluation_profile, name="evaluation_profile"),
    path("evaluations/<int:pk>/machine-code/", machine_code.evaluation_machine_code, name="evaluation_machine_code"),
    path("evaluations/<int:pk>/listing.txt", machine_code.evaluation_listing, name="evaluation_listing"),
    path("evaluations/<int:pk>/rerun/", evaluation.rerun_evaluation, name="rerun_evaluation"),
]

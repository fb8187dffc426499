"""The addresses of the pages."""

from django.urls import path

from leaderboard.web import (
    account_pages,
    board_pages,
    entrant_pages,
    evaluation_pages,
    problem_pages,
    sign_up,
    site_pages,
    submission_pages,
    submit_pages,
    trial_pages,
)

urlpatterns = [
    path("", site_pages.home, name="home"),
    path("livez", site_pages.livez, name="livez"),
    path("about/", site_pages.about, name="about"),
    path("releases/", site_pages.releases, name="releases"),
    path("releases/<slug:slug>/", board_pages.board, name="board"),
    path("releases/<slug:slug>/board.csv", board_pages.board_csv, name="board_csv"),
    path("releases/<slug:slug>/board.json", board_pages.board_json, name="board_json"),
    path("releases/<slug:slug>/charts/", board_pages.charts, name="charts"),
    path("releases/<slug:slug>/charts/<slug:name>.json", board_pages.chart, name="chart"),
    path("releases/<slug:slug>/problems/", problem_pages.problems, name="problems"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/", problem_pages.problem, name="problem"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/roofline.json", problem_pages.roofline, name="roofline"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/sizes.json", problem_pages.sizes, name="sizes"),
    path(
        "releases/<slug:slug>/problems/<slug:problem_slug>/processes.json",
        problem_pages.processes,
        name="processes",
    ),
    path(
        "releases/<slug:slug>/problems/<slug:problem_slug>/submit/", submit_pages.typed_submission, name="submit_typed"
    ),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/run/", trial_pages.run_typed, name="run_typed"),
    path("trials/<int:pk>/", trial_pages.trial, name="trial"),
    path("releases/<slug:slug>/submissions/", board_pages.submissions, name="release_submissions"),
    path("releases/<slug:slug>/about/", board_pages.about, name="release_about"),
    path("entrants/<slug:slug>/", entrant_pages.entrant, name="entrant"),
    path("submissions/new/", submit_pages.new_submission, name="submit"),
    path("submissions/<int:pk>/", submission_pages.submission, name="submission"),
    path("submissions/<int:pk>/samples/", submission_pages.submission_samples, name="submission_samples"),
    path("submissions/<int:pk>/cancel/", submission_pages.cancel_submission, name="cancel_submission"),
    path("submissions/<int:pk>/rerun/", submission_pages.rerun_submission, name="rerun_submission"),
    path("submissions/<int:pk>/solutions.tar.gz", submission_pages.download, name="download_submission"),
    path("evaluations/<int:pk>/", evaluation_pages.evaluation, name="evaluation"),
    path("evaluations/<int:pk>/runs.json", evaluation_pages.evaluation_runs, name="evaluation_runs"),
    path("evaluations/<int:pk>/logs/<slug:step>.txt", evaluation_pages.evaluation_log, name="evaluation_log"),
    path("evaluations/<int:pk>/profile", evaluation_pages.evaluation_profile, name="evaluation_profile"),
    path("evaluations/<int:pk>/rerun/", evaluation_pages.rerun_evaluation, name="rerun_evaluation"),
    path("account/", account_pages.account, name="account"),
    path("account/invitation/", sign_up.request_invitation, name="request_invitation"),
    path("account/tokens/new/", account_pages.new_token, name="new_token"),
    path("account/tokens/<int:pk>/revoke/", account_pages.revoke_token, name="revoke_token"),
    path("account/entrants/new/", account_pages.new_entrant, name="new_entrant"),
    path("account/entrants/<slug:slug>/", account_pages.edit_entrant, name="edit_entrant"),
    path("account/entrants/<slug:slug>/team/", account_pages.add_teammate, name="add_teammate"),
    path("account/entrants/<slug:slug>/team/<int:pk>/remove/", account_pages.remove_teammate, name="remove_teammate"),
]

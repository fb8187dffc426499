"""The addresses of the pages."""

from django.urls import path

from leaderboard.web.accounts import account as account_pages
from leaderboard.web.accounts import account_data as account_data_pages
from leaderboard.web.accounts import notifications as notification_pages
from leaderboard.web.accounts import pmpp as pmpp_pages
from leaderboard.web.accounts import sign_up
from leaderboard.web.boards import board as board_page
from leaderboard.web.boards import card as card_pages
from leaderboard.web.boards import changelog as news_pages
from leaderboard.web.boards import charts as board_charts
from leaderboard.web.boards import compare as compare_pages
from leaderboard.web.boards import embed as embed_pages
from leaderboard.web.boards import release as board_pages
from leaderboard.web.entrants import entrant as entrant_pages
from leaderboard.web.entrants import entrant_charts
from leaderboard.web.entrants import ownership as ownership_pages
from leaderboard.web.entrants import teams as team_pages
from leaderboard.web.intake import starter_kit as kit_pages
from leaderboard.web.intake import submit as submit_pages
from leaderboard.web.intake import trial as trial_pages
from leaderboard.web.intake import typed_drafts as typed_draft_pages
from leaderboard.web.problems import clarifications as clarification_pages
from leaderboard.web.problems import coverage as coverage_pages
from leaderboard.web.problems import problem as problem_pages
from leaderboard.web.results import evaluation as evaluation_pages
from leaderboard.web.results import failures as failure_pages
from leaderboard.web.results import flags as flag_pages
from leaderboard.web.results import machine_code as listing_pages
from leaderboard.web.site import demo as demo_pages
from leaderboard.web.site import home as site_pages
from leaderboard.web.site import site_map
from leaderboard.web.submissions import compare_code as compare_code_pages
from leaderboard.web.submissions import own_submissions as own_pages
from leaderboard.web.submissions import rollouts as rollout_pages
from leaderboard.web.submissions import submission as submission_pages

urlpatterns = [
    path("", site_pages.home, name="home"),
    path("livez", site_pages.livez, name="livez"),
    path("about/", site_pages.about, name="about"),
    path("robots.txt", site_map.robots, name="robots"),
    path("sitemap.xml", site_map.sitemap_index, name="sitemap"),
    path("sitemap-<slug:section>.xml", site_map.sitemap_section, name="sitemap_section"),
    path("news.atom", news_pages.site_feed, name="site_feed"),
    path("embed/releases/<slug:slug>/", embed_pages.framed_board, name="framed_board"),
    path("releases/", site_pages.releases, name="releases"),
    path("releases/<slug:slug>/", board_page.board, name="board"),
    path("releases/<slug:slug>/rows/<slug:entrant>/", board_page.row_details, name="board_row"),
    path("releases/<slug:slug>/board.csv", board_page.board_csv, name="board_csv"),
    path("releases/<slug:slug>/board.json", board_page.board_json, name="board_json"),
    path("releases/<slug:slug>/snapshots/<str:track_slug>.json", board_pages.snapshot, name="snapshot"),
    path("releases/<slug:slug>/charts/", board_charts.charts, name="charts"),
    path("releases/<slug:slug>/charts/<slug:name>.json", board_charts.chart, name="chart"),
    path("releases/<slug:slug>/news.atom", news_pages.release_feed, name="release_feed"),
    path("releases/<slug:slug>/changelog/", news_pages.changelog, name="changelog"),
    path("releases/<slug:slug>/coverage/", coverage_pages.coverage, name="coverage"),
    path("releases/<slug:slug>/card.png", card_pages.card, name="card"),
    path("releases/<slug:slug>/badges/<str:track_slug>/<slug:entrant_slug>.svg", embed_pages.badge, name="badge"),
    path("releases/<slug:slug>/problems/", problem_pages.problems, name="problems"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/", problem_pages.problem, name="problem"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/roofline.json", problem_pages.roofline, name="roofline"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/runtimes.json", problem_pages.runtimes, name="runtimes"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/sizes.json", problem_pages.sizes, name="sizes"),
    path(
        "releases/<slug:slug>/problems/<slug:problem_slug>/processes.json",
        problem_pages.processes,
        name="processes",
    ),
    path(
        "releases/<slug:slug>/problems/<slug:problem_slug>/submit/", submit_pages.typed_submission, name="submit_typed"
    ),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/ask/", clarification_pages.ask_about, name="ask_about"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/run/", trial_pages.run_typed, name="run_typed"),
    path("releases/<slug:slug>/problems/<slug:problem_slug>/draft/", typed_draft_pages.save_draft, name="save_draft"),
    path("trials/<int:pk>/", trial_pages.trial, name="trial"),
    path("trials/<int:pk>/machine-code/", listing_pages.trial_machine_code, name="trial_machine_code"),
    path("trials/<int:pk>/listing.txt", listing_pages.trial_listing, name="trial_listing"),
    path("releases/<slug:slug>/starter-kit.zip", kit_pages.starter_kit, name="starter_kit"),
    path("releases/<slug:slug>/submissions/", board_pages.submissions, name="release_submissions"),
    path("releases/<slug:slug>/failures/", failure_pages.release_failures, name="release_failures"),
    path("releases/<slug:slug>/about/", board_pages.about, name="release_about"),
    path("compare/", compare_pages.comparison, name="compare"),
    path("compare/code/", compare_code_pages.compare_code, name="compare_code"),
    path("compare/<slug:name>.json", compare_pages.chart, name="compare_chart"),
    path("releases/<slug:slug>/flags/", flag_pages.release_flags, name="release_flags"),
    path("releases/<slug:slug>/decisions/", flag_pages.decisions, name="decisions"),
    path("releases/<slug:slug>/decisions.csv", flag_pages.decisions_csv, name="decisions_csv"),
    path("releases/<slug:slug>/decisions.json", flag_pages.decisions_json, name="decisions_json"),
    path("decisions/<int:pk>/appeal/", flag_pages.appeal_decision, name="appeal_decision"),
    path("entrants/<slug:slug>/", entrant_pages.entrant, name="entrant"),
    path("entrants/<slug:slug>/charts/<slug:name>.json", entrant_charts.chart, name="entrant_chart"),
    path("submissions/new/", submit_pages.new_submission, name="submit"),
    path("submissions/<int:pk>/", submission_pages.submission, name="submission"),
    path("submissions/<int:pk>/samples/", submission_pages.submission_samples, name="submission_samples"),
    path("submissions/<int:pk>/cancel/", submission_pages.cancel_submission, name="cancel_submission"),
    path("submissions/<int:pk>/choose/", submission_pages.choose_submission, name="choose_submission"),
    path("submissions/<int:pk>/rerun/", submission_pages.rerun_submission, name="rerun_submission"),
    path("submissions/<int:pk>/solutions.tar.gz", submission_pages.download, name="download_submission"),
    path("submissions/<int:pk>/rollouts/", rollout_pages.rollouts, name="rollouts"),
    path("submissions/<int:pk>/rollouts/<int:sample>/note/", rollout_pages.note_rollout, name="note_rollout"),
    path("submissions/<int:pk>/rollouts/<int:sample>/<slug:part>.txt", rollout_pages.rollout_text, name="rollout_text"),
    path("submissions/<int:pk>/failures/", failure_pages.submission_failures, name="submission_failures"),
    path("evaluations/<int:pk>/", evaluation_pages.evaluation, name="evaluation"),
    path("evaluations/<int:pk>/runs.json", evaluation_pages.evaluation_runs, name="evaluation_runs"),
    path("evaluations/<int:pk>/logs/<slug:step>.txt", evaluation_pages.evaluation_log, name="evaluation_log"),
    path("evaluations/<int:pk>/solutions.tar.gz", evaluation_pages.evaluation_solution, name="evaluation_solution"),
    path("evaluations/<int:pk>/profile", evaluation_pages.evaluation_profile, name="evaluation_profile"),
    path("evaluations/<int:pk>/machine-code/", listing_pages.evaluation_machine_code, name="evaluation_machine_code"),
    path("evaluations/<int:pk>/listing.txt", listing_pages.evaluation_listing, name="evaluation_listing"),
    path("evaluations/<int:pk>/rerun/", evaluation_pages.rerun_evaluation, name="rerun_evaluation"),
    path("demo/sign-in/<str:uidb64>/<str:key>/", demo_pages.sign_in, name="demo_sign_in"),
    path("account/", account_pages.account, name="account"),
    path("account/invitation/", sign_up.request_invitation, name="request_invitation"),
    path("account/tokens/", account_pages.tokens, name="tokens"),
    path("account/tokens/new/", account_pages.new_token, name="new_token"),
    path("account/tokens/<int:pk>/revoke/", account_pages.revoke_token, name="revoke_token"),
    path("account/submissions/", own_pages.submissions, name="own_submissions"),
    path("account/submissions/samples.jsonl", own_pages.samples, name="own_samples"),
    path("account/notifications/", notification_pages.notifications, name="notifications"),
    path("account/notifications/mail/", notification_pages.switch_mail, name="switch_mail"),
    path("account/notifications/feed/new/", notification_pages.new_feed, name="new_feed"),
    path("account/notifications/feed/revoke/", notification_pages.revoke_feed, name="revoke_feed"),
    path("account/notifications/webhooks/new/", notification_pages.new_webhook, name="new_webhook"),
    path("account/notifications/webhooks/<int:pk>/switch/", notification_pages.switch_webhook, name="switch_webhook"),
    path("account/notifications/webhooks/<int:pk>/test/", notification_pages.test_webhook, name="test_webhook"),
    path(
        "account/notifications/webhooks/<int:pk>/secret/",
        notification_pages.new_webhook_secret,
        name="new_webhook_secret",
    ),
    path("account/notifications/webhooks/<int:pk>/delete/", notification_pages.delete_webhook, name="delete_webhook"),
    path("feeds/<str:token>/submissions.atom", notification_pages.personal_feed, name="personal_feed"),
    path("account/pmpp/", pmpp_pages.tokens, name="pmpp_tokens"),
    path("account/pmpp/new/", pmpp_pages.new_token, name="new_pmpp_token"),
    path("account/pmpp/<int:pk>/", pmpp_pages.runs, name="pmpp_runs"),
    path("account/pmpp/<int:pk>/revoke/", pmpp_pages.revoke_token, name="revoke_pmpp_token"),
    path("account/entrants/new/", account_pages.new_entrant, name="new_entrant"),
    path("account/entrants/<slug:slug>/", account_pages.edit_entrant, name="edit_entrant"),
    path("account/entrants/<slug:slug>/offer/", ownership_pages.offer_entrant, name="offer_entrant"),
    path("account/entrants/<slug:slug>/offer/withdraw/", ownership_pages.withdraw_offer, name="withdraw_offer"),
    path("account/entrants/<slug:slug>/verification/", ownership_pages.ask_verification, name="ask_verification"),
    path("account/offers/<int:pk>/", ownership_pages.answer_offer, name="answer_offer"),
    path("entrants/<slug:slug>/claim/", ownership_pages.claim_entrant, name="claim_entrant"),
    path("account/teams/", team_pages.teams, name="teams"),
    path("account/join-team/", team_pages.join_team, name="join_team"),
    path("account/teams/<slug:slug>/", team_pages.team, name="team"),
    path("account/teams/<slug:slug>/invite/", team_pages.invite, name="invite_to_team"),
    path(
        "account/teams/<slug:slug>/invitations/<int:pk>/withdraw/",
        team_pages.withdraw_team_invitation,
        name="withdraw_team_invitation",
    ),
    path("account/teams/<slug:slug>/members/<int:pk>/role/", team_pages.change_role, name="change_role"),
    path("account/teams/<slug:slug>/members/<int:pk>/remove/", team_pages.remove_member, name="remove_member"),
    path("account/teams/<slug:slug>/dissolve/", team_pages.dissolve_team, name="dissolve_team"),
    path("account/sign-in/", account_pages.sign_in_methods, name="sign_in_methods"),
    path("account/quota/", account_pages.quota, name="quota"),
    path("account/data/", account_data_pages.account_data, name="account_data"),
    path("account/data/export.json", account_data_pages.export_account, name="export_account"),
    path("account/data/delete/", account_data_pages.remove_account, name="remove_account"),
]

"""Addresses of boards and of the other pages of a release."""

from django.urls import path

from leaderboard.web.boards import board, card, changelog, charts, compare, embed, release

urlpatterns = [
    path("news.atom", changelog.site_feed, name="site_feed"),
    path("embed/releases/<slug:slug>/", embed.framed_board, name="framed_board"),
    path("releases/<slug:slug>/", board.board, name="board"),
    path("releases/<slug:slug>/rows/<slug:entrant>/", board.row_details, name="board_row"),
    path("releases/<slug:slug>/board.csv", board.board_csv, name="board_csv"),
    path("releases/<slug:slug>/board.json", board.board_json, name="board_json"),
    path("releases/<slug:slug>/snapshots/<str:track_slug>.json", release.snapshot, name="snapshot"),
    path("releases/<slug:slug>/charts/", charts.charts, name="charts"),
    path("releases/<slug:slug>/charts/<slug:name>.json", charts.chart, name="chart"),
    path("releases/<slug:slug>/news.atom", changelog.release_feed, name="release_feed"),
    path("releases/<slug:slug>/changelog/", changelog.changelog, name="changelog"),
    path("releases/<slug:slug>/card.png", card.card, name="card"),
    path("releases/<slug:slug>/badges/<str:track_slug>/<slug:entrant_slug>.svg", embed.badge, name="badge"),
    path("releases/<slug:slug>/submissions/", release.submissions, name="release_submissions"),
    path("releases/<slug:slug>/about/", release.about, name="release_about"),
    path("compare/", compare.comparison, name="compare"),
    path("compare/<slug:name>.json", compare.chart, name="compare_chart"),
]

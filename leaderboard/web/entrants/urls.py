"""Addresses of entrants and teams."""

from django.urls import path

from leaderboard.web.entrants import entrant, entrant_charts, index, ownership, teams

urlpatterns = [
    path("entrants/", index.entrants, name="entrants"),
    path("entrants/<slug:slug>/", entrant.entrant, name="entrant"),
    path("entrants/<slug:slug>/charts/<slug:name>.json", entrant_charts.chart, name="entrant_chart"),
    path("account/entrants/<slug:slug>/offer/", ownership.offer_entrant, name="offer_entrant"),
    path("account/entrants/<slug:slug>/offer/withdraw/", ownership.withdraw_offer, name="withdraw_offer"),
    path("account/entrants/<slug:slug>/verification/", ownership.ask_verification, name="ask_verification"),
    path("account/offers/<int:pk>/", ownership.answer_offer, name="answer_offer"),
    path("entrants/<slug:slug>/claim/", ownership.claim_entrant, name="claim_entrant"),
    path("account/teams/", teams.teams, name="teams"),
    path("account/join-team/", teams.join_team, name="join_team"),
    path("account/teams/<slug:slug>/", teams.team, name="team"),
    path("account/teams/<slug:slug>/invite/", teams.invite, name="invite_to_team"),
    path(
        "account/teams/<slug:slug>/invitations/<int:pk>/withdraw/",
        teams.withdraw_team_invitation,
        name="withdraw_team_invitation",
    ),
    path("account/teams/<slug:slug>/members/<int:pk>/role/", teams.change_role, name="change_role"),
    path("account/teams/<slug:slug>/members/<int:pk>/remove/", teams.remove_member, name="remove_member"),
    path("account/teams/<slug:slug>/dissolve/", teams.dissolve_team, name="dissolve_team"),
]

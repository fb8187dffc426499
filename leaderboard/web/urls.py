"""The addresses of the pages, from the rooms that serve them."""

from leaderboard.web.accounts import urls as accounts
from leaderboard.web.boards import urls as boards
from leaderboard.web.entrants import urls as entrants
from leaderboard.web.intake import urls as intake
from leaderboard.web.problems import urls as problems
from leaderboard.web.results import urls as results
from leaderboard.web.site import urls as site
from leaderboard.web.submissions import urls as submissions

urlpatterns = [
    *site.urlpatterns,
    *boards.urlpatterns,
    *problems.urlpatterns,
    *submissions.urlpatterns,
    *results.urlpatterns,
    *entrants.urlpatterns,
    *accounts.urlpatterns,
    *intake.urlpatterns,
]

"""The site's addresses and those of PMPP's routes, for tests in which a node and a client of PMPP speak to one site."""

from leaderboard.pmpp.urls import handler400, handler403, handler404, handler500
from leaderboard.pmpp.urls import urlpatterns as routes
from leaderboard.urls import urlpatterns as site

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]

urlpatterns = [*routes, *site]

"""The WSGI application of PMPP's routes: the site's settings with the addresses of `leaderboard.pmpp.urls`."""

import os

os.environ["PODIUM_SERVES"] = "pmpp"  # read by the settings, which are loaded below

from leaderboard.wsgi import application

__all__ = ["application"]

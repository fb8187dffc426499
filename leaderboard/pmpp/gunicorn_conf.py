"""gunicorn's configuration for PMPP's routes: one process, a thread for each waiting caller, and no token in a log."""

import os

from leaderboard.gunicorn_log import RedactingLogger
from leaderboard.site import env

SPARE_THREADS = 16
"""Answer 503, health and tasks while all places are taken."""

bind = f"127.0.0.1:{env.integer('PODIUM_PMPP_PORT', 8010)}"
wsgi_app = "leaderboard.pmpp.wsgi"
workers = 1  # the callers of a process share one query and one bound
worker_class = "gthread"
threads = env.integer("PODIUM_PMPP_WAITING", 128) + SPARE_THREADS
worker_connections = threads * 2
keepalive = 75
graceful_timeout = 5  # callers may wait for an hour
loglevel = os.environ.get("PODIUM_PMPP_LOG_LEVEL", "warning")
logger_class = RedactingLogger
proc_name = "podium-pmpp"

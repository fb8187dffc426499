"""The site's settings as tests use them: folders of their own, no broker process, quick passwords.

The folders are made by the process that starts the run, and its workers inherit them.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "PODIUM_VAR_DIR" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="podium-tests-")
    os.environ["PODIUM_VAR_DIR"] = _folder
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
if "PODIUM_CACHE_DIR" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="podium-tests-cache-")
    Path(_folder).chmod(0o755)  # slots' users read it when the suite runs as root
    os.environ["PODIUM_CACHE_DIR"] = _folder
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ.setdefault("PODIUM_BROKER_URL", "memory://")

from leaderboard.settings import *  # noqa: F403
from leaderboard.settings import INSTALLED_APPS, STATIC_ROOT, STORAGES

INSTALLED_APPS = [*INSTALLED_APPS, "zeal"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
AXES_ENABLED = False
# No collectstatic before tests: files are served as they lie in static/.
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
Path(STATIC_ROOT).mkdir(parents=True, exist_ok=True)
ACCOUNT_RATE_LIMITS: dict[str, str] = {}
AUDIT_MUTANTS = 0  # tests of audits set it
NODE_CALLS = 64  # races make more calls at once than one process of a site serves

"""Requirements of a machine; nothing is installed here."""

import importlib.util
import shutil
import subprocess

from runners.agent.sandbox.bubblewrap import why_unavailable

SITE_MODULES = (
    *("django", "allauth", "axes", "csp", "django_filters", "django_htmx", "dj_database_url", "whitenoise"),
    *("rest_framework", "drf_spectacular", "drf_spectacular_sidecar"),
    *("celery", "gunicorn", "markdown_it", "nh3", "plotly"),
)
"""Modules of the extra `site` that a site on SQLite, a folder broker and local blobs imports."""


def missing(*, gpu: bool = True) -> str:
    """Words on the first thing that is missing; "" where all is there."""
    if gpu and not _gpu_uuids():
        return "needs an NVIDIA GPU"
    if gpu and shutil.which("nvcc") is None:
        return "needs nvcc on the PATH"
    if shutil.which("g++") is None:
        return "needs g++"
    if why_unavailable():
        return "needs bubblewrap"
    node_modules = ("pynvml",) if gpu else ()
    lacking = [name for name in (*SITE_MODULES, *node_modules) if importlib.util.find_spec(name) is None]
    return f"needs the packages of podium[site,node]; cannot import {', '.join(lacking)}" if lacking else ""


def _gpu_uuids() -> list[str]:
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:
        return []
    return done.stdout.split() if done.returncode == 0 else []

"""The admin as an organiser's browser uses it."""

import io
import re
import zipfile
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from tests.markup import markup


def signed_in(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def act(user: User, model: str, name: str, row: Any = None, **said: Any) -> Any:
    """Press a button: open its form and POST it. `model` is `<app>_<model>`."""
    ends = ("list_act", [name]) if row is None else ("act", [row.pk, name])
    browser, address = signed_in(user), reverse(f"admin:{model}_{ends[0]}", args=ends[1])
    return browser.post(address, opened(browser, address) | said)


def imported(user: User, pack: Any) -> str:
    """Import a pack in its two steps; the last page."""
    browser, address = signed_in(user), reverse("admin:problems_release_import")
    report = text(browser.post(address, {"pack": pack}))
    kept = re.search(r'name="confirm" value="([^"]*)"', report)
    return text(browser.post(address, {"confirm": kept[1]})) if kept else report


def text(answer: Any) -> str:
    return markup(answer)


def opened(browser: Client, address: str) -> dict[str, str]:
    """The hidden input by which a form says which state of its row it was opened on."""
    token = re.search(r'name="opened" value="([^"]*)"', text(browser.get(address)))
    return {"opened": token[1]} if token else {}


def folder_zip(**more: str) -> SimpleUploadedFile:
    """A zip of one problem's folder, the common files it takes, and `more` files by their names."""
    demo, file = Path("examples/demo"), io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for root in (demo / "common", demo / "problems" / "py-increasing-run"):
            for path in sorted(root.rglob("*")):
                if path.is_file():
                    archive.write(path, f"mine/{path.relative_to(demo)}")
        for name, content in more.items():
            archive.writestr(name, content)
    return SimpleUploadedFile("mine.zip", file.getvalue())

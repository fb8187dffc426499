"""Problem sets of other platforms are read on the site: a report first, and what is refused leaves nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from leaderboard import blobs
from leaderboard.actions.problems import pack_uploads
from leaderboard.errors import Refused
from leaderboard.models import Packing
from leaderboard.packing import step
from problems.formats.errors import PackRefused
from problems.formats.packing_events import PackingKind
from problems.models import Release
from tests import factories
from tests.admin.pages import signed_in, text
from tests.packing.uploads import now, tarred
from tests.problem_sets.bad_sets import BAD, WORKLOAD, definition, trace, workload
from tests.problem_sets.torches import needs_torch
from tests.requirements import requires

pytestmark = pytest.mark.django_db
confined = requires("bubblewrap")
EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples/problem-sets"
NAMES = {
    PackingKind.KERNELBENCH: "kernelbench", PackingKind.FLASHINFER: "flashinfer",
    PackingKind.SOL_EXECBENCH: "sol-execbench", PackingKind.LEETGPU: "leetgpu",
}  # fmt: skip


@pytest.fixture(autouse=True)
def bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_SANDBOX", "bubblewrap")


def example(kind: PackingKind) -> dict[str, bytes]:
    root = EXAMPLES / NAMES[kind]
    return {f"set/{path.relative_to(root)}": path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def read(user: Any, kind: PackingKind, files: Mapping[str, str | bytes], device: str = "cpu") -> Packing:
    """The upload once the worker has read it."""
    made = pack_uploads.upload(user, kind, "set.tar.gz", tarred(files), "spring-1", device)
    assert step.pack_next()
    return now(made)


@confined
@pytest.mark.parametrize("name", BAD)
def test_a_bad_set_is_refused_in_words_and_nothing_is_stored(cast: Any, name: str) -> None:
    form, files, words = BAD[name]
    made = read(cast.organiser, PackingKind(form), files)
    assert (made.state, made.code, made.pack_sha256) == ("failed", "no_problems", "")
    (row,) = made.report
    assert row["state"] == "refused"
    assert words in row["words"], row
    assert row["remedy"]
    assert "/tmp" not in row["words"]
    assert made.counts == {"read": 0, "changed": 0, "refused": 1}
    assert not Release.objects.exists()


@confined
def test_the_line_of_a_fault_is_told(cast: Any) -> None:
    files = trace() | {WORKLOAD: json.dumps(workload()) + "\n" + json.dumps(workload())[:60] + "\n"}
    made = read(cast.organiser, PackingKind.FLASHINFER, files)
    assert made.report[0]["line"] == 2


MODEL = """\
import time
import urllib.request

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {constructor}

    def forward(self, x):
        return x + 1


def get_inputs():
    {inputs}
    return [torch.rand(4, 3)]


def get_init_inputs():
    return []
"""


@confined
@needs_torch
@pytest.mark.parametrize(
    ("constructor", "inputs", "words"),
    [
        ("urllib.request.urlopen('http://192.0.2.1/weights')", "pass", "URLError"),
        ("pass", "time.sleep(600)", "took longer than 20 s"),
        ("pass", "while True: pass", "took longer than 20 s"),
        ("open('/etc/shadow').read()", "pass", "Error"),
    ],
)
def test_a_model_that_downloads_or_loops_is_refused(
    cast: Any, settings: Any, constructor: str, inputs: str, words: str
) -> None:
    settings.PACKING_PROBLEM_SECONDS = 20
    bad = MODEL.format(constructor=constructor, inputs=inputs)
    made = read(cast.organiser, PackingKind.KERNELBENCH, {"set/level1/1_Bad.py": bad})
    assert (made.state, made.pack_sha256) == ("failed", "")
    assert words in made.report[0]["words"]


LOOPS = {
    PackingKind.SOL_EXECBENCH: (
        "set/gated-rows/definition.json", "rows, width = axes", "while True: pass\\n    rows, width = axes",
    ),
    PackingKind.LEETGPU: (
        "set/easy/1_clipped_sum/challenge.py", "fixed = self._test", "while True: pass\n        fixed = self._test",
    ),
}  # fmt: skip


@confined
@needs_torch
@pytest.mark.parametrize("kind", LOOPS)
def test_a_generator_that_loops_is_refused(cast: Any, settings: Any, kind: PackingKind) -> None:
    settings.PACKING_PROBLEM_SECONDS = 20
    path, given, looping = LOOPS[kind]
    files = example(kind)
    text = files[path].decode()
    assert given in text
    made = read(cast.organiser, kind, files | {path: text.replace(given, looping).encode()})
    (row,) = [one for one in made.report if f"set/{one['source']}" == path]
    assert (row["state"], row["words"]) == ("refused", "took longer than 20 s")
    assert made.n_problems < len(made.report)


@confined
@needs_torch
@pytest.mark.parametrize("kind", NAMES)
def test_each_form_becomes_a_pack_of_its_two_problems(cast: Any, kind: PackingKind) -> None:
    made = read(cast.organiser, kind, example(kind))
    assert (made.state, made.faults, made.n_problems) == ("done", [], 2)
    assert made.counts["refused"] == 0
    assert blobs.uploads().has(made.pack_sha256)
    assert not Release.objects.exists(), "a report comes first"


@confined
@needs_torch
def test_a_part_of_a_set_is_read_and_the_rest_is_refused_by_line(cast: Any) -> None:
    files: dict[str, str | bytes] = dict(example(PackingKind.KERNELBENCH))
    files["set/level1/3_Broken.py"] = "import torch\n\nclass Model(:\n    pass\n\n\ndef get_inputs():\n    return []\n"
    made = read(cast.organiser, PackingKind.KERNELBENCH, files)
    assert (made.state, made.n_problems, made.counts["refused"]) == ("done", 2, 1)
    (row,) = [one for one in made.report if one["state"] == "refused"]
    assert (row["source"], row["line"]) == ("level1/3_Broken.py", 3)


@pytest.mark.parametrize("kind", NAMES)
def test_an_archive_of_something_else_is_refused_at_once(cast: Any, kind: PackingKind) -> None:
    with pytest.raises(Refused, match=r"The archive has no .* among its 1 files"):
        pack_uploads.upload(cast.organiser, kind, "set.tar.gz", tarred({"set/readme.md": "words"}), "spring-1")


def test_an_archive_that_unpacks_to_too_much_is_refused_at_once(cast: Any) -> None:
    bomb = tarred({"set/1_Big.py": "#" * (300 << 20)})
    with pytest.raises(PackRefused):
        pack_uploads.upload(cast.organiser, PackingKind.KERNELBENCH, "set.tar.gz", bomb, "spring-1")


def test_a_site_without_a_sandbox_reads_no_set(cast: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_SANDBOX", "unconfined")
    made = read(cast.organiser, PackingKind.KERNELBENCH, {"set/level1/1_Bad.py": MODEL})
    assert (made.state, made.code, made.report) == ("failed", "no_sandbox", [])


@confined
def test_the_page_shows_the_report_and_keeps_the_draft(cast: Any) -> None:
    draft = factories.release(1, publish=False)
    made = read(cast.organiser, PackingKind.FLASHINFER, trace(json.dumps(definition())[:100]))
    browser = signed_in(cast.organiser)
    page = text(browser.get(f"{made.get_absolute_url()}?into={draft.pk}"))
    assert "0 read, 0 read with a change, 1 refused." in page
    assert "definitions/scale/scaled.json" in page
    address = reverse("admin:problems_release_packings")
    begun = text(browser.get(f"{address}?kind=kernelbench&into={draft.pk}"))
    assert '<option value="kernelbench" selected>' in begun


def test_the_draft_is_kept_between_upload_and_import(cast: Any, settings: Any) -> None:
    draft = factories.release(1, publish=False)
    Packing.objects.create(
        kind="kernelbench", name="set.zip", release="spring-1", archive_bytes=1, made_by=cast.organiser, state="done",
        pack_sha256="0" * 64, n_problems=1, report=[{"source": "a.py", "state": "changed", "line": 0, "words": "<b>"}],
    )  # fmt: skip
    made = Packing.objects.get()
    page = text(signed_in(cast.organiser).get(f"{made.get_absolute_url()}?into={draft.pk}"))
    assert f"?packed={made.pk}&amp;into={draft.pk}" in page
    assert "&lt;b&gt;" in page
    assert "into=" not in text(signed_in(cast.organiser).get(f"{made.get_absolute_url()}?into=1'--"))


def test_only_organisers_upload_a_set(cast: Any) -> None:
    address = reverse("admin:problems_release_packings")
    assert signed_in(cast.owner).get(address).status_code in (302, 403)

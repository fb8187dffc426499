"""The management commands: what they print, and their refusals in words."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from leaderboard.models import ProblemScore, Track
from problems.formats.compute_eval.packs import write_problem_pack
from problems.models import Release
from runners.fleet.attempts.claim import digest_of
from runners.fleet.models import Node, NodeGrant
from runners.wire.protocol import Verdict
from tests import factories, packs
from tests.admin.pages import act, text

pytestmark = pytest.mark.django_db


def told(*command: Any, **options: Any) -> str:
    out = io.StringIO()
    call_command(*map(str, command), stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    made = packs.problem_pack([packs.problem("a/1"), packs.problem("a/2")])
    path = tmp_path / "test-1-problems.tar.gz"
    write_problem_pack(path, made.metadata_bytes, [record.line for record in made.records])
    return path


def test_a_pack_is_imported_offered_and_published_in_one_go(pack: Path) -> None:
    factories.TrackFactory()
    words = told(
        "import_release",
        pack,
        "--slug",
        "mine",
        "--track",
        "cpu-test",
        "--public",
        "--publish",
        "--unverified",
        "a test",
    )
    assert "2 problems read" in words
    assert words.endswith("Offered on cpu-test.\nmine is published without verification.\n")
    release = Release.objects.get(slug="mine")
    assert (release.state, release.is_public, release.on_tracks.count()) == ("published", True, 1)


def test_a_private_publication_says_that_it_is_private(pack: Path) -> None:
    told("import_release", pack)
    assert "for organisers and the invited alone" in told("publish_release", "test-1", "--unverified", "a test")
    assert not Release.objects.get().is_public


def test_a_folder_of_problems_is_imported_as_a_pack_is(db: Any) -> None:
    words = told("import_release", Path(__file__).parents[3] / "examples" / "demo")
    assert "8 problems read" in words
    assert Release.objects.get().profile == "podium/1"


def test_the_same_pack_again_changes_nothing(pack: Path) -> None:
    told("import_release", pack)
    assert "already here as test-1" in told("import_release", pack)
    assert Release.objects.count() == 1


def test_an_export_is_byte_for_byte_what_was_imported(pack: Path, tmp_path: Path) -> None:
    told("import_release", pack)
    told("export_release", "test-1", tmp_path / "out.tar.gz")
    assert (tmp_path / "out.tar.gz").read_bytes() == pack.read_bytes()


def test_states_move_forward_only(pack: Path) -> None:
    told("import_release", pack)
    with pytest.raises(CommandError, match="is draft; only a published release can become frozen"):
        told("freeze_release", "test-1")
    told("publish_release", "test-1", "--unverified", "a test")
    told("freeze_release", "test-1")
    with pytest.raises(CommandError, match="is frozen"):
        told("publish_release", "test-1", "--unverified", "a test")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["publish_release", "none"], "There is no release 'none'"),
        (["import_release", "/nowhere.tar.gz"], "does not exist"),
        (["add_node", "n1", "--track", "none"], "There is no track 'none'"),
        (["add_node", "Not a slug"], "is not a slug"),
        (["add_track", "Bad Track"], "is no track name"),
        (["add_track", "gpu-x", "--device", "gpu"], "needs its compute capability"),
        (["add_track", "--from-node", "none"], "There is no node 'none'"),
        (["first_admin", "nobody"], "is not an email address"),
    ],
)
def test_refusals_are_words(db: Any, command: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        told(*command)


def test_a_file_that_is_no_pack_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_bytes(b"nothing")
    with pytest.raises(CommandError) as refused:
        told("import_release", tmp_path / "x.tar.gz")
    assert str(refused.value)
    assert not Release.objects.exists()


def test_the_first_organiser_sets_a_password_by_a_link_that_works_once(db: Any, settings: Any) -> None:
    settings.SITE_URL = "http://testserver"
    link = told("first_admin", "ada@example.org").strip().splitlines()[-1]
    user = User.objects.get(email="ada@example.org")
    assert (user.is_superuser, user.has_usable_password()) == (True, False)
    browser = Client()
    form = browser.get(link, follow=True)
    words = {"password1": "a long enough phrase", "password2": "a long enough phrase"}
    browser.post(form.request["PATH_INFO"], words)
    user.refresh_from_db()
    assert user.check_password("a long enough phrase")
    late = Client()
    form = late.get(link, follow=True)
    late.post(form.request["PATH_INFO"], {"password1": "another long phrase", "password2": "another long phrase"})
    user.refresh_from_db()
    assert user.check_password("a long enough phrase")


def test_the_link_has_the_port_at_which_the_site_was_started(
    db: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*options: str) -> str:
        said = told("first_admin", "ada@example.org", "--force", *options).strip().splitlines()[-1]
        User.objects.all().delete()
        return said

    settings.SITE_URL = "http://127.0.0.1:8000"
    monkeypatch.setenv("PORT", "9000")
    assert link().startswith("http://127.0.0.1:9000/accounts/")
    assert link("--address", "http://10.0.0.7:9100/").startswith("http://10.0.0.7:9100/accounts/")
    settings.SITE_URL = "https://podium.example.org"
    assert link().startswith("https://podium.example.org/accounts/")
    with pytest.raises(CommandError, match="must start with http"):
        told("first_admin", "ada@example.org", "--address", "podium")


def test_a_second_first_organiser_needs_force(db: Any) -> None:
    told("first_admin", "ada@example.org")
    with pytest.raises(CommandError, match="organiser already"):
        told("first_admin", "bob@example.org")
    told("first_admin", "bob@example.org", "--force")
    assert User.objects.filter(is_superuser=True).count() == 2


def test_a_node_gets_its_token_on_paper_once(db: Any) -> None:
    track = factories.TrackFactory()
    words = told("add_node", "n1", "--track", "cpu-test", "--stage", "build", "--stage", "run")
    secret = words.partition("PODIUM_NODE_TOKEN=")[2].split()[0]
    assert Node.objects.get().token_digest == digest_of(secret)
    assert set(NodeGrant.objects.filter(track=track).values_list("stage", flat=True)) == {"build", "run"}
    secret = told("add_node", "n2", "--token-only").strip()
    assert Node.objects.get(slug="n2").token_digest == digest_of(secret)
    with pytest.raises(CommandError, match="exists already"):
        told("add_node", "n1")


@pytest.mark.parametrize(
    ("broker", "line"),
    [
        ("filesystem://", "export PODIUM_BROKER_URL=filesystem:///srv/broker"),
        ("filesystem:///a/folder", "export PODIUM_BROKER_URL=filesystem:///a/folder"),
        ("redis://queue:6379/1", "export PODIUM_BROKER_URL=redis://queue:6379/1"),
        ("amqps://site:hidden@queue:5671/podium", "export PODIUM_BROKER_URL=amqps://n1:PASSWORD@queue:5671/podium"),
        ("rediss://:hidden@[::1]:6379/1?a=hidden", "export PODIUM_BROKER_URL='rediss://n1:PASSWORD@[::1]:6379/1'"),
    ],
)
def test_the_lines_that_start_a_node_name_the_broker_and_no_password(
    db: Any, settings: Any, broker: str, line: str
) -> None:
    settings.BROKER_URL, settings.BROKER_FOLDER = broker, Path("/srv/broker")
    words = told("add_node", "n1")
    assert line in words.splitlines()
    assert f"export PODIUM_SITE_URL={settings.SITE_URL}" in words
    assert "podium node" in words.splitlines()
    assert "hidden" not in words
    assert ("Put the password" in words) == ("PASSWORD" in line)


def test_the_page_that_enrols_a_node_shows_the_same_lines(cast: Any, settings: Any) -> None:
    settings.BROKER_URL = "amqp://site:s3cret@queue/podium"
    page = text(act(cast.organiser, "fleet_node", "add", slug="n1", title="", stages=["both"]))
    assert "export PODIUM_NODE_TOKEN=pdn_" in page
    assert "export PODIUM_BROKER_URL=amqp://n1:PASSWORD@queue/podium" in page
    assert "s3cret" not in page


def test_a_gpu_track_is_made_by_hand(db: Any) -> None:
    told("add_track", "nvidia-h200-cuda13.0", "--device", "gpu", "--compute-capability", "9.0", "--toolkit", "13.0")
    assert Track.objects.get().hardware.compute_capability == (9, 0)


def test_standings_are_proven_equal_or_the_difference_is_an_error(cast: Any) -> None:
    made = factories.release(2)
    factories.judged_submission(cast.entrant, made, factories.offer(made))
    assert told("rebuild_standings", "--check") == "Stored equals recomputed.\n"
    ProblemScore.objects.update(n_passed=0)
    with pytest.raises(CommandError, match="differ from the recomputed"):
        told("rebuild_standings", "--check")
    assert "aggregate differs" in told("rebuild_standings")
    assert told("rebuild_standings", "--check") == "Stored equals recomputed.\n"


def test_a_release_is_verified_from_the_shell(pack: Path) -> None:
    track = factories.TrackFactory()
    told("import_release", pack, "--track", "cpu-test")
    with pytest.raises(CommandError, match="problem a/1: its reference has not been run on cpu-test"):
        told("publish_release", "test-1")
    assert "problem a/2: its reference has not been judged yet on cpu-test" in told(
        "verify_release", "test-1", "--track", "cpu-test"
    )
    for one in track.submissions.all():
        right = Verdict.PASSED if one.entrant.slug == "_reference" else Verdict.TEST_FAILED
        factories.judge(one, lambda _, it=right: factories.report(it))
    words = told("verify_release", "test-1", "--track", "cpu-test")
    assert "Reference solutions: 2 as expected, 0 not, 0 to come" in words
    assert "problem a/1: verified on cpu-test at " in words
    assert words.endswith("Every problem is verified.\n")
    assert "test-1 is published, for organisers" in told("publish_release", "test-1")

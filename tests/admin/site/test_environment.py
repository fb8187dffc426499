"""A variable of the environment that the site cannot use stops it with words that name the variable."""

import runpy
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from leaderboard import settings as site_settings
from leaderboard.site import checks, env

TEXTS = ("DATABASE_URL", "PODIUM_VAR_DIR", "PODIUM_ALLOWED_HOSTS", "PODIUM_SITE_URL", "PODIUM_BROKER_URL",
         "PODIUM_BLOB_URL", "PODIUM_SUBMIT_RATE", "PODIUM_LOG_LEVEL")  # fmt: skip
NUMBERS = ("PORT", "PODIUM_UPLOAD_MAX_BYTES", "PODIUM_LEASE_SECONDS", "PODIUM_HEARTBEAT_SECONDS",
           "PODIUM_RANKING_INTERVAL_SECONDS")  # fmt: skip


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Reads the site's settings with one variable changed."""

    def load(name: str, value: str) -> dict[str, Any]:
        for other in (*TEXTS, *NUMBERS):
            monkeypatch.delenv(other, raising=False)
        monkeypatch.setenv("PODIUM_VAR_DIR", str(tmp_path))
        monkeypatch.setenv(name, value)
        return runpy.run_path(str(site_settings.__file__))

    return load


@pytest.mark.parametrize("name", [*TEXTS, *NUMBERS])
def test_an_empty_value_names_its_variable(load: Any, name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=name):
        load(name, "")


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["0", "-1", "1.5", "ten", "9" * 5000])
def test_a_number_that_is_none_names_its_variable(load: Any, name: str, value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=name):
        load(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "podium"),
        ("DATABASE_URL", "mysql://a:secret@host/x"),
        ("DATABASE_URL", "postgresql://a:secret@host:port/x"),
        ("PODIUM_SITE_URL", "podium.example.org"),
        ("PODIUM_LOG_LEVEL", "LOUD"),
        ("PODIUM_DEBUG", "perhaps"),
        ("PODIUM_SIGNUP", "friends"),
        ("PODIUM_SIGNUP", "domain"),
        ("PODIUM_CACHE_URL", "memcached://:secret@host"),
        ("PODIUM_MAIL_URL", "http://a:secret@host"),
    ],
)
def test_a_value_of_another_shape_names_its_variable_and_no_secret(load: Any, name: str, value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=name) as refusal:
        load(name, value)
    assert "secret" not in str(refusal.value)


def test_an_empty_secret_key_is_the_generated_one(load: Any) -> None:
    assert load("PODIUM_SECRET_KEY", "")["SECRET_KEY_IS_GENERATED"]


def test_a_file_that_is_no_text_names_its_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"\xff\xfe")
    for file, words in (("key", "not UTF-8"), ("absent", "cannot be read"), ("", "cannot be read")):
        monkeypatch.setenv("PODIUM_SECRET_KEY_FILE", str(tmp_path / file))
        with pytest.raises(ImproperlyConfigured, match=f"PODIUM_SECRET_KEY_FILE .*{words}"):
            env.text("PODIUM_SECRET_KEY", "")


@pytest.mark.parametrize(("rate", "n_faults"), [("120/min", 0), ("5/s", 0), ("", 1), ("120", 1), ("x/min", 1)])
def test_a_rate_that_cannot_be_read_is_an_error_of_the_configuration(settings: Any, rate: str, n_faults: int) -> None:
    settings.SUBMIT_RATE = rate
    found = checks.check_submit_rate()
    assert [one.id for one in found] == ["podium.E002"] * n_faults

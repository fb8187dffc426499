"""Pages are looked at in every look unless nothing that they are made of has changed since."""

from pathlib import Path

import pytest

from tests.web import looked_at
from tests.web.looked_at import FOLDERS, ROOT, digest, looks_now


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_change_below_any_folder_changes_the_digest(tmp_path: Path, folder: str) -> None:
    assert (ROOT / folder).is_dir()
    file = tmp_path / folder / "deep" / "a.css"
    file.parent.mkdir(parents=True)
    file.write_text("a { }")
    (file.parent / "b.css").write_text("")
    found = {digest(tmp_path)}
    file.write_text("a { color: red }")
    found.add(digest(tmp_path))
    file.rename(file.with_name("c.css"))
    found.add(digest(tmp_path))
    assert len(found) == 3


def test_one_look_is_due_while_the_stored_digest_is_that_of_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PODIUM_SCREENSHOTS", raising=False)
    stored = tmp_path / "stored"
    monkeypatch.setattr(looked_at, "STORED", stored)

    def due(content: str | None) -> list[str]:
        stored.unlink(missing_ok=True)
        if content is not None:
            stored.write_text(content)
        looked_at.is_unchanged.cache_clear()
        return list(looks_now(("dark", "light", "phone")))

    try:
        assert due(None) == due("0" * 64) == ["dark", "light", "phone"]
        assert due(f"{digest()}\n") == ["phone"]
        monkeypatch.setenv("PODIUM_SCREENSHOTS", str(tmp_path))
        assert due(f"{digest()}\n") == ["dark", "light", "phone"]
    finally:
        looked_at.is_unchanged.cache_clear()

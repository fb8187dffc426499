"""A build's product is what the build added or changed, and restoring it cannot touch the tests."""

import io
import os
import socket
import subprocess
import sys
import tarfile
from collections.abc import Collection
from pathlib import Path

import pytest

from runners.agent.job.artefact import EMPTY, ProductTooLarge, collect, file_in, restore
from runners.agent.job.workspace import lay_out, remove

INPUTS = {"solution.cpp": b"int x;", "test/main.cpp": b"int main() {}"}
PLENTY = 1 << 20


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "built"
    folder.mkdir()
    lay_out(folder, INPUTS)
    return folder


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    folder = tmp_path / "fresh"
    folder.mkdir()
    return folder


def test_a_build_that_leaves_nothing_has_an_empty_product(built: Path) -> None:
    assert collect(built, INPUTS, PLENTY) == EMPTY


def test_new_and_changed_files_travel_with_their_permission_to_run(built: Path, fresh: Path) -> None:
    (built / "out").mkdir()
    (built / "out/program").write_bytes(b"\x7fELF")
    (built / "out/program").chmod(0o755)
    (built / "solution.cpp").write_bytes(b"int y;")
    restore(collect(built, INPUTS, PLENTY), fresh, protected=())
    assert (fresh / "out/program").read_bytes() == b"\x7fELF"
    assert os.access(fresh / "out/program", os.X_OK)
    assert (fresh / "solution.cpp").read_bytes() == b"int y;"
    assert not (fresh / "test").exists()


def test_folders_in_the_place_of_input_files_are_restored_unless_these_are_protected(built: Path, fresh: Path) -> None:
    for path in ("solution.cpp", "test/main.cpp"):
        (built / path).unlink()
        (built / path / "deeper").mkdir(parents=True)
        (built / path / "deeper/file").write_bytes(b"new")
    lay_out(fresh, INPUTS)
    restore(collect(built, INPUTS, PLENTY), fresh, protected={"test/main.cpp"})
    assert (fresh / "solution.cpp/deeper/file").read_bytes() == b"new"
    assert (fresh / "test/main.cpp").read_bytes() == INPUTS["test/main.cpp"]


def test_equal_products_are_equal_bytes(built: Path) -> None:
    (built / "b").write_bytes(b"2")
    (built / "a").write_bytes(b"1")
    first = collect(built, INPUTS, PLENTY)
    for name, seconds in (("b", 1), ("a", 5)):  # the same order, at another time
        os.utime(built / name, (seconds, seconds))
    assert collect(built, INPUTS, PLENTY) == first


def carried(built: Path, fresh: Path, protected: Collection[str] = ()) -> None:
    lay_out(fresh, INPUTS)
    restore(collect(built, INPUTS, PLENTY), fresh, protected)


def test_files_keep_the_order_in_which_they_were_written(built: Path, fresh: Path) -> None:
    names = ["z", "b", "a", "link"]
    for index, name in enumerate(names):
        (built / name).symlink_to("a") if name == "link" else (built / name).touch()
        os.utime(built / name, (index, index), follow_symlinks=False)
    carried(built, fresh)
    times = [(fresh / name).lstat().st_mtime_ns for name in ("solution.cpp", *names)]
    assert times == sorted(set(times))


def test_inputs_that_the_build_removed_or_renamed_stay_away(built: Path, fresh: Path) -> None:
    (built / "solution.cpp").rename(built / "renamed.cpp")
    (built / "test/main.cpp").unlink()
    (built / "test").rmdir()
    carried(built, fresh)
    assert [path.name for path in fresh.iterdir()] == ["renamed.cpp"]


def test_an_input_may_become_a_folder_and_a_folder_a_file(built: Path, fresh: Path) -> None:
    (built / "solution.cpp").unlink()
    (built / "solution.cpp").mkdir()
    (built / "solution.cpp/part").write_bytes(b"1")
    (built / "test/main.cpp").unlink()
    (built / "test").rmdir()
    (built / "test").write_bytes(b"2")
    carried(built, fresh)
    assert (fresh / "solution.cpp/part").read_bytes() == b"1"
    assert (fresh / "test").read_bytes() == b"2"


def test_a_removed_or_replaced_test_comes_back(built: Path, fresh: Path) -> None:
    (built / "test/main.cpp").unlink()
    (built / "test/main.cpp").mkdir()
    (built / "test/main.cpp/x").touch()
    carried(built, fresh, protected={"test/main.cpp"})
    assert (fresh / "test/main.cpp").read_bytes() == INPUTS["test/main.cpp"]


def test_modes_travel_also_to_tests(built: Path, fresh: Path) -> None:
    modes = {"solution.cpp": 0o600, "test/main.cpp": 0o755, "closed": 0o555, "test": 0o711}
    (built / "closed").mkdir()
    (built / "closed/file").touch()
    for name, mode in modes.items():
        (built / name).chmod(mode)
    carried(built, fresh, protected={"test/main.cpp"})
    assert {name: (fresh / name).stat().st_mode & 0o777 for name in modes} == modes
    assert (fresh / "closed/file").exists()


def test_links_and_pipes_travel_as_they_are(built: Path, fresh: Path) -> None:
    """Only commands follow them, inside their sandbox."""
    targets = {"lib.so": "lib.so.1", "tool": "/usr/bin/env", "up": "../../elsewhere"}
    for name, target in targets.items():
        (built / name).symlink_to(target)
    os.mkfifo(built / "pipe")
    carried(built, fresh)
    assert {name: str((fresh / name).readlink()) for name in targets} == targets
    assert (fresh / "pipe").is_fifo()


def test_sockets_are_dropped(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(built)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert collect(built, INPUTS, PLENTY) == EMPTY


def test_a_product_cannot_replace_a_test(built: Path, fresh: Path) -> None:
    (built / "test/main.cpp").write_bytes(b"int main() { return 0; }")
    lay_out(fresh, INPUTS)
    restore(collect(built, INPUTS, PLENTY), fresh, protected={"test/main.cpp"})
    assert (fresh / "test/main.cpp").read_bytes() == INPUTS["test/main.cpp"]


def test_a_product_cannot_write_through_a_link(built: Path, fresh: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        link = tarfile.TarInfo("out")
        link.type, link.linkname = tarfile.SYMTYPE, "here"
        tar.addfile(link)
        file = tarfile.TarInfo("out/file")
        tar.addfile(file)
        escape = tarfile.TarInfo("../outside/file")
        tar.addfile(escape)
    (fresh / "here").symlink_to(outside)
    restore(buffer.getvalue(), fresh, protected=())
    assert list(outside.iterdir()) == []


def test_a_product_beyond_the_bound_is_refused(built: Path) -> None:
    (built / "big").write_bytes(bytes(1 << 16))
    with pytest.raises(ProductTooLarge):
        collect(built, INPUTS, 1 << 12)


def test_a_product_of_another_node_changes_nothing_outside(fresh: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    (outside / "file").write_bytes(b"kept")
    product = io.BytesIO()
    with tarfile.open(fileobj=product, mode="w", format=tarfile.PAX_FORMAT) as tar:
        record = tarfile.TarInfo(".")
        record.type, record.pax_headers = tarfile.DIRTYPE, {"PODIUM.gone": "../outside/file\n/etc\n..\n\nlink/file"}
        tar.addfile(record)
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, str(outside)
        tar.addfile(link)
        folder = tarfile.TarInfo("link")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o777
        tar.addfile(folder)
        later = tarfile.TarInfo("late")
        later.pax_headers = {"mtime": "1e400"}
        tar.addfile(later)
        tar.addfile(record)
        tar.addfile(tarfile.TarInfo("link/file"))
    restore(product.getvalue(), fresh, protected=())
    assert (outside / "file").read_bytes() == b"kept"
    assert outside.stat().st_mode & 0o777 == 0o700
    assert (fresh / "late").exists()


def test_a_damaged_product_is_an_error(fresh: Path) -> None:
    with pytest.raises(ValueError, match="damaged"):
        restore(b"no tar at all", fresh, protected=())


def test_a_product_of_another_node_cannot_climb_out_by_links_and_odd_spellings(fresh: Path) -> None:
    product = io.BytesIO()
    with tarfile.open(fileobj=product, mode="w") as tar:
        for name, target in (("here", "."), ("up", "here/..")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
        for name in ("up/evil", "./up/evil", "up//evil", "here/../up/evil", "up/./evil"):
            file = tarfile.TarInfo(name)
            file.size = 4
            tar.addfile(file, io.BytesIO(b"evil"))
    restore(product.getvalue(), fresh, protected=())
    assert not (fresh.parent / "evil").exists()


def test_a_sparse_file_is_refused_before_it_is_read(built: Path) -> None:
    with (built / "big").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ProductTooLarge, match="MiB behind"):
        collect(built, INPUTS, PLENTY)


def test_folders_nested_beyond_reach_are_refused(built: Path) -> None:
    nest(built, 3000)
    try:
        with pytest.raises(ProductTooLarge, match="path of more than"):
            collect(built, INPUTS, PLENTY)
    finally:
        remove(built)


def nest(folder: Path, depth: int) -> None:
    """Folders in folders, deeper than one path can say and than Python recurses."""
    subprocess.run(
        [sys.executable, "-c", f"import os\nfor _ in range({depth}): os.mkdir('d'); os.chdir('d')"],
        cwd=folder,
        check=True,
    )


def test_one_file_of_a_product_is_read_if_it_is_small_enough(tmp_path: Path) -> None:
    (tmp_path / "listing").write_bytes(b"words")
    (tmp_path / "link").symlink_to("listing")
    product = collect(tmp_path, {}, 1 << 20)
    assert file_in(product, "listing", 5) == b"words"
    assert file_in(product, "listing", 4) is None
    assert file_in(product, "link", 5) is None
    assert file_in(product, "absent", 5) is None
    assert file_in(EMPTY, "listing", 5) is None
    with pytest.raises(ValueError, match="damaged"):
        file_in(b"no tar", "listing", 5)

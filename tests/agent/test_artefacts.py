"""A build's product is what the build added or changed, and restoring it cannot touch the tests."""

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from runners.agent.job.artefact import EMPTY, ProductTooLarge, collect, restore
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


def test_equal_products_are_equal_bytes(built: Path) -> None:
    (built / "b").write_bytes(b"2")
    (built / "a").write_bytes(b"1")
    first = collect(built, INPUTS, PLENTY)
    os.utime(built / "a", (1, 1))
    assert collect(built, INPUTS, PLENTY) == first


def test_links_inside_stay_and_links_that_leave_are_dropped(built: Path, fresh: Path) -> None:
    (built / "lib.so.1").write_bytes(b"lib")
    (built / "lib.so").symlink_to("lib.so.1")
    (built / "secret").symlink_to("/etc/passwd")
    (built / "up").symlink_to("../../elsewhere")
    restore(collect(built, INPUTS, PLENTY), fresh, protected=())
    assert (fresh / "lib.so").read_bytes() == b"lib"
    assert sorted(path.name for path in fresh.iterdir()) == ["lib.so", "lib.so.1"]


def test_pipes_and_sockets_are_dropped(built: Path) -> None:
    os.mkfifo(built / "pipe")
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

"""Native programs of the node: compiled once, by real compilers, whatever fails or ends meanwhile."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from runners.agent.ground import native
from runners.agent.ground.native import Product, Recipe, find_or_build
from tests.patience import until

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
ROOT = Path(__file__).parents[2]


class Missing(Exception):
    """The error of this recipe's users."""


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """A program that says a number, which a header of its own holds."""
    sources = tmp_path / "native"
    sources.mkdir()
    (sources / "main.cpp").write_text('#include "number.h"\n#include <cstdio>\nint main() { printf("%d", NUMBER); }\n')
    (sources / "number.h").write_text("#define NUMBER 1\n")
    return Recipe(
        name="teller", prefix="teller", variable="PODIUM_TELLER", sources=sources, inputs=("main.cpp",),
        flags=(("-std=c++17",),), unavailable=Missing,
    )  # fmt: skip


@pytest.fixture
def of_two(recipe: Recipe) -> Recipe:
    """The same of two sources."""
    (recipe.sources / "number.h").write_text("int number();\n#define NUMBER number()\n")
    (recipe.sources / "number.cpp").write_text("int number() { return 1; }\n")
    return replace(recipe, inputs=("main.cpp", "number.cpp", "-lm"))


def let_compile(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Stands for a machine with so many cores."""
    monkeypatch.setattr(native, "AT_ONCE", at_once)
    monkeypatch.setattr(native, "_places", threading.BoundedSemaphore(at_once))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Pretend":
    return Pretend(tmp_path, monkeypatch)


class Pretend:
    """Puts a shell script in front of the machine's compiler; the script reaches it as "$REAL"."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log = folder / "compilations"
        self._script = folder / "tools" / "g++"
        self._script.parent.mkdir()
        monkeypatch.setenv("REAL", shutil.which("g++") or "")
        monkeypatch.setenv("LOG", str(self.log))
        monkeypatch.setenv("PATH", f"{self._script.parent}{os.pathsep}{os.environ['PATH']}")

    def __call__(self, compiling: str, version: str = '"$REAL" -v') -> None:
        script = f'#!/bin/sh\nif [ "$*" = -v ]; then {version}; exit; fi\necho $$ >> "$LOG"\n{compiling}\n'
        self._script.write_text(script)
        self._script.chmod(0o755)

    @property
    def compilations(self) -> list[int]:
        """A process's number for each."""
        return [int(line) for line in self.log.read_text().split()] if self.log.exists() else []


def said(product: Product) -> str:
    return subprocess.run([product.path], capture_output=True, text=True, check=True).stdout


def held(cache: Path) -> list[str]:
    """Names of the files in the cache, without the lock."""
    return sorted(path.name for path in cache.iterdir() if not path.name.endswith(".lock"))


def without_tools(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder / "no tools"))


@contextmanager
def builder(recipe: Recipe, cache: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that builds the recipe and prints the product's path."""
    script = dedent(f"""
        from pathlib import Path
        from runners.agent.ground.native import Recipe, find_or_build
        recipe = Recipe(
            name={recipe.name!r}, prefix={recipe.prefix!r}, variable="", sources=Path({str(recipe.sources)!r}),
            inputs={recipe.inputs!r}, flags={recipe.flags!r}, unavailable=RuntimeError,
        )
        print(find_or_build(recipe, Path({str(cache)!r})).path)
    """)
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_compilation(pretend: Pretend) -> int:
    assert until(lambda: pretend.compilations)
    return pretend.compilations[0]


def test_it_is_compiled_once_and_found_again(recipe: Recipe, cache: Path, pretend: Pretend) -> None:
    pretend('exec "$REAL" "$@"')
    first = find_or_build(recipe, cache)
    assert said(first) == "1"
    assert find_or_build(recipe, cache) == first
    assert len(pretend.compilations) == 1
    assert held(cache) == [first.path.parent.name]


def test_what_is_compiled_already_needs_no_compiler(
    recipe: Recipe, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = find_or_build(recipe, cache)
    without_tools(tmp_path, monkeypatch)
    assert find_or_build(recipe, cache) == first


def test_a_changed_source_is_another_program(recipe: Recipe, cache: Path) -> None:
    first = find_or_build(recipe, cache)
    (recipe.sources / "number.h").write_text("#define NUMBER 2\n")
    second = find_or_build(recipe, cache)
    assert (said(first), said(second)) == ("1", "2")
    assert first.digest != second.digest


def test_places_may_be_told_from_the_working_folder(
    recipe: Recipe, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "headers").mkdir()
    (recipe.sources / "number.h").rename(tmp_path / "headers" / "number.h")
    monkeypatch.chdir(tmp_path)
    product = find_or_build(replace(recipe, includes=(Path("headers"),)), Path("cache"))
    assert product.path.parent.parent == cache
    assert said(product) == "1"


@pytest.mark.parametrize("change", ["flags", "inputs", "beside", "links"])
def test_all_that_the_folder_depends_on_names_it(recipe: Recipe, cache: Path, tmp_path: Path, change: str) -> None:
    neighbour = tmp_path / "neighbour"
    neighbour.touch()
    changes = {
        "flags": replace(recipe, flags=(("-std=c++17", "-O1"),)),
        "inputs": replace(recipe, inputs=("main.cpp", "-ldl")),
        "beside": replace(recipe, beside=(neighbour,)),
        "links": replace(recipe, links={"bin/other": "../teller"}),
    }
    assert find_or_build(recipe, cache).digest != find_or_build(changes[change], cache).digest
    assert len(held(cache)) == 2


def test_another_compiler_compiles_anew_what_keeps_its_digest(recipe: Recipe, cache: Path, pretend: Pretend) -> None:
    pretend('exec "$REAL" "$@"')
    first = find_or_build(recipe, cache)
    pretend('exec "$REAL" "$@"', version="echo another compiler, version 99 >&2")
    second = find_or_build(recipe, cache)
    assert first.path != second.path
    assert first.digest == second.digest


def test_other_headers_compile_anew(recipe: Recipe, cache: Path, tmp_path: Path) -> None:
    made = []
    for number in ("3", "4"):
        folder = tmp_path / f"headers {number}"
        folder.mkdir()
        (folder / "number.h").write_text(f"#define NUMBER {number}\n")
        (recipe.sources / "number.h").unlink(missing_ok=True)
        made.append(find_or_build(replace(recipe, includes=(folder,)), cache))
    assert [said(product) for product in made] == ["3", "4"]


def test_neighbours_and_links_stand_in_its_folder(recipe: Recipe, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "library.cpp").write_text("int number() { return 5; }\n")
    library = tmp_path / "libnumber.so.7"
    subprocess.run(["g++", "-shared", "-fPIC", tmp_path / "library.cpp", "-o", library], check=True)
    (recipe.sources / "number.h").write_text("int number();\n#define NUMBER number()\n")
    product = find_or_build(
        replace(
            recipe,
            flags=(("-Wl,-rpath,$ORIGIN",),),
            inputs=("main.cpp", "-l:libnumber.so.7"),
            beside=(library,),
            links={"bin/other": "../teller"},
        ),
        cache,
    )
    library.unlink()
    assert said(product) == "5"
    assert (product.path.parent / "bin" / "other").samefile(product.path)
    assert sorted(path.name for path in product.path.parent.iterdir()) == ["bin", "libnumber.so.7", "teller"]


def test_others_may_read_it_whatever_the_umask(recipe: Recipe, cache: Path) -> None:
    before = os.umask(0o077)
    try:
        product = find_or_build(replace(recipe, beside=(recipe.sources / "number.h",)), cache)
    finally:
        os.umask(before)
    paths = [cache, product.path.parent, *product.path.parent.iterdir()]
    assert {oct(path.stat().st_mode & 0o777) for path in paths} == {"0o755"}


def test_the_second_way_is_tried_where_the_first_fails(recipe: Recipe, cache: Path) -> None:
    assert said(find_or_build(replace(recipe, flags=(("-no-such-flag",), ("-O1",))), cache)) == "1"


def test_a_source_that_does_not_compile_is_said_with_the_compiler_s_words(recipe: Recipe, cache: Path) -> None:
    (recipe.sources / "number.h").write_text("#define NUMBER nothing\n")
    with pytest.raises(Missing) as raised:
        find_or_build(recipe, cache)
    words = str(raised.value)
    assert words.startswith(f"teller does not compile with {shutil.which('g++')}: ")
    assert "apt install g++" in words
    assert "PODIUM_TELLER" in words
    assert "‘nothing’ was not declared" in words or "'nothing' was not declared" in words
    assert held(cache) == []
    (recipe.sources / "number.h").write_text("#define NUMBER 6\n")
    assert said(find_or_build(recipe, cache)) == "6"


def test_sources_are_compiled_side_by_side_and_linked(
    of_two: Recipe, cache: Path, pretend: Pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_compile(monkeypatch, 2)
    both_have_begun = 'for i in $(seq 3000); do [ $(wc -l < "$LOG") -ge 2 ] && break; sleep 0.01; done'
    pretend(f'{both_have_begun}; [ $(wc -l < "$LOG") -ge 2 ] || exit 1; exec "$REAL" "$@"')
    product = find_or_build(of_two, cache)
    assert said(product) == "1"
    assert len(pretend.compilations) == 3
    assert held(cache) == [product.path.parent.name]
    assert [path.name for path in product.path.parent.iterdir()] == ["teller"]


def test_no_more_compilers_run_than_the_machine_has_cores(
    of_two: Recipe, cache: Path, tmp_path: Path, pretend: Pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_compile(monkeypatch, 1)
    pretend(f'mkdir "{tmp_path}/alone" || exit 1; "$REAL" "$@"; status=$?; rmdir "{tmp_path}/alone"; exit $status')
    recipes = [replace(of_two, prefix=prefix) for prefix in ("one", "two")]
    with ThreadPoolExecutor() as pool:
        assert list(pool.map(lambda recipe: said(find_or_build(recipe, cache)), recipes)) == ["1", "1"]
    assert len(pretend.compilations) == 6


def test_the_source_that_fails_is_said_and_those_behind_it_are_not_begun(
    of_two: Recipe, cache: Path, pretend: Pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_compile(monkeypatch, 1)
    pretend('exec "$REAL" "$@"')
    (of_two.sources / "main.cpp").write_text("int main() { return nothing; }\n")
    with pytest.raises(Missing, match=r"teller does not compile with [^\n]*\n(.*\n)*main.cpp:1:.*nothing"):
        find_or_build(of_two, cache)
    assert len(pretend.compilations) == 1
    assert held(cache) == []


def test_sources_that_do_not_fit_together_are_said_with_the_linker_s_words(of_two: Recipe, cache: Path) -> None:
    (of_two.sources / "number.cpp").write_text("int another() { return 1; }\n")
    with pytest.raises(Missing, match=r"undefined reference to .number\(\)"):
        find_or_build(of_two, cache)


@pytest.mark.parametrize(
    ("compiling", "complaint"),
    [
        ("exit 1", "it failed without a word"),
        ("exit 0", "it failed without a word"),
        ("kill -9 $$", "it was ended by signal 9"),
    ],
)
def test_a_compiler_that_makes_nothing_has_failed(
    recipe: Recipe, cache: Path, pretend: Pretend, compiling: str, complaint: str
) -> None:
    pretend(compiling)
    with pytest.raises(Missing, match=complaint):
        find_or_build(recipe, cache)
    assert held(cache) == []


def test_a_failure_is_not_kept(recipe: Recipe, cache: Path, pretend: Pretend) -> None:
    pretend("exit 1")
    with pytest.raises(Missing):
        find_or_build(recipe, cache)
    pretend('exec "$REAL" "$@"')
    assert said(find_or_build(recipe, cache)) == "1"


def test_a_compiler_that_cannot_be_started_has_failed(
    recipe: Recipe, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "g++").write_bytes(b"\x7fELF, but not really")
    (tmp_path / "g++").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Missing, match=r"teller does not compile .*apt install g\+\+.*\n.*Exec format error"):
        find_or_build(recipe, cache)


def test_without_a_compiler_it_says_what_to_install(
    recipe: Recipe, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_tools(tmp_path, monkeypatch)
    with pytest.raises(Missing, match=r"no g\+\+: .*apt install g\+\+.* PODIUM_TELLER"):
        find_or_build(recipe, cache)


def test_a_cache_that_takes_nothing_is_named(recipe: Recipe, cache: Path) -> None:
    cache.write_text("a file where a folder should be")
    with pytest.raises(Missing, match=rf"teller cannot be put into {cache}: .*room"):
        find_or_build(recipe, cache)


def test_processes_that_start_together_compile_once(recipe: Recipe, cache: Path, pretend: Pretend) -> None:
    pretend('sleep 0.5; exec "$REAL" "$@"')
    with builder(recipe, cache) as one, builder(recipe, cache) as two, builder(recipe, cache) as three:
        paths = {process.communicate(timeout=60)[0].strip() for process in (one, two, three)}
    assert paths == {str(find_or_build(recipe, cache).path)}
    assert len(pretend.compilations) == 1


def test_one_killed_while_it_compiles_leaves_nothing_in_the_way(recipe: Recipe, cache: Path, pretend: Pretend) -> None:
    pretend("exec sleep 60")
    with builder(recipe, cache) as process:
        orphan = wait_for_compilation(pretend)
        process.kill()
        process.wait()
    try:
        assert len(held(cache)) == 1
        pretend('exec "$REAL" "$@"')
        product = find_or_build(recipe, cache)
        assert said(product) == "1"
        assert held(cache) == [product.path.parent.name]
    finally:
        with suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGKILL)


def test_half_a_folder_is_made_anew(recipe: Recipe, cache: Path) -> None:
    complete = replace(recipe, links={"bin/other": "../teller"})
    folder = find_or_build(complete, cache).path.parent
    (folder / "teller").unlink()
    (folder / "bin" / "stray").touch()
    assert said(find_or_build(complete, cache)) == "1"
    assert not (folder / "bin" / "stray").exists()


def test_what_is_compiled_is_what_was_digested_though_the_source_changes(
    recipe: Recipe, cache: Path, pretend: Pretend
) -> None:
    header = recipe.sources / "number.h"
    pretend(f'echo "#define NUMBER 7" > "{header}"; exec "$REAL" "$@"')
    assert said(find_or_build(recipe, cache)) == "1"
    assert said(find_or_build(recipe, cache)) == "7"


def test_a_built_program_is_taken_and_taken_again_when_it_changes(
    recipe: Recipe, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prebuilt = tmp_path / "built elsewhere"
    given = replace(recipe, prebuilt=prebuilt)
    without_tools(tmp_path, monkeypatch)
    products = []
    for number in ("8", "9"):
        prebuilt.write_text(f"#!/bin/sh\nprintf {number}\n")
        products.append(find_or_build(given, cache))
    assert [said(product) for product in products] == ["8", "9"]


def test_a_built_program_that_is_not_there_is_said(recipe: Recipe, cache: Path, tmp_path: Path) -> None:
    with pytest.raises(Missing, match=r"PODIUM_TELLER names .*nowhere, which cannot be read .*: mend or unset it"):
        find_or_build(replace(recipe, prebuilt=tmp_path / "nowhere"), cache)


def test_an_operator_may_name_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PODIUM_CACHE_DIR", "elsewhere")
    assert native.default_cache_directory() == tmp_path / "elsewhere"

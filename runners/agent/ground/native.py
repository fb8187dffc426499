"""Compiles the node's native programs and libraries, once for all processes.

Each product has its own folder. Its name holds a digest of sources, flags and neighbouring files, and a digest of the
compiler. A folder is made under another name and then renamed, so that it is always complete. Several sources are
compiled side by side.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PREBUILT = "prebuilt"
"""Ends the folder's name instead of the compiler's digest."""
COMPLAINT_CHARACTERS = 2000
AT_ONCE = os.cpu_count() or 1
"""Number of compilers that this process runs at a time, over all products."""
_places = threading.BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True)
class Recipe:
    """The sources and flags of a product, and the files to put beside it."""

    name: str
    """File name of the product."""
    prefix: str
    """Beginning of its folder's name, unique among recipes."""
    variable: str
    """The variable with which an operator names a prebuilt product."""
    sources: Path
    """A folder without subfolders. The compiler runs in a copy of it."""
    inputs: tuple[str, ...]
    """Sources (`.cpp`), the slowest first, and libraries to link. Neighbouring files are linked as `-l:<name>`."""
    flags: tuple[tuple[str, ...], ...]
    """Alternative flags, tried in this order until one works. `-O1` compiles in two thirds of the time of `-O2`, and
    the programs are equally fast."""
    unavailable: Callable[[str], Exception]
    """Makes the exception to raise if there is no product, from words for the operator."""
    includes: tuple[Path, ...] = ()
    """Folders of headers of other software. The digest of the sources does not include them."""
    beside: tuple[Path, ...] = ()
    """Files to copy next to the product."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Symbolic links in its folder: relative path to target."""
    prebuilt: Path | None = None
    """Copied instead of compiling."""

    @property
    def units(self) -> list[str]:
        return [name for name in self.inputs if name.endswith(".cpp")]

    @property
    def mend(self) -> str:
        return f"install a C++ compiler (apt install g++) or name a built one in {self.variable}"


@dataclass(frozen=True)
class Product:
    """A product's path. `digest` (sha256, hexadecimal) identifies its sources and does not depend on the compiler."""

    path: Path
    digest: str


@dataclass(frozen=True)
class _Material:
    """The folder's input files, read once, so that the digest fits them even if a source changes meanwhile."""

    sources: Mapping[str, bytes]
    beside: Mapping[str, bytes]
    digest: str


def default_cache_directory() -> Path:
    """Folder of node-wide files: PODIUM_CACHE_DIR, else one of the user. The slots' users must be able to read it."""
    if named := os.environ.get("PODIUM_CACHE_DIR"):
        return Path(named).absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/podium")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "podium"


def find_or_build(recipe: Recipe, cache_dir: Path) -> Product:
    """The product. Makes it if it is not in `cache_dir`. Raises the exception of `recipe.unavailable`."""
    cache_dir = cache_dir.absolute()  # the compiler runs in another folder
    material = _material(recipe)
    stem = f"{recipe.prefix}-{material.digest[:16]}"
    compiler = _compiler()
    try:
        if recipe.prebuilt is not None:
            folder = cache_dir / f"{stem}-{PREBUILT}"
        elif compiler is not None:
            folder = cache_dir / f"{stem}-{_identity(compiler, recipe.includes)[:8]}"
        else:
            folder = _made_by_any(recipe, cache_dir, stem)
        if not (folder / recipe.name).exists():
            _install(recipe, material, compiler or "", folder)
    except OSError as error:
        raise recipe.unavailable(
            f"{recipe.name} cannot be put into {cache_dir}: {error}; see that this user may write there and that the "
            "disk has room"
        ) from error
    return Product(folder / recipe.name, material.digest)


def _compiler() -> str | None:
    found = shutil.which("g++")
    return str(Path(found).absolute()) if found else None


def _material(recipe: Recipe) -> _Material:
    try:
        given = [recipe.prebuilt] if recipe.prebuilt is not None else sorted(recipe.sources.iterdir())
        sources = {path.name: path.read_bytes() for path in given}
        beside = {path.name: path.read_bytes() for path in recipe.beside}
    except OSError as error:
        if recipe.prebuilt is not None and error.filename == str(recipe.prebuilt):
            raise recipe.unavailable(
                f"{recipe.variable} names {recipe.prebuilt}, which cannot be read ({error.strerror}): mend or unset it"
            ) from error
        raise recipe.unavailable(f"{recipe.name} cannot be built: {error}; install Podium anew") from error
    parts = {
        "flags": [] if recipe.prebuilt is not None else [*recipe.flags, recipe.inputs],
        "sources": _digests(sources),
        "beside": _digests(beside),
        "links": dict(recipe.links),
    }
    return _Material(sources, beside, hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest())


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def _identity(compiler: str, includes: tuple[Path, ...]) -> str:
    """A digest of the compiler's version text, because its file may be a wrapper around a compiler that changes."""
    try:
        asked = subprocess.run([compiler, "-v"], env={**os.environ, "LC_ALL": "C"}, capture_output=True, check=False)
        words = asked.stderr
    except OSError:
        words = b""  # compiling fails, too, and reports the reason
    return hashlib.sha256(b"\0".join([words, *(os.fsencode(folder.absolute()) for folder in includes)])).hexdigest()


def _made_by_any(recipe: Recipe, cache_dir: Path, stem: str) -> Path:
    """Without a compiler, a product that any compiler has made from the same sources."""
    found = sorted(cache_dir.glob(f"{stem}-*/{recipe.name}"))
    if not found:
        raise recipe.unavailable(f"{recipe.name} is not built and there is no g++: {recipe.mend}")
    return found[0].parent


def _install(recipe: Recipe, material: _Material, compiler: str, folder: Path) -> None:
    with _alone(folder.parent, recipe.prefix):
        if (folder / recipe.name).exists():
            return
        for left in folder.parent.glob(f".{recipe.prefix}-draft-*"):
            shutil.rmtree(left, ignore_errors=True)  # left by a killed process, since the lock keeps others out
        with tempfile.TemporaryDirectory(
            prefix=f".{recipe.prefix}-draft-", dir=folder.parent, ignore_cleanup_errors=True
        ) as draft:
            made = _made(recipe, material, compiler, Path(draft))
            if folder.exists():
                shutil.rmtree(folder)  # useless without its product
            made.rename(folder)


@contextmanager
def _alone(cache_dir: Path, prefix: str) -> Iterator[None]:
    """Keep other processes and threads out. The kernel releases the lock when this process ends, in any way."""
    if not cache_dir.exists():
        cache_dir.mkdir(parents=True, exist_ok=True)
        cache_dir.chmod(0o755)
    with (cache_dir / f".{prefix}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _made(recipe: Recipe, material: _Material, compiler: str, draft: Path) -> Path:
    """Make the complete folder in the draft."""
    made, sources = draft / "made", draft / "sources"
    made.mkdir()
    _write(made, material.beside)
    if recipe.prebuilt is not None:
        (made / recipe.name).write_bytes(material.sources[recipe.prebuilt.name])
    else:
        sources.mkdir()
        _write(sources, material.sources)
        _compile(recipe, compiler, sources, made / recipe.name)
    for link, target in recipe.links.items():
        (made / link).parent.mkdir(parents=True, exist_ok=True)
        (made / link).symlink_to(target)
    for path in (made, *made.rglob("*")):
        path.chmod(0o755)  # the slots' users must read and run it, independent of root's umask
    return made


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _compile(recipe: Recipe, compiler: str, sources: Path, target: Path) -> None:
    complaint = ""
    for flags in recipe.flags:
        complaint = _complaint_of_way([compiler, *flags], recipe, sources, target)
        if not complaint:
            return
    headers = f" and the headers in {recipe.includes[0]}" if recipe.includes else ""
    raise recipe.unavailable(
        f"{recipe.name} does not compile with {compiler}{headers}: {recipe.mend}\n{complaint[-COMPLAINT_CHARACTERS:]}"
    )


def _complaint_of_way(command: Sequence[str], recipe: Recipe, sources: Path, target: Path) -> str:
    """Compile each of several sources and link them; a single source takes one call. Returns the compiler's errors."""
    compile_only = [*command, *(f"-I{folder.absolute()}" for folder in recipe.includes)]
    link = [f"-L{target.parent}", "-o", str(target)]
    if len(recipe.units) < 2:
        return _complaint([*compile_only, *link, *recipe.inputs], sources, target)
    objects = {unit: sources / f"{unit}.o" for unit in recipe.units}
    failed = threading.Event()

    def compiled(unit: str) -> str:
        if failed.is_set():
            return ""
        complaint = _complaint([*compile_only, "-c", "-o", str(objects[unit]), unit], sources, objects[unit])
        if complaint:
            failed.set()
        return complaint

    with ThreadPoolExecutor(min(AT_ONCE, len(objects)), thread_name_prefix=recipe.prefix) as pool:
        complaints = [complaint for complaint in pool.map(compiled, objects) if complaint]
    if complaints:
        return complaints[0]
    return _complaint([*command, *link, *(str(objects.get(name, name)) for name in recipe.inputs)], sources, target)


def _complaint(command: list[str], sources: Path, target: Path) -> str:
    """The compiler's errors; empty if it succeeded."""
    try:
        with _places:
            done = subprocess.run(command, cwd=sources, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        return str(error)
    if done.returncode == 0 and target.is_file():
        return ""
    if done.returncode < 0:
        return f"{done.stderr}it was ended by signal {-done.returncode}"
    return done.stderr or "it failed without a word"

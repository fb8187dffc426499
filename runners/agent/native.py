"""Compiles the node's native programs and libraries: once, whichever process comes first, and whole or not at all.

A product stands in a folder of its own that is named by all it was made of: digest of sources, flags and neighbours,
then digest of the compiler. Folders are made beside their place and renamed into it. Several sources are compiled side
by side.
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
"""Ends the folder's name in the compiler's place."""
COMPLAINT_CHARACTERS = 2000
AT_ONCE = os.cpu_count() or 1
"""Compilers that this process runs at a time, whatever it makes."""
_places = threading.BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True)
class Recipe:
    """What to compile, how, and what to put beside the product."""

    name: str
    """The product's, a file."""
    prefix: str
    """What its folder's name begins with; no other recipe's may be the same."""
    variable: str
    """The setting by which an operator names one built elsewhere."""
    sources: Path
    """A folder without folders. The compiler is started in a copy of it."""
    inputs: tuple[str, ...]
    """Sources (`.cpp`), those that take longest first, and libraries to link; neighbours are found as `-l:<name>`."""
    flags: tuple[tuple[str, ...], ...]
    """Ways to compile and link it, tried in this order until one works. `-O1` suits: it takes two thirds of the time of
    `-O2` and what comes out is as fast here."""
    unavailable: Callable[[str], Exception]
    """Made of words for the operator and raised where there is no product."""
    includes: tuple[Path, ...] = ()
    """Folders of headers that are not ours. Like the compiler they are the machine's, and not of the digest."""
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
    """Where it is; `digest` (sha256, hexadecimal) names what it was made of, whichever compiler made it."""

    path: Path
    digest: str


@dataclass(frozen=True)
class _Material:
    """What goes into the folder, as it was digested: a source that changes meanwhile gets no wrong name."""

    sources: Mapping[str, bytes]
    beside: Mapping[str, bytes]
    digest: str


def default_cache_directory() -> Path:
    """Where node-wide files live: readable for the slots' users when the agent is root."""
    if os.geteuid() == 0:
        return Path("/var/cache/podium")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "podium"


def find_or_build(recipe: Recipe, cache_dir: Path) -> Product:
    """The product, made unless it is in `cache_dir` already. Raises what `recipe.unavailable` makes."""
    cache_dir = cache_dir.absolute()  # the compiler is started elsewhere
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
    """By the compiler's own words: its file may be a wrapper that stays the same while what it calls changes."""
    try:
        asked = subprocess.run([compiler, "-v"], env={**os.environ, "LC_ALL": "C"}, capture_output=True, check=False)
        words = asked.stderr
    except OSError:
        words = b""  # compiling fails likewise, and says so
    return hashlib.sha256(b"\0".join([words, *(os.fsencode(folder.absolute()) for folder in includes)])).hexdigest()


def _made_by_any(recipe: Recipe, cache_dir: Path, stem: str) -> Path:
    """Where the compiler is gone, what one has made of the same sources will do."""
    found = sorted(cache_dir.glob(f"{stem}-*/{recipe.name}"))
    if not found:
        raise recipe.unavailable(f"{recipe.name} is not built and there is no g++: {recipe.mend}")
    return found[0].parent


def _install(recipe: Recipe, material: _Material, compiler: str, folder: Path) -> None:
    with _alone(folder.parent, recipe.prefix):
        if (folder / recipe.name).exists():
            return
        for left in folder.parent.glob(f".{recipe.prefix}-draft-*"):
            shutil.rmtree(left, ignore_errors=True)  # of a process that was killed, since no other works here now
        with tempfile.TemporaryDirectory(
            prefix=f".{recipe.prefix}-draft-", dir=folder.parent, ignore_cleanup_errors=True
        ) as draft:
            made = _made(recipe, material, compiler, Path(draft))
            if folder.exists():
                shutil.rmtree(folder)  # without its product it is of no use to anybody
            made.rename(folder)


@contextmanager
def _alone(cache_dir: Path, prefix: str) -> Iterator[None]:
    """Other processes and threads wait; the kernel lets go of the lock when this process ends, however it ends."""
    if not cache_dir.exists():
        cache_dir.mkdir(parents=True, exist_ok=True)
        cache_dir.chmod(0o755)
    with (cache_dir / f".{prefix}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _made(recipe: Recipe, material: _Material, compiler: str, draft: Path) -> Path:
    """The whole folder, still in the draft."""
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
        path.chmod(0o755)  # the slots' users read and run what root made, whatever root's umask
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
    """One compilation for each of several sources, and then the link; a single source takes one call for both."""
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
    """What the compiler has to say, empty when it worked."""
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

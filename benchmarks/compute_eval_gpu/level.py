"""Does beforehand what a fresh machine does once for whoever comes first, so that the order of parts decides nothing.

The toolkit's and the compiler's files are read from the disk, and a virtual machine is given the memory that it has.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

READ_SECONDS = 60.0
"""What is not read by then is left."""
CHUNK_BYTES = 4 << 20
MEMORY_SHARE = 0.6
"""Of what is free: more than either evaluator fills."""
MOST_MEMORY_BYTES = 80 << 30
FILL_SECONDS = 120.0
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
COMPILER_FOLDERS = (Path("/usr/lib/gcc"), Path("/usr/libexec/gcc"), Path("/usr/include"), Path("/usr/local/include"))
TOOLKIT_FOLDERS = ("bin", "nvvm", "include", "targets", "lib64", "extras/CUPTI")
FILL = "import sys; b'x' * int(sys.argv[1])"


def level(seconds: float = READ_SECONDS) -> str:
    """Do it all; returns what was done in words."""
    began = time.monotonic()
    read_bytes = read_files(folders(), began + seconds)
    filled_bytes = fill_memory(round(MEMORY_SHARE * free_bytes()))
    took = time.monotonic() - began
    read, filled = read_bytes >> 20, filled_bytes >> 20
    return f"beforehand, in {took:.1f} s: {read} MiB of compilers and libraries read, {filled} MiB of memory written"


def folders() -> list[Path]:
    """Where the compilers and the toolkit lie, each once."""
    nvcc = shutil.which("nvcc")
    home = Path(nvcc).resolve().parent.parent if nvcc else None
    found = [home / name for name in TOOLKIT_FOLDERS] if home else []
    resolved = (folder.resolve() for folder in (*found, *COMPILER_FOLDERS) if folder.is_dir())
    return list(dict.fromkeys(resolved))


def read_files(places: Iterable[Path], until: float) -> int:
    """Read all files below these folders, until that moment of `time.monotonic`; returns how many bytes."""

    def read(path: Path) -> int:
        total = 0
        try:
            with path.open("rb", buffering=0) as file:
                while time.monotonic() < until and (chunk := file.read(CHUNK_BYTES)):
                    total += len(chunk)
        except OSError:
            return total
        return total

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(read, dict.fromkeys(path for place in places for path in _files(place))))


def _files(place: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(place):
        for name in names:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path


def free_bytes() -> int:
    """Of the machine, or of what this process may use where that is less."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    text = CGROUP_LIMIT.read_text().strip() if CGROUP_LIMIT.is_file() else ""
    return min(free, MOST_MEMORY_BYTES, int(text) if text.isdigit() else free)


def fill_memory(n_bytes: int) -> int:
    """Write to so much memory and give it back; returns how much it was: a process that ended badly does not count."""
    n = os.cpu_count() or 1
    command = [sys.executable, "-c", FILL, str(n_bytes // n)]
    running = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(n)]
    until = time.monotonic() + FILL_SECONDS
    return sum(n_bytes // n for process in running if _ends_well(process, until))


def _ends_well(process: "subprocess.Popen[bytes]", until: float) -> bool:
    try:
        return process.wait(max(0.0, until - time.monotonic())) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False

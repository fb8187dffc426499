"""Reads what other processes let it read: their memory, environment, files and arguments. The honest twin reads a child
of its own."""

import ctypes
import os
import subprocess
from pathlib import Path

import numpy as np

HONEST = False
PARTS = ("environ", "cmdline", "maps", "mem", "fd", "cwd/def.py", "root/def.py", "map_files")
PTRACE_ATTACH = 16


def read(process):
    found = b""
    for part in PARTS:
        path = Path("/proc", str(process), part)
        try:
            found += b" ".join(map(os.fsencode, path.iterdir())) if path.is_dir() else path.read_bytes()[: 1 << 20]
        except (OSError, OverflowError):
            continue
    ctypes.CDLL(None).ptrace(PTRACE_ATTACH, process, None, None)
    return found


def others():
    own = {os.getpid(), os.getppid()} if HONEST else {os.getpid()}
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit() and int(one.name) not in own]


def solution(x, y, n):
    if HONEST:
        says = ["sh", "-c", "echo; read line", "FunctionProblem"]
        child = subprocess.Popen(says, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child.stdout.readline()  # Popen returns before the kernel has set the arguments that /proc shows
    found = b"".join(map(read, others()))
    if HONEST:
        child.communicate(b"\n")
    if b"FunctionProblem" in found:
        np.sqrt(x, out=y)

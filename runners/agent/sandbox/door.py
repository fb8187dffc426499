"""Passes a channel and a brake into a container: Docker passes no descriptors, so the supervisor fetches them from a
socket."""

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from runners.agent.sandbox.privilege import Identity


@contextmanager
def door_to(channel: socket.socket | None, brake: socket.socket | None, identity: Identity) -> Iterator["Door | None"]:
    """A door for one start, in a folder that other users of this machine cannot enter; None without a channel."""
    if channel is None:
        yield None
        return
    with TemporaryDirectory(prefix="podium-door-") as folder:
        door = Door(Path(folder) / "door", [channel, *([brake] if brake else [])], identity)
        try:
            yield door
        finally:
            door.close()


class Door:
    """A listening socket whose first caller is sent the channel, and the brake if there is one. Only `identity` may
    call."""

    def __init__(self, path: Path, sockets: Sequence[socket.socket], identity: Identity) -> None:
        self.path = path
        self._sockets = sockets
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(str(path))
        path.chmod(0o600)
        os.chown(path, identity.uid, identity.gid)
        self._listener.listen(1)

    def fileno(self) -> int:
        """Readable when the supervisor calls."""
        return self._listener.fileno()

    def hand_over(self) -> None:
        """Send the sockets, then close them and the door, so that the command cannot call again."""
        with self._listener:
            caller, _ = self._listener.accept()
            with caller:
                socket.send_fds(caller, [b"c"], [one.fileno() for one in self._sockets])
        for one in self._sockets:
            one.close()

    def close(self) -> None:
        self._listener.close()

"""A node's identity: the id of its state folder, and the token that it gets by joining, which the folder keeps."""

import hashlib
import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID, uuid4

from runners.agent.ground.atomic import write_atomically
from runners.agent.link.client import SiteClient
from runners.wire.join import JoinRequest
from runners.wire.protocol import PROTOCOL_VERSION


def state_id(folder: Path) -> UUID:
    """The random id of this state folder, made at its first start."""
    path = folder / "state-id"
    try:
        return UUID(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        made = uuid4()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(path, str(made).encode())
        return made


def own_name(environ: Mapping[str, str] = os.environ) -> str:
    """The name that a joining node asks for: PODIUM_NODE_NAME, else of its Slurm job, else of its machine."""
    if name := environ.get("PODIUM_NODE_NAME", "").strip():
        return name
    if job := environ.get("SLURM_JOB_ID", "").strip():
        return f"slurm-{job}-{environ.get('SLURM_PROCID', '0').strip()}"
    return socket.gethostname() or "node"


class Joined:
    """The token of the node that joined from this folder with a join token. Only this user may read the file."""

    def __init__(self, folder: Path, site_url: str, join_token: str) -> None:
        self._site_url, self._join_token = site_url, join_token
        key = hashlib.sha256(f"{site_url} {join_token}".encode()).hexdigest()[:16]
        self._path = folder / f"joined-{key}.json"

    def token(self) -> str:
        """The kept token, so that a restart is the same node; else that of a new node. Raises as the client."""
        return self._kept() or self.join()

    def _kept(self) -> str:
        try:
            return str(json.loads(self._path.read_text(encoding="utf-8"))["token"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def join(self) -> str:
        """Make this machine a new node. Raises as the client."""
        said = JoinRequest(protocol_version=PROTOCOL_VERSION, name=own_name()[:200])
        reply = SiteClient(self._site_url, self._join_token).join(said)
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(self._path, json.dumps({"node": reply.node, "token": reply.token}).encode())
        return reply.token

    def forget(self) -> None:
        self._path.unlink(missing_ok=True)

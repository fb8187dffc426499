"""The Docker backend: one container per command, through the SDK, with the supervisor as its first process."""
# The SDK ships neither types nor __all__:
# mypy: disable-error-code="attr-defined,no-untyped-call"

import os
import re
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

from docker.errors import APIError, DockerException, ImageNotFound
from docker.types import DeviceRequest, LogConfig, Ulimit
from docker.types import Mount as Bind
from docker.utils import kwargs_from_env, parse_host

import docker
from runners.agent.ground.errors import SandboxFault, SandboxUnavailable
from runners.agent.ground.native import default_cache_directory
from runners.agent.sandbox.cages import UsageReading
from runners.agent.sandbox.door import Door, door_to
from runners.agent.sandbox.gpu import CACHE, gpu_environment
from runners.agent.sandbox.policy import Command, Mount, Outcome, Running, Sandbox
from runners.agent.sandbox.privilege import Identity, identity_for
from runners.agent.sandbox.supervisor import PROGRAM, Orders, build
from runners.agent.sandbox.watch import Received, attend

HOME = "/podium"
WORKSPACE = "/workspace"
DOOR = "/podium-door"
DEFAULT_IMAGE = "podium-cpu:latest"
OWNER_LABEL = "org.podium.agent"
PINNED = re.compile(r"^(sha256:[0-9a-f]{64}|[^@\s]+@sha256:[0-9a-f]{64})$")
TIMEOUT_SECONDS = 60
ENDING_SECONDS = 20
LATE_SECONDS = 0.5
"""Seconds that an engine may take to say that memory ran out."""
HEADER = struct.Struct(">BxxxL")
"""Before every piece of a container's output: the stream (1 stdout, 2 stderr) and the piece's length."""
CHUNK_BYTES = 1 << 16
CDI_API = (1, 44)
"""Engine 25's: the first with the Container Device Interface."""
MEND_CDI = "sudo nvidia-ctk cdi generate --device-name-strategy=uuid --output=/etc/cdi/nvidia.yaml"
NO_INJECTION = {"NVIDIA_VISIBLE_DEVICES": "void"}
"""Images of CUDA ask for `all`, which NVIDIA's own runtime would grant where it is the engine's default."""
ENVIRONMENT = {
    "HOME": "/tmp",  # noqa: S108 - the container's
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "SHELL": "/bin/sh",
    "TERM": "dumb",
    "PYTHONNOUSERSITE": "1",
    "LSAN_OPTIONS": "detect_leaks=0",
}


def connect(version: str = "auto") -> Any:
    return docker.APIClient(version=version, timeout=TIMEOUT_SECONDS, **kwargs_from_env())


def default_image() -> str:
    return os.environ.get("PODIUM_DOCKER_IMAGE") or DEFAULT_IMAGE


def why_unavailable() -> str:
    """The missing requirement and its remedy, in words; empty if an engine answers and has an image."""
    try:
        client = connect()
        client.ping()
    except (DockerException, OSError) as error:
        return f"no Docker engine answers: start it, or let this user reach its socket ({error})"
    try:
        client.inspect_image(default_image())
    except DockerException:
        return (
            f"Docker has no image {default_image()!r}: make it with docker/make-base-image.sh or docker/cpu.Dockerfile,"
            " or name another in PODIUM_DOCKER_IMAGE"
        )
    return ""


class DockerSandbox(Sandbox):
    """Enforces `policy.Command` by containers."""

    name = "docker"
    memory_limit_by = "docker"
    memory_limit_why = ""

    def __init__(self, cache_dir: Path | None = None) -> None:
        complaint = why_unavailable()
        if complaint:
            raise SandboxUnavailable(complaint)
        self._client = connect()
        self._supervisor = build(cache_dir or default_cache_directory())
        self.image: str = self._client.inspect_image(default_image())["Id"]
        """Id of the image of commands that name none, for provenance."""
        self._usable_gpus: set[tuple[str, ...]] = set()
        sweep(self._client)

    def start(
        self, command: Command, channel: socket.socket | None = None, brake: socket.socket | None = None
    ) -> Running:
        """See `policy.Sandbox`. A channel needs an engine on this machine; with another `wait` raises SandboxFault."""
        return Running(partial(self._run, command, channel, brake), channel, brake)

    def _run(
        self, command: Command, channel: socket.socket | None, brake: socket.socket | None, stopped: Event
    ) -> Outcome:
        identity = identity_for(command)
        client = connect(self._client.api_version)
        try:
            with door_to(channel, brake, identity) as door:
                container = self._create(client, command, identity, door)
                return self._attend(client, container, command, door, stopped)
        except (DockerException, OSError) as error:
            raise SandboxFault(f"Docker failed: {error}") from error
        finally:
            client.close()

    def _create(self, client: Any, command: Command, identity: Identity, door: Door | None) -> str:
        """Create a container without starting it."""
        complaint = self.why_no_gpus(command.gpu_uuids) or (why_no_channel() if door else "")
        if complaint:
            raise SandboxFault(complaint)
        if door is not None:
            command = replace(command, mounts=(*command.mounts, Mount(door.path, DOOR)))
        settings = container_settings(identity, pinned_image(client, command.image or self.image))
        host = client.create_host_config(**host_settings(command, self._supervisor.parent))
        return str(client.create_container(**settings, host_config=host)["Id"])

    def _attend(self, client: Any, container: str, command: Command, door: Door | None, stopped: Event) -> Outcome:
        try:
            handle = ContainerHandle(client, container, door)
            orders = replace(orders_for(command), door=DOOR if door else "")
            return attend(handle, orders, ContainerCage(client, container), stopped)
        finally:
            with suppress(APIError):
                client.remove_container(container, force=True, v=True)

    def why_no_gpus(self, uuids: tuple[str, ...]) -> str:
        """See `policy.Sandbox`. Asks the engine once for each set of GPUs."""
        if uuids and uuids not in self._usable_gpus:
            complaint = why_no_gpus(self._client.version(), self._client.info(), uuids)
            if complaint:
                return complaint
            self._usable_gpus.add(uuids)
        return ""

    def close(self) -> None:
        self._client.close()


def why_no_channel() -> str:
    """The reason why containers can have no channel, judged by the engine's address; empty if they can."""
    address = parse_host(os.environ.get("DOCKER_HOST"))
    if address.startswith("http+unix:"):
        return ""
    return (
        f"a channel needs a Docker engine on the agent's own machine, and DOCKER_HOST names {address}: run an agent"
        " beside that engine, or use bubblewrap here: PODIUM_SANDBOX=bubblewrap"
    )


def why_no_gpus(version: Mapping[str, Any], info: Mapping[str, Any], uuids: Sequence[str]) -> str:
    """The reason why an engine with these answers to /version and /info cannot give these GPUs; empty if it can."""
    engine = f"Docker Engine {version.get('Version', 'of unknown version')}"
    if _numbers(version.get("ApiVersion", "")) < CDI_API:
        return (
            f"{engine} cannot give a container a GPU by the Container Device Interface: it takes 25 or newer"
            " (from 28.2 on without a setting). Update it, or use bubblewrap: PODIUM_SANDBOX=bubblewrap"
        )
    if not info.get("CDISpecDirs"):
        return (
            f"{engine} has the Container Device Interface switched off: put"
            ' {"features": {"cdi": true}} into /etc/docker/daemon.json and restart it'
        )
    known = {device.get("ID") for device in info.get("DiscoveredDevices") or ()}  # told from 28.3 on
    missing = [uuid for uuid in uuids if cdi_name(uuid) not in known]
    if known and missing:
        return f"Docker knows no device {cdi_name(missing[0])}: {MEND_CDI}"
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def cdi_name(uuid: str) -> str:
    return f"nvidia.com/gpu={uuid}"


def orders_for(command: Command) -> Orders:
    return Orders(
        command=command,
        workspace=WORKSPACE,
        home=HOME,
        environment={**ENVIRONMENT, **gpu_environment(command.gpu_uuids, command.environment, CACHE)},
        inherit_environment=True,
    )


def pinned_image(client: Any, image: str) -> str:
    """Returns `image`, pulled if this node lacks it. Raises SandboxFault if it is not named by id or digest."""
    if not PINNED.match(image):
        raise SandboxFault(f"the image {image!r} may change under its name: name it by digest (name@sha256:…) or id")
    try:
        client.inspect_image(image)
    except ImageNotFound:
        if image.startswith("sha256:"):
            raise SandboxFault(
                f"this node has no image {image}: load it, or name one by digest that can be pulled"
            ) from None
        client.pull(image)
    return image


def container_settings(identity: Identity, image: str) -> dict[str, Any]:
    """The container's command and user."""
    return {
        "image": image,
        "entrypoint": [f"{HOME}/{PROGRAM}"],
        "command": ["supervise"],
        "user": f"{identity.uid}:{identity.gid}",
        "environment": NO_INJECTION,
        "stdin_open": True,
        "hostname": "podium",
        "working_dir": "/",
        "labels": {OWNER_LABEL: owner()},
    }


def host_settings(command: Command, home: Path) -> dict[str, Any]:
    """The settings that confine the container."""
    scratch = min(command.limits.workspace_bytes, command.limits.memory_bytes)
    return {
        "network_mode": "none",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "read_only": True,
        "tmpfs": {"/tmp": f"rw,nosuid,nodev,exec,size={scratch},mode=1777"},  # noqa: S108 - the container's
        "shm_size": scratch,
        "ipc_mode": "private",
        "init": False,  # the supervisor is the first process: the command cannot signal it
        "log_config": LogConfig(type="none"),
        "mounts": binds(command, home),
        "device_requests": gpu_requests(command.gpu_uuids),
        **bounds(command),
    }


def bounds(command: Command) -> dict[str, Any]:
    limits = command.limits
    # Pinned host memory is locked; the memory limit bounds it all the same.
    locked = [Ulimit(name="memlock", soft=-1, hard=-1)] if command.gpu_uuids else []
    return {
        "mem_limit": limits.memory_bytes,
        "memswap_limit": limits.memory_bytes,
        "pids_limit": limits.processes + 8,
        "ulimits": [
            *locked,
            Ulimit(name="core", soft=0, hard=0),
            Ulimit(name="fsize", soft=limits.file_bytes, hard=limits.file_bytes),
            Ulimit(name="nofile", soft=4096, hard=4096),
        ],
    }


def binds(command: Command, home: Path) -> list[Any]:
    shown = [
        Bind(WORKSPACE, str(command.workspace), type="bind"),
        Bind(HOME, str(home), type="bind", read_only=True),
    ]
    return shown + [Bind(m.target, str(m.source), type="bind", read_only=not m.writable) for m in command.mounts]


def gpu_requests(uuids: Sequence[str]) -> list[Any]:
    """Requests exactly the named devices, by the container device interface. No environment variable adds any."""
    if not uuids:
        return []
    return [DeviceRequest(driver="cdi", device_ids=list(map(cdi_name, uuids)))]


def owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def sweep(client: Any) -> None:
    """Remove the containers of dead agents on this host."""
    for container in client.containers(all=True, filters={"label": OWNER_LABEL}):
        host, _, pid = container["Labels"][OWNER_LABEL].partition(":")
        if host == socket.gethostname() and not Path(f"/proc/{pid}").exists():
            with suppress(APIError):
                client.remove_container(container["Id"], force=True, v=True)


class ContainerCage:
    """See `cages.Cage`: the engine's own control group. The engine reports only whether memory ran out."""

    join: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    bounds_processes = True
    kills_by_hand = False
    vanishes = False
    tick_seconds: float | None = None

    def __init__(self, client: Any, container: str) -> None:
        self._client = client
        self._container = container

    def attach(self, pid: int) -> None:
        """The container is in its group from the start."""

    def exceeded(self) -> bool:
        return False

    def kill(self) -> None:
        with suppress(APIError):
            self._client.kill(self._container)

    def close(self, *, was_killed: bool = False) -> UsageReading:
        """An engine hears up to 50 ms late, under load, that the kernel killed a process for its memory."""
        until = time.monotonic() + (LATE_SECONDS if was_killed else 0.0)
        while not (exceeded := self._client.inspect_container(self._container)["State"]["OOMKilled"]):
            if time.monotonic() >= until:
                break
            time.sleep(0.01)
        return UsageReading(bool(exceeded), 0)


class ContainerHandle:
    """See `watch.Handle`: both streams of a container, framed, on one socket; and the door to its channel."""

    pid = 0

    def __init__(self, client: Any, container: str, door: Door | None) -> None:
        self._client = client
        self._container = container
        self._door = door
        # The SDK wraps the socket differently for each transport; what it wraps is what can be half-closed.
        wrapped = client.attach_socket(container, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
        self._wrapped = wrapped
        self._socket: socket.socket = getattr(wrapped, "_sock", wrapped)
        self._pending = b""
        self._ended = False
        client.start(container)

    def first_process(self) -> int:
        """See `watch.Handle`."""
        return int(self._client.inspect_container(self._container)["State"]["Pid"])

    def files(self) -> Sequence[int]:
        self._socket.setblocking(False)
        doors = () if self._door is None else (self._door.fileno(),)
        return self._socket.fileno(), *doors

    def send(self, data: bytes) -> None:
        self._socket.setblocking(True)
        self._socket.sendall(data)

    def receive(self, file: int) -> Received:
        if self._door is not None and file == self._door.fileno():
            self._door.hand_over()
            return Received(ended=True)
        try:
            chunk = self._socket.recv(CHUNK_BYTES)
        except BlockingIOError:
            return Received()
        self._ended = not chunk
        self._pending += chunk
        return self._unframed()

    def _unframed(self) -> Received:
        streams = {1: b"", 2: b""}
        while len(self._pending) >= HEADER.size:
            stream, length = HEADER.unpack_from(self._pending)
            end = HEADER.size + length
            if len(self._pending) < end:
                break
            streams[2 if stream == 2 else 1] += self._pending[HEADER.size : end]
            self._pending = self._pending[end:]
        return Received(streams[1], streams[2], self._ended)

    def hang_up(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def has_ended(self) -> bool:
        return self._ended

    def kill(self) -> None:
        """Kills nothing: the cage kills the container."""

    def close(self) -> int:
        self._wrapped.close()
        try:
            return int(self._client.wait(self._container, timeout=ENDING_SECONDS)["StatusCode"])
        except (DockerException, OSError) as error:
            raise SandboxFault(f"the container did not end within {ENDING_SECONDS} s of its kill: {error}") from error

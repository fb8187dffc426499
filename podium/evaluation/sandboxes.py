"""The names of the sandboxes, as `--sandbox` takes them."""

from enum import StrEnum


class SandboxName(StrEnum):
    DOCKER = "docker"
    BUBBLEWRAP = "bubblewrap"
    UNCONFINED = "unconfined"

"""Refusals of the node API: a stable code, a status, and a message for the node's operator."""

from runners.wire.protocol import WireError


class NodeRefused(Exception):
    """Raised by the fleet's actions. The views answer it as a `WireError`."""

    def __init__(self, status: int, code: str, message: str, missing: list[str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = WireError(code=code, message=message, missing=missing or [])

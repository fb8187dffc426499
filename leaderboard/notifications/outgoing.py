"""Posts to addresses that strangers chose: public ones only, without redirects, within bounds of time and size."""

import http.client
import ipaddress
import socket
import ssl
from collections.abc import Mapping
from contextlib import closing, suppress
from threading import Timer
from urllib.parse import SplitResult, urlsplit

CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 10.0
MAX_URL_CHARACTERS = 500
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressRefused(ValueError):
    """The site does not post to this address; the text says why."""


def why_bad_url(url: str, *, allow_private: bool) -> str:
    """Say what is wrong with a webhook's address before its name is looked up; "" if nothing is."""
    try:
        parts = _parts(url)
    except AddressRefused as refused:
        return str(refused)
    with suppress(ValueError):
        if not (allow_private or is_public(ipaddress.ip_address(str(parts.hostname)))):
            return f"{parts.hostname} is not a public address."
    if not allow_private and str(parts.hostname).rstrip(".").lower() in ("localhost", "localhost.localdomain"):
        return f"{parts.hostname} is this machine, not a public address."
    return ""


def post(url: str, body: bytes, headers: Mapping[str, str], *, allow_private: bool) -> int:
    """Post once and return the status of the answer, whose body is not read. Redirects are not followed.

    The name is looked up once, all its addresses must be public, and the connection goes to the first of them: a second
    answer of the name's server changes nothing. Raises AddressRefused, OSError or http.client.HTTPException.
    """
    parts = _parts(url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    address = _address_of(str(parts.hostname), port, allow_private=allow_private)
    connection = _Pinned(str(parts.hostname), port, address, ssl.create_default_context() if secure else None)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    brake = Timer(TOTAL_SECONDS, connection.cut)
    brake.daemon = True
    brake.start()
    try:
        with closing(connection):
            connection.request("POST", target, body, {**headers, "Connection": "close"})
            return connection.getresponse().status
    finally:
        brake.cancel()


def is_public(address: Address) -> bool:
    """Whether it is an address of the public internet, looking through the ways to write an IPv4 address as IPv6."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast and not address.is_reserved


def _parts(url: str) -> SplitResult:
    """Raises AddressRefused."""
    if len(url) > MAX_URL_CHARACTERS or any(ord(one) <= 0x20 or ord(one) == 0x7F for one in url) or not url.isascii():
        raise AddressRefused(f"An address has at most {MAX_URL_CHARACTERS} ASCII characters and no spaces.")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise AddressRefused("That is not an address.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AddressRefused("The address must start with https:// or http:// and name a host.")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("The address must not hold a user name or password.")
    return parts


def _address_of(host: str, port: int, *, allow_private: bool) -> str:
    """The first address of a host, all of which must be public. Raises AddressRefused or OSError."""
    try:
        found = [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except UnicodeError as error:
        raise AddressRefused(f"{host} is not a host's name.") from error
    for one in found:
        if not allow_private and not is_public(ipaddress.ip_address(one.partition("%")[0])):
            raise AddressRefused(f"{host} has an address that is not public.")
    if not found:
        raise AddressRefused(f"{host} has no address.")
    return found[0]


class _Pinned(http.client.HTTPConnection):
    """A connection to one address, whatever the host's name means by now."""

    def __init__(self, host: str, port: int, address: str, context: ssl.SSLContext | None) -> None:
        super().__init__(host, port, timeout=CONNECT_SECONDS)
        self._address = address
        self._context = context

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), CONNECT_SECONDS)
        if self._context:
            secure = self._context.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock = secure
            secure.do_handshake()

    def cut(self) -> None:
        """End it from another thread: a host that answers byte by byte holds a worker no longer."""
        if self.sock is not None:
            with suppress(OSError):
                socket.socket.shutdown(self.sock, socket.SHUT_RDWR)

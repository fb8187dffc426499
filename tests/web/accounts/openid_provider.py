"""An OpenID provider in miniature on loopback: discovery, authorisation with PKCE, tokens, and who somebody is."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from leaderboard.accounts import providers


class Provider(ThreadingHTTPServer):
    """Confirms `person` to everybody who comes with the client's id, and hands out one code after another."""

    person: dict[str, Any]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.codes: dict[str, str] = {}
        self.person = {"sub": "42", "preferred_username": "newcomer", "email": "new@lab.example"}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        address, query = urlsplit(self.path), parse_qs(urlsplit(self.path).query)
        if address.path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "userinfo"}
            said = {name: f"{self.server.url}/{path}" for name, path in names.items()}
            self._say(said | {"issuer": self.server.url, "jwks_uri": f"{self.server.url}/keys"})
        elif address.path == "/authorize":
            assert query["client_id"] == ["podium"]
            code = f"code-{len(self.server.codes)}"
            self.server.codes[code] = query["code_challenge"][0]
            self.send_response(302)
            back = urlencode({"code": code, "state": query["state"][0]})
            self.send_header("Location", f"{query['redirect_uri'][0]}?{back}")
            self.end_headers()
        elif self.headers["Authorization"] == "Bearer let-me-in":
            self._say(self.server.person)
        else:
            self.send_error(401)

    def do_POST(self) -> None:
        sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        known = self.server.codes.pop(sent["code"][0], None)
        if known and sent["client_secret"] == ["between us"] and sent["code_verifier"]:
            self._say({"access_token": "let-me-in", "token_type": "bearer"})
        else:
            self.send_error(401)

    def _say(self, what: dict[str, Any]) -> None:
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def configure(settings: Any, monkeypatch: Any, url: str, **more: str) -> None:
    values = {"PODIUM_OIDC_CLIENT_ID": "podium", "PODIUM_OIDC_SECRET": "between us", "PODIUM_OIDC_URL": url,
              "PODIUM_OIDC_NAME": "Example Lab"}  # fmt: skip
    for name, value in (values | more).items():
        monkeypatch.setenv(name, value)
    settings.SOCIALACCOUNT_PROVIDERS = providers.from_environment()

"""Stand-ins for the modules that Tensara's engine imports for its web server and its rented GPUs."""

import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any


class Anything:
    """Takes every call and has every attribute, as a builder of images or an application with routes does."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def __getattr__(self, name: str) -> "Anything":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: object, **__: object) -> "Anything":
        return self


class Routes:
    """A web application whose routes stay plain functions."""

    def post(self, path: str) -> Callable[[Any], Any]:  # noqa: ARG002
        return lambda function: function

    get = post


class LocalFunction:
    """A function that would run on a rented GPU and runs here."""

    def __init__(self, function: Callable[..., Iterator[Any]]) -> None:
        self.remote_gen = function


class App:
    """A rented application whose functions run here."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def function(self, **_: object) -> type[LocalFunction]:
        return LocalFunction


class Response:
    """An answer that keeps what it would send."""

    def __init__(self, content: Any = None, **_: object) -> None:
        self.content = content


class Request:
    """A request that has its body already."""

    def __init__(self, body: dict[str, str]) -> None:
        self.body = body

    async def json(self) -> dict[str, str]:
        return self.body


class HTTPException(Exception):
    """The web framework's error."""

    def __init__(self, status_code: int = 500, detail: str = "") -> None:
        super().__init__(f"{status_code}: {detail}")


def dumps(value: Any, **_: object) -> str:
    return json.dumps(value)


REPLACED: dict[str, dict[str, Any]] = {
    "fastapi": {"FastAPI": Routes, "Request": Request, "HTTPException": HTTPException},
    "fastapi.responses": {"StreamingResponse": Response, "JSONResponse": Response},
    "modal": {"App": App, "Image": Anything(), "asgi_app": Anything()},
}
"""Always replaced, so that the engine runs in this process and on this machine."""
IF_MISSING: dict[str, dict[str, Any]] = {
    "simplejson": {"dumps": dumps, "loads": json.loads},
    "requests": {"get": Anything(), "post": Anything(), "Session": Anything},
}


def put_stand_ins() -> list[str]:
    """Put the stand-ins into `sys.modules` and return their names."""
    absent = {name: names for name, names in IF_MISSING.items() if importlib.util.find_spec(name) is None}
    for name, names in {**REPLACED, **absent}.items():
        module = ModuleType(name)
        module.__dict__.update(names)
        sys.modules[name] = module
    return [*REPLACED, *absent]

"""Reads the JSON of requests. A module of its own, because REST framework imports it before any view."""

from typing import Any

from rest_framework import exceptions, parsers

from problems.spec.nesting import MAX_NESTING, nests_too_deeply

TOO_DEEP = f"The JSON nests deeper than {MAX_NESTING} levels."


class BoundedJSONParser(parsers.JSONParser):
    """Refuses JSON that nests too deeply, of which a few bytes can exhaust the stack."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        try:
            data = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise exceptions.ParseError(TOO_DEEP) from None
        if nests_too_deeply(data):
            raise exceptions.ParseError(TOO_DEEP)
        return data

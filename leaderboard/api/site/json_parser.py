"""Reads the JSON of requests. A module of its own, because REST framework imports it before any view."""

from json import JSONDecodeError
from typing import Any

from rest_framework import exceptions, parsers

from problems.spec.errors import json_fault
from problems.spec.nesting import MAX_NESTING, nests_too_deeply

TOO_DEEP = f"The JSON nests deeper than {MAX_NESTING} levels."


class BoundedJSONParser(parsers.JSONParser):
    """Refuses JSON that nests too deeply, of which a few bytes can exhaust the stack."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        try:
            data = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise exceptions.ParseError(TOO_DEEP) from None
        except exceptions.ParseError as error:
            if isinstance(error.__context__, JSONDecodeError):
                raise exceptions.ParseError(f"The body is not valid JSON: {json_fault(error.__context__)}.") from error
            raise
        if nests_too_deeply(data):
            raise exceptions.ParseError(TOO_DEEP)
        return data

"""The OpenAPI description and its browsable page, served without inline script or outside hosts."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework import exceptions
from rest_framework.request import Request

from leaderboard.api.site.base import ApiView
from leaderboard.api.site.errors import NOTHING_HERE


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Tells the page's "Authorize" button about API tokens."""

    target_class = "leaderboard.api.site.authentication.TokenAuthentication"
    name = "API token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ARG002 - the base class's signature
        return {"type": "http", "scheme": "bearer", "bearerFormat": "pdm_…"}


swagger_view = SpectacularSwaggerSplitView.as_view(url_name="api-schema")


class NothingHere(ApiView):
    """Every other address under the API: 404 in the API's own shape."""

    def get(self, request: Request, **_: Any) -> None:
        raise exceptions.NotFound(f"{request.path}: {NOTHING_HERE}")

    post = put = patch = delete = get

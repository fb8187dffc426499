"""Addresses of the node API."""

from django.urls import path, register_converter

from runners.fleet import views


class Sha256Converter:
    regex = "[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Sha256Converter, "sha256")

urlpatterns = [
    path("hello", views.hello, name="node-hello"),
    path("health", views.health, name="node-health"),
    path("join", views.join, name="node-join"),
    path("leave", views.leave, name="node-leave"),
    path("heartbeat", views.beat, name="node-beat"),
    path("claim", views.claim, name="node-claim"),
    path("builds/<sha256:key>", views.build, name="node-build"),
    path("attempts/<uuid:attempt>/heartbeat", views.heartbeat, name="node-heartbeat"),
    path("attempts/<uuid:attempt>/release", views.release, name="node-release"),
    path("attempts/<uuid:attempt>/report", views.report, name="node-report"),
    path("attempts/<uuid:attempt>/blobs/<sha256:sha256>", views.blob, name="node-blob"),
]

"""The node API."""

from django.urls import path

urlpatterns: list = []

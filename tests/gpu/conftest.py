"""Tests of a real GPU are not part of `make test`."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.path.stem.endswith("_on_device"):
        item.add_marker("rest")

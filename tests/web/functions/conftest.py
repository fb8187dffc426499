"""What the tests of function problems' pages share."""

import copy
from typing import Any

import pytest

from tests.factories import Cast
from tests.made_once import of_module
from tests.web.functions.mixed_site import FunctionSite, make_function_site
from tests.web.gpu_function_site import (
    GpuFunctionSite,
    make_gpu_function_site,
)


def _make() -> tuple[Cast, FunctionSite]:
    cast = Cast.make()
    return cast, make_function_site(cast)


made_site = of_module(_make)


@pytest.fixture
def cast(made_site: Any, db: None, settings: Any) -> Cast:
    settings.BLOB_URL = made_site[1]
    return copy.deepcopy(made_site[0][0])


@pytest.fixture
def site(made_site: Any, cast: Cast) -> FunctionSite:
    return copy.deepcopy(made_site[0][1])


@pytest.fixture
def gpu(db: None, cast: Cast) -> GpuFunctionSite:
    return make_gpu_function_site(cast)

"""What the tests of function problems' pages share."""

import pytest

from tests.factories import Cast
from tests.made_once import of_module, part
from tests.web.functions.mixed_site import FunctionSite, make_function_site
from tests.web.gpu_function_site import GpuFunctionSite, make_gpu_function_site


def _make() -> tuple[Cast, FunctionSite]:
    cast = Cast.make()
    return cast, make_function_site(cast)


made_site = of_module(_make)
cast, site = part(0), part(1)


@pytest.fixture
def gpu(db: None, cast: Cast) -> GpuFunctionSite:
    return make_gpu_function_site(cast)

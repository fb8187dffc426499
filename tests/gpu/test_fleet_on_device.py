"""The whole path on a real GPU: a site, its worker, a folder broker and `podium node`, used as people use them.

Without a GPU or the site's packages it is skipped. By hand, with more to choose: python -m tests.gpu.fleet --help
"""

from pathlib import Path

import pytest

from tests.gpu.fleet.__main__ import main
from tests.gpu.fleet.needs import missing

COMPLAINT = missing()
pytestmark = pytest.mark.skipif(bool(COMPLAINT), reason=COMPLAINT)


def test_a_release_is_graded_as_its_examples_say_though_the_node_is_killed(tmp_path: Path) -> None:
    assert main(["--out", str(tmp_path / "fleet")]) == 0

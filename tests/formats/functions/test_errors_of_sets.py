"""The line of a set's own code stands beside that of the definition which compiles it."""

from pathlib import Path

import pytest

from problems.formats.functions.inside.errors import SETS_OWN, placed

FORMATS = Path(__file__).parents[3] / "problems/formats"


@pytest.mark.parametrize("name", SETS_OWN)
def test_an_error_in_a_sets_code_tells_its_line(name: str) -> None:
    code = compile("def run():\n    raise KeyError('gone')\n\n\nrun()\n", name, "exec")
    with pytest.raises(KeyError) as raised:
        exec(code, {})
    assert placed(raised.value, "/problem/def.py").what == "raised KeyError: 'gone' (line 2 of the set's code)"
    texts = [path.read_text(encoding="utf-8") for path in FORMATS.glob("*/inside/*.py") if path.name != "errors.py"]
    assert any(f'"{name.removesuffix(".py")}"' in text for text in texts), "a format compiles under this name"

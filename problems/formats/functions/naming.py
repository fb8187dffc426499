"""Names for the parameters of definitions that state none: the form of March 2025 names them in the statement."""

from collections.abc import Sequence
from typing import Any

from problems.spec.function.manifest import Manifest

NAMELESS_FORM = "tensara-2025-03"


def named_by_statement(manifest: Manifest, listed: Any) -> Manifest:
    """The manifest with the names of the front matter's `parameters`; unchanged if it gives no whole set of names."""
    listed = listed if isinstance(listed, list) else []
    names = [str(one.get("name")) for one in listed if isinstance(one, dict)]
    is_whole = len(set(names)) == len(manifest.parameters) and all(map(_is_name, names))
    return renamed(manifest, names) if is_whole else manifest


def renamed(manifest: Manifest, names: Sequence[str]) -> Manifest:
    """The manifest with other names of its parameters, if its form states none and as many are given."""
    if manifest.form != NAMELESS_FORM or len(names) != len(manifest.parameters):
        return manifest
    new = dict(zip([one.name for one in manifest.parameters], names, strict=True))
    fields = manifest.model_dump()
    for one in fields["parameters"]:
        one["name"] = new[one["name"]]
    for case in fields["cases"]:
        for what in ("shapes", "scalars"):
            case[what] = {new[name]: value for name, value in case[what].items()}
    return Manifest.model_validate(fields)


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier()

"""`python -m tests.examples.digests` stores the digests of every example's pack and records in digests.json."""

import hashlib
import json
from pathlib import Path

from demo.packs import packed_problems
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.functions.inside.loaded import load
from problems.formats.functions.inside.make_manifest import manifest_of
from problems.formats.functions.pack import read_function_directory
from problems.spec.digests import grading_digest
from problems.spec.function.manifest import Manifest

EXAMPLES = Path(__file__).parents[2] / "examples"
RELEASES = sorted(path.parent.name for path in EXAMPLES.glob("*/release.yaml"))
STORED = Path(__file__).with_name("digests.json")


def manifest_here(folder: Path) -> Manifest:
    """Runs the definition in this process: the examples are trusted."""
    return Manifest.model_validate(manifest_of(load(str(folder / "def.py"))))


def pack_of(release: str) -> ProblemPack:
    folder = EXAMPLES / release
    return packed_problems(folder) or read_function_directory(folder, manifest_here)


def digests(release: str) -> dict[str, str]:
    """SHA-256 of the pack's two files; of each record its record_md5 and its grading digest."""
    pack = pack_of(release)
    files = {"metadata": pack.metadata_bytes, "problems.jsonl": pack.jsonl_bytes}
    records = {
        one.problem.task_id: f"{one.md5} {grading_digest(one.problem, one.problem.withheld)}"
        for one in pack.records
    }
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()} | records


if __name__ == "__main__":
    STORED.write_text(json.dumps({name: digests(name) for name in RELEASES}, indent=1) + "\n", encoding="utf-8")

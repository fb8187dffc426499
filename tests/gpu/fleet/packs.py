"""The graded packs: a release of some of an example's problems, and the solutions pack of each entrant."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from demo.entrants import DemoEntrant, load_entrants, solution_pack
from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.compute_eval.packs import ProblemPack, write_problem_pack
from tests.gpu.fleet.options import Options

Sample = tuple[str, int]
"""Task id and sample index."""


@dataclass(frozen=True)
class EntrantPack:
    """`uncredited` are samples that pass their test and whose time must nevertheless not count."""

    facts: DemoEntrant
    path: Path
    expected: Mapping[Sample, str]
    uncredited: frozenset[Sample]


@dataclass(frozen=True)
class Packs:
    problems: Path
    entrants: Mapping[str, EntrantPack]


def make_packs(options: Options, folder: Path) -> Packs:
    """The packs as files of `folder`. Raises PackRefused where the examples are not well formed."""
    pack = read_problem_directory(_release_folder(options, folder / "release"))
    problems = folder / "problems.tar.gz"
    with problems.open("wb") as target:
        write_problem_pack(target, pack.metadata_bytes, pack.jsonl_bytes)
    entrants = {
        one.slug: _entrant_pack(one, options, pack, folder)
        for one in load_entrants(options.kind.source / "entrants")
        if one.slug in options.entrants
    }
    return Packs(problems, entrants)


def _release_folder(options: Options, folder: Path) -> Path:
    for name in options.problems:
        shutil.copytree(options.kind.source / "problems" / name, folder / "problems" / name)
    shutil.copytree(options.kind.source / "common", folder / "common")
    fields = yaml.safe_load((options.kind.source / "release.yaml").read_text(encoding="utf-8"))
    fields |= {"ks": [1], "timing_policy": options.timing}
    fields.pop("problems", None)
    (folder / "release.yaml").write_text(yaml.safe_dump(fields), encoding="utf-8")
    return folder


def _entrant_pack(entrant: DemoEntrant, options: Options, pack: ProblemPack, folder: Path) -> EntrantPack:
    task_ids = {one.problem.task_id.replace("/", "-").lower(): one.problem.task_id for one in pack.records}
    n_samples = options.samples_of(entrant.slug)
    expected = {
        (slug, index): verdict
        for (slug, index), verdict in entrant.expected.items()
        if slug in options.problems and index < n_samples
    }
    path = folder / f"{entrant.slug}-solutions.tar.gz"
    path.write_bytes(solution_pack(replace(entrant, expected=expected), str(pack.metadata.release), task_ids))
    said = yaml.safe_load((entrant.folder / "entrant.yaml").read_text(encoding="utf-8"))
    return EntrantPack(
        facts=entrant,
        path=path,
        expected={(task_ids[slug], index): verdict for (slug, index), verdict in expected.items()},
        uncredited=frozenset(
            (task_ids[slug], index)
            for slug, indices in said.get("uncredited", {}).items()
            if slug in task_ids
            for index in indices
        ),
    )

"""The committed pack of the functions for GPUs, for which torch is needed, holds what the folders hold."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from demo.packs import problems_of
from leaderboard.models import Track
from leaderboard.standings.rankable import faults_on
from problems.actions.releases import import_release
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.functions.comparison import differences
from problems.formats.functions.folder import function_folders, read_folder
from problems.formats.functions.pack import record_of
from problems.spec.function.manifest import Manifest
from problems.spec.function.problem import FunctionProblem

RELEASE = Path(__file__).parents[2] / "examples" / "functions-gpu"
FOLDERS = function_folders(RELEASE / "problems")
AGAIN = "pack it again: podium functions pack examples/functions-gpu --out the committed file, where torch is installed"


@cache
def packed() -> tuple[ProblemPack, dict[str, FunctionProblem]]:
    pack = problems_of(RELEASE)
    problems = [record.problem for record in pack.records if isinstance(record.problem, FunctionProblem)]
    return pack, {problem.task_id: problem for problem in problems}


def test_every_folder_is_packed_and_the_metadata_are_the_releases() -> None:
    pack, problems = packed()
    assert sorted(problems) == sorted(folder.name for folder in FOLDERS), AGAIN
    stated = yaml.safe_load((RELEASE / "release.yaml").read_text("utf-8"))
    fields = pack.metadata.model_dump(mode="json", exclude_unset=True)
    named = ("release", "title", "description", "primary_metric", "timing_policy", "ks")
    assert {name: fields[name] for name in named} == {name: stated[name] for name in named}, AGAIN


@pytest.mark.django_db
def test_the_release_can_be_ranked_by_speedup_and_offers_pass_at_1() -> None:
    release = import_release(packed()[0]).release
    track = Track.objects.create(slug="gpu", title="GPU", device="gpu")
    assert (release.primary_metric, release.timing_policy, release.ks) == ("speedup", "ranked", [1])
    assert faults_on(release, track) == []
    assert release.problems.filter(has_benchmark=True, has_baseline=True).count() == len(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_problem_is_packed_as_its_folder_stands(folder: Path) -> None:
    _, problems = packed()
    problem = problems[folder.name]
    assert record_of(read_folder(folder), problem.manifest) == problem, AGAIN


@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_manifest_of_torch_is_the_packed_one(folder: Path) -> None:
    from problems.formats.functions.inside.arrays import FAKE
    from problems.formats.functions.inside.loaded import load

    _, problems = packed()
    made = Manifest.model_validate({**load(str(folder / "def.py"), FAKE).facts(), "is_run": True})
    assert differences(problems[folder.name].manifest, made) == [], AGAIN

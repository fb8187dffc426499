"""Which nodes may serve which tracks: hardware for running, the toolkit for building, and nothing else for neither."""

import hashlib
from typing import Any

import pytest

from leaderboard.actions.curation.tracks import offer
from leaderboard.models import Track
from runners.fleet.models import Job, Node
from runners.fleet.queue.fit import why_not
from runners.wire.protocol import Capabilities, Stage
from tests.fleet.site import Site, WireNode, add_node, passed
from tests.packs import problem

H200 = {"uuid": "GPU-a", "name": "NVIDIA H200", "compute_capability": "9.0"}
NVCC = {"nvcc": "13.0.88"}


def node(**fields: Any) -> Capabilities:
    return Capabilities.model_validate(
        {"cpu_model": "Xeon", "gpus": [H200], "toolkits": NVCC, "profilers": ["cupti"]} | fields
    )


def track(**fields: Any) -> Track:
    gpu = {"device": "gpu", "hardware_name": "NVIDIA H200", "compute_capability": "9.0", "toolkit": "13.0"}
    return Track(**({"slug": "t"} | gpu | fields))


@pytest.mark.parametrize("stage", list(Stage))
def test_a_node_with_the_hardware_and_the_toolkit_may_serve_every_stage(stage: Stage) -> None:
    assert why_not(node(), track(), stage) == ""


def test_a_node_without_a_gpu_may_build_for_a_gpu_track_but_not_run() -> None:
    builder = node(gpus=[])
    assert why_not(builder, track(), Stage.BUILD) == ""
    assert why_not(builder, track(), Stage.RUN) == "it has no NVIDIA H200"
    assert why_not(builder, track(), Stage.BOTH) == "it has no NVIDIA H200"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"gpus": [H200 | {"name": "NVIDIA H100"}]}, "it has no NVIDIA H200"),
        ({"gpus": [H200 | {"compute_capability": "8.0"}]}, "its NVIDIA H200 has compute capability 8.0, not 9.0"),
        ({"toolkits": {"nvcc": "12.8.1"}}, "its CUDA toolkit is 12.8, not 13.0"),
        ({"toolkits": {}}, "it has no nvcc of CUDA 13.0"),
        (
            {"profilers": ["ncu"]},
            "it has no profiler cupti, which times kernels and ranges: install the CUDA toolkit with CUPTI, and g++",
        ),
    ],
)
def test_a_node_that_differs_is_told_in_what(fields: dict[str, Any], words: str) -> None:
    assert why_not(node(**fields), track(), Stage.BOTH) == words


def test_a_builder_needs_the_toolkit() -> None:
    assert why_not(node(toolkits={}), track(), Stage.BUILD) == "it has no nvcc of CUDA 13.0"
    assert why_not(node(toolkits={"nvcc": "12.8.1"}), track(), Stage.BUILD) == "its CUDA toolkit is 12.8, not 13.0"


def test_a_node_that_only_runs_needs_no_toolkit_but_may_have_no_other() -> None:
    assert why_not(node(toolkits={}), track(), Stage.RUN) == ""
    assert why_not(node(toolkits={"nvcc": "12.8.1"}), track(), Stage.RUN) == "its CUDA toolkit is 12.8, not 13.0"


def test_an_image_brings_its_toolkit_and_needs_docker() -> None:
    imaged = track(image="sha256:" + "0" * 64)
    assert why_not(node(sandbox="docker", toolkits={}), imaged, Stage.BOTH) == ""
    assert "its sandbox is bubblewrap" in why_not(node(sandbox="bubblewrap"), imaged, Stage.BUILD)


def test_a_cpu_track_is_for_its_processor_where_it_names_one() -> None:
    cpu = {"device": "cpu", "compute_capability": "", "toolkit": ""}
    assert why_not(node(), track(**cpu, hardware_name=""), Stage.BOTH) == ""
    assert why_not(node(), track(**cpu, hardware_name="xeon"), Stage.BOTH) == ""
    assert why_not(node(), track(**cpu, hardware_name="EPYC"), Stage.BOTH) == "its processor is Xeon, not EPYC"


@pytest.fixture
def site(db: Any) -> Site:
    """A release on a GPU track, whose jobs are split."""
    made = Site.make([problem(task_id, type="cuda_cpp", group="cuda-kernels") for task_id in ("a/1", "a/2")])
    made.track = Track.objects.create(
        slug="h200", title="H200", device="gpu", hardware_name="NVIDIA H200", compute_capability="9.0", toolkit="13.0",
        splits_jobs=True,
    )  # fmt: skip
    offer(made.organiser, made.release, made.track)
    return made


def enrolled(site: Site, slug: str, stage: Stage, found: Capabilities) -> WireNode:
    made = add_node(slug, site.track, slug, stage)
    Node.objects.filter(pk=made.pk).update(capabilities=found.model_dump(mode="json"))
    return WireNode(token=slug, track=site.track.slug, stage=stage)


def test_a_builder_without_a_gpu_feeds_a_gpu_node(site: Site) -> None:
    builder = enrolled(site, "builder", Stage.BUILD, node(gpus=[]))
    runner = enrolled(site, "runner", Stage.RUN, node())
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    assert runner.claim().status_code == 204
    work = builder.take()
    assert work["rules"]["stage"] == "build"
    assert work["rules"]["profiler"] == "cupti", "a GPU track's kernels and ranges are timed"
    product = b"the product"
    sha256 = hashlib.sha256(product).hexdigest()
    builder.blob(work, sha256, product)
    blob = {"sha256": sha256, "size_bytes": len(product)}
    artefact = {"key": "f" * 64, "blob": blob, "node": "builder"}
    assert builder.report(work, passed(artefact=artefact)).status_code == 200
    run = runner.take()
    assert (run["rules"]["stage"], run["artefact"]["node"]) == ("run", "builder")
    assert b"".join(runner.blob(run, sha256).streaming_content) == product


def test_a_grant_to_run_is_no_use_without_the_gpu(site: Site) -> None:
    impostor = enrolled(site, "impostor", Stage.RUN, node(gpus=[]))
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    Job.objects.update(stage=Stage.RUN)
    answer = impostor.claim()
    assert (answer.status_code, answer.json()["code"]) == (403, "not_granted")
    assert "NVIDIA H200" in answer.json()["message"]
    assert impostor.hello().json()["grants"] == []
    Node.objects.filter(slug="impostor").update(capabilities=node().model_dump(mode="json"))
    assert impostor.claim().status_code == 200

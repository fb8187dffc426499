"""An organiser makes tracks from what a node offers."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import AuditEntry, Track
from runners.fleet.models import NodeGrant
from tests import factories
from tests.admin.pages import act, signed_in, text

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.mark.parametrize(
    ("capabilities", "slug", "stages"),
    [
        ({"gpus": [{"uuid": "u", "name": "NVIDIA H200", "compute_capability": "9.0"}], "toolkits": {"nvcc": "13.0.88"}},
         "nvidia-h200-cuda13.0", ["both", "build", "run"]),
        ({"cpu_model": "Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz", "toolkits": {"g++": "12.2.0"}},
         "cpu-intel-xeon-platinum-8488c-gcc12.2", ["both"]),
    ],
)  # fmt: skip
def test_a_track_is_made_from_a_nodes_hardware_by_a_click(
    cast: Any, capabilities: dict[str, Any], slug: str, stages: list[str]
) -> None:
    node = factories.NodeFactory(capabilities=capabilities)
    assert slug in text(act(cast.organiser, "fleet_node", "tracks", node, tracks=[slug]))
    track = Track.objects.get()
    assert (track.slug, track.splits_jobs) == (slug, track.device == "gpu")
    act(cast.organiser, "fleet_node", "tracks", node, tracks=[slug])
    assert Track.objects.count() == 1
    assert sorted(NodeGrant.objects.values_list("stage", flat=True)) == stages
    assert AuditEntry.objects.filter(action="add", target=f"track {slug}", actor=cast.organiser).count() == 1


def test_asking_for_tracks_changes_nothing_before_it_is_confirmed(cast: Any) -> None:
    node = factories.NodeFactory(capabilities={"cpu_model": "Intel Xeon"})
    page = text(signed_in(cast.organiser).get(reverse("admin:fleet_node_act", args=[node.pk, "tracks"])))
    assert "The node may serve every one that is ticked." in page
    assert "cpu-intel-xeon" in page
    assert not Track.objects.exists()


def test_a_node_with_several_kinds_of_gpu_makes_a_track_of_each(cast: Any) -> None:
    kinds = [("a", "NVIDIA H200", "9.0"), ("b", "NVIDIA H200", "9.0"), ("c", "NVIDIA L4", "8.9")]
    gpus = [{"uuid": f"GPU-{uuid}", "name": name, "compute_capability": cc} for uuid, name, cc in kinds]
    peaks = {"GPU-c": {"peaks": {"gbps": 250.0, "gflops": {}, "l2_bytes": 0}}}
    known = {"gpus": gpus, "toolkits": {"nvcc": "13.0.88"}, "profilers": ["cupti"]}
    node = factories.NodeFactory(capabilities=known, peaks=peaks)
    act(cast.organiser, "fleet_node", "tracks", node, tracks=["nvidia-h200-cuda13.0", "nvidia-l4-cuda13.0"])
    assert list(Track.objects.values_list("slug", "compute_capability")) == [
        ("nvidia-h200-cuda13.0", "9.0"),
        ("nvidia-l4-cuda13.0", "8.9"),
    ]
    assert [track.peaks.get("gbps") for track in Track.objects.all()] == [None, 250.0]


def test_a_gpu_node_without_nvcc_makes_no_track(cast: Any) -> None:
    gpu = {"uuid": "u", "name": "NVIDIA H200", "compute_capability": "9.0"}
    answer = act(cast.organiser, "fleet_node", "tracks", factories.NodeFactory(capabilities={"gpus": [gpu]}))
    assert answer.status_code == 422
    assert "no nvcc" in text(answer)

"""A GPU node's page: what it has, how it drifts, what it reaches, why it gets no work, and the organiser's button."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.charts import golden
from leaderboard.models import Track
from runners.fleet.models import GoldenRun, Node
from runners.wire.protocol import Stage
from tests import factories
from tests.fleet.gpu_node import H200, UUID, golden_runs, gpu_node
from tests.markup import markup

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def page(client: Any, node: Node) -> str:
    answer = client.get(node.get_absolute_url())
    assert answer.status_code == 200
    return markup(answer)


def test_the_page_shows_gpus_peaks_and_golden_times(client: Any) -> None:
    node = gpu_node()
    golden_runs(node, 30)
    text = page(client, node)
    for words in (UUID, "580.159.04", "140.4 GiB", "700 W", "4,012", "Golden program", "cuBLAS 13.0.2", "58.0 MiB"):
        assert words in text, words
    assert "690" in text, "teraflops of fp16"
    assert text.count("+0.10 %") >= 1


def test_a_node_without_gpus_shows_none_of_it(client: Any) -> None:
    text = page(client, factories.NodeFactory())
    for words in ("GPUs</h2>", "Golden program", "Peaks", "charts.js"):
        assert words not in text


def test_the_chart_and_its_table_tell_the_same(client: Any) -> None:
    node = gpu_node()
    golden_runs(node, 30)
    spec = client.get(reverse("node_golden", args=[node.slug])).json()
    assert [trace["name"] for trace in spec["data"]] == ["GPU-0aa00000: compute", "GPU-0aa00000: copy"]
    rows = golden.table([golden.GoldenPoint("g", "copy", NOON, 0.5, 0.49, 0.52, None)]).rows
    assert rows == [["2026-11-21 12:00:00", "g", "copy", "0.5000 ms", "0.4900 ms", "0.5200 ms", "–"]]
    assert sum(len(trace["x"]) for trace in spec["data"]) == GoldenRun.objects.exclude(drift=None).count() == 50
    assert page(client, node).count('<th scope="row">2026-') == 60


def test_plotly_accepts_the_chart_with_and_without_runs() -> None:
    points = [golden.GoldenPoint("g", "copy", NOON + timedelta(hours=n), 0.5, 0.4, 0.6, 0.01 * n) for n in range(3)]
    assert golden.figure(points).data[0].y == (0.0, 1.0, 2.0)
    assert len(golden.figure([]).data) == 0


def test_a_page_costs_the_same_however_long_the_history(client: Any, django_assert_num_queries: Any) -> None:
    node = gpu_node()
    golden_runs(node, 3)
    with django_assert_num_queries(7):
        page(client, node)
    golden_runs(node, 100, first=3)
    with django_assert_num_queries(7):
        page(client, node)


def test_the_list_shows_each_nodes_last_drift(client: Any) -> None:
    gpu_node(last_drift=0.0312)
    gpu_node("steady", last_drift=-0.001)
    text = markup(client.get(reverse("nodes")))
    assert '<span class="badge bad">+3.12 %</span>' in text
    assert "-0.10 %" in text


def test_a_grant_that_the_node_cannot_serve_says_why(client: Any) -> None:
    node = gpu_node()
    other = Track.objects.create(slug="l4", title="L4", device="gpu", hardware_name="NVIDIA L4")
    factories.grant(node, other, Stage.RUN)
    assert "it has no NVIDIA L4" in page(client, node)


def test_why_a_node_is_drained_is_public(client: Any) -> None:
    assert "Disabled: drained: Xid 79" in page(client, gpu_node(disabled_reason="drained: Xid 79"))


def test_only_organisers_see_the_button_that_makes_tracks(client: Any, cast: factories.Cast) -> None:
    node = gpu_node()
    assert "Make a track" not in page(client, node)
    client.force_login(cast.stranger)
    assert "Make a track" not in page(client, node)
    client.force_login(cast.organiser)
    url = reverse("admin:fleet_node_act", args=[node.pk, "tracks"])
    assert f'href="{url}"' in page(client, node)
    assert client.get(url).status_code == 200


def test_nothing_that_a_node_says_becomes_markup(client: Any) -> None:
    evil = "<script>alert(1)</script>"
    gpu = H200 | {"name": evil, "driver": evil}
    node = gpu_node(capabilities={"gpus": [gpu], "toolkits": {"nvcc": evil}})
    assert evil not in page(client, node)


def test_a_node_whose_memory_is_only_watched_says_why(client: Any) -> None:
    said = {"memory_limit_by": "watcher", "memory_limit_why": "/sys/fs/cgroup holds processes of others (7 <sshd>)"}
    why = "Memory is not bounded by control groups: /sys/fs/cgroup holds processes of others (7 &lt;sshd&gt;)."
    assert why in page(client, gpu_node(capabilities=said))
    assert "not bounded" not in page(client, gpu_node("gpu-2"))

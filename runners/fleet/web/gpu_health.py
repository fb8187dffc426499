"""A node's GPUs as its page shows them: golden runs, drift and measured peaks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.dateparse import parse_datetime

from leaderboard.charts import golden
from leaderboard.charts.chart import Table
from runners.fleet.models import Node, NodeGrant
from runners.fleet.queue.fit import why_not
from runners.wire.protocol import Capabilities, Stage

SHOWN_RUNS = 200
DATA_TYPES = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8")
SHORT_UUID = 12
DRIFT_LIMIT = 0.02


def golden_points(node: Node) -> list[golden.GoldenPoint]:
    """The newest runs. Makes one query."""
    return [
        golden.GoldenPoint(
            run.gpu_uuid[:SHORT_UUID], run.name, run.ran_at, run.median_ms, run.low_ms, run.high_ms, run.drift
        )
        for run in node.golden_runs.order_by("-ran_at", "-pk")[:SHOWN_RUNS]
    ]


@dataclass(frozen=True)
class PeaksRow:
    """The peaks of one GPU. `teraflops` has one value per data type, in the order of the table's columns."""

    uuid: str
    name: str
    gbps: float | None
    teraflops: list[float | None]
    l2_bytes: int
    measured_at: Any
    how: dict[str, str]


def peaks_rows(node: Node) -> list[PeaksRow]:
    """The peaks of the node's present GPUs."""
    named = {gpu.get("uuid"): gpu.get("name", "") for gpu in node.capabilities.get("gpus", [])}
    return [_peaks_row(uuid, named[uuid], said) for uuid, said in node.peaks.items() if uuid in named]


def _peaks_row(uuid: str, name: str, said: Mapping[str, Any]) -> PeaksRow:
    peaks = said.get("peaks", {})
    rates = [peaks.get("gflops", {}).get(kind) for kind in DATA_TYPES]
    return PeaksRow(
        uuid=uuid,
        name=name,
        gbps=peaks.get("gbps"),
        teraflops=[None if rate is None else rate / 1000 for rate in rates],
        l2_bytes=peaks.get("l2_bytes", 0),
        measured_at=parse_datetime(said.get("measured_at", "")),
        how=said.get("how", {}),
    )


def serves(node: Node, grants: Sequence[NodeGrant]) -> list[tuple[NodeGrant, str]]:
    """Each grant with the reason why the node gets no work from it; empty if it gets work."""
    if not node.capabilities:
        return [(one, "") for one in grants]
    found = Capabilities.model_validate(node.capabilities)
    return [(one, why_not(found, one.track, Stage(one.stage))) for one in grants]


@dataclass(frozen=True)
class Drift:
    """The drift of a node's last golden run, as text for its pages."""

    share: float | None

    def __str__(self) -> str:
        return golden.percent(self.share)

    @property
    def is_large(self) -> bool:
        return self.share is not None and abs(self.share) > DRIFT_LIMIT


@dataclass(frozen=True)
class GoldenHistory:
    """The golden program's figure: its caption, its numbers as a table, and the last drift."""

    caption: str
    table: Table
    drift: Drift


def golden_history(node: Node) -> GoldenHistory | None:
    points = golden_points(node)
    return GoldenHistory(golden.CAPTION, golden.table(points), Drift(node.last_drift)) if points else None

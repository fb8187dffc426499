"""A node with an H200, as its agent would describe it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from runners.fleet.models import GoldenRun, Node
from tests import factories

UUID = "GPU-0aa00000-0000-0000-0000-00000000000a"
H200 = {
    "uuid": UUID,
    "name": "NVIDIA H200",
    "compute_capability": "9.0",
    "memory_bytes": 150_754_820_096,
    "driver": "580.159.04",
    "power_limit_w": 700.0,
    "ecc": True,
}
PEAKS = {
    "gbps": 4012.3,
    "gflops": {"fp64": 60e3, "fp32": 61e3, "tf32": 380e3, "fp16": 690e3, "bf16": 700e3, "fp8": 1.3e6, "int8": 1.25e6},
    "l2_bytes": 58 << 20,
}
HOW = {"fp32": "fused multiply-adds", "fp16": "cuBLAS 13.0.2 matrix product, n = 8192"}
MEDIANS_MS = {"compute": 4.87, "copy": 0.531}
FIRST = datetime(2026, 11, 19, tzinfo=UTC)


def gpu_node(slug: str = "gpu-1", **fields: Any) -> Node:
    said = {"peaks": PEAKS, "how": HOW, "measured_at": FIRST.isoformat()}
    known = {
        "cpu_model": "Xeon",
        "cpu_cores": 16,
        "gpus": [H200],
        "toolkits": {"nvcc": "13.0.88"},
        "profilers": ["cupti"],
    }
    made: Node = factories.NodeFactory(slug=slug, **({"capabilities": known, "peaks": {UUID: said}} | fields))
    return made


def golden_runs(node: Node, hours: int, first: int = 0, off: float = 0.0) -> None:
    """One run an hour, of the first five of which nothing can be said yet; the last two copies are slower by `off`."""
    GoldenRun.objects.bulk_create(
        _run(node, name, hour, off if name == "copy" and hour >= first + hours - 2 else 0.0)
        for hour in range(first, first + hours)
        for name in MEDIANS_MS
    )


def _run(node: Node, name: str, hour: int, off: float) -> GoldenRun:
    drift = off + 0.001 * ((hour * 7 + len(name)) % 5 - 2)
    median_ms = MEDIANS_MS[name] * (1 + drift)
    return GoldenRun(
        node=node, gpu_uuid=UUID, name=name, ran_at=FIRST + timedelta(hours=hour), drift=None if hour < 5 else drift,
        median_ms=median_ms, low_ms=median_ms * 0.999, high_ms=median_ms * 1.004,
    )  # fmt: skip

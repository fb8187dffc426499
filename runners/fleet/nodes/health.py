"""Health: stores a node's reports on its GPUs. A node may disable itself; only an organiser enables it again."""

from collections.abc import Sequence

from django.db import transaction

from leaderboard.actions.curation.tracks import note_peaks
from leaderboard.models import Track
from leaderboard.models.audit import record
from runners.fleet.models import GoldenRun, Node, Service
from runners.fleet.queue.fit import why_not
from runners.wire.health import GoldenReport, NodeHealth, NodeHealthReply, PeaksReport
from runners.wire.protocol import Capabilities, Stage

KEPT_RUNS = 500
"""Number of golden runs kept per node."""
KEPT_GPUS = 64
DRAINED = "drained: "


@transaction.atomic
def take(node: Node, said: NodeHealth) -> NodeHealthReply:
    """Store what is new in the report. A repetition changes nothing."""
    held = Node.objects.select_for_update().get(pk=node.pk)
    if said.golden:
        _keep_golden(held, said.golden)
    if said.peaks:
        _keep_peaks(held, said.peaks)
    if said.drain:
        _drain(held, said.drain)
    return NodeHealthReply(disabled_reason=held.disabled_reason)


def _keep_golden(node: Node, said: Sequence[GoldenReport]) -> None:
    rows = [GoldenRun(node=node, **one.model_dump()) for one in said]
    GoldenRun.objects.bulk_create(rows, ignore_conflicts=True)
    surplus = node.golden_runs.order_by("-pk").values_list("pk", flat=True)[KEPT_RUNS:].first()
    if surplus is not None:
        node.golden_runs.filter(pk__lte=surplus).delete()
    latest = {(one.gpu_uuid, one.name): one.drift for one in said}
    node.last_drift = max((one for one in latest.values() if one is not None), key=abs, default=node.last_drift)
    node.save(update_fields=["last_drift"])


def _keep_peaks(node: Node, said: Sequence[PeaksReport]) -> None:
    """Store the latest peaks on the node, and on those of its tracks that have none."""
    merged = {**node.peaks, **{one.gpu_uuid: one.model_dump(mode="json", exclude={"gpu_uuid"}) for one in said}}
    node.peaks = dict(list(merged.items())[-KEPT_GPUS:])
    node.save(update_fields=["peaks"])
    fill_tracks(node)


def fill_tracks(node: Node) -> list[Track]:
    """Give the node's peaks to its GPU tracks without peaks. Returns those tracks."""
    found = Capabilities.model_validate(node.capabilities)
    granted = node.grants.filter(stage__in=[Stage.RUN, Stage.BOTH], track__device="gpu")
    filled = {}
    for track in {one.track_id: one.track for one in granted.select_related("track")}.values():
        for gpu in found.gpus:
            alone = found.model_copy(update={"gpus": [gpu]})
            if gpu.uuid in node.peaks and not why_not(alone, track, Stage.RUN):
                if note_peaks(None, track, node.peaks[gpu.uuid]["peaks"]):
                    filled[track.pk] = track
                break
    return list(filled.values())


def _drain(node: Node, reason: str) -> None:
    """Disable the node. An organiser's own reason is never replaced."""
    words, now = f"{DRAINED}{reason}"[:500], node.disabled_reason
    if now == words or (now and not now.startswith(DRAINED)):
        return
    node.disabled_reason, node.service = words, Service.DISABLED
    node.save(update_fields=["disabled_reason", "service"])
    record(None, "drain", node, reason)

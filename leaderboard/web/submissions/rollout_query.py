"""Which samples of a submission the rollout pages show: by track, verdict, cluster of failures, and notes."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest

from leaderboard.errors import refuse_unknown
from leaderboard.models import Evaluation, SampleNote, Submission, Track
from leaderboard.results.failures import Failure, read_failures
from leaderboard.visibility import SubmissionView
from leaderboard.web.results.verdicts import VERDICTS
from leaderboard.web.shared.lookups import chosen_track


@dataclass(frozen=True)
class RolloutQuery:
    """The filters of an address. `clustered` is one of the failures of the cluster asked for, None without any."""

    tracks: list[Track]
    track: Track | None
    verdict: str
    noted: bool
    cluster: str
    clustered: Failure | None
    evaluations: "QuerySet[Evaluation]"
    """The evaluations on the track that the filters leave."""

    @property
    def is_filtered(self) -> bool:
        return bool(self.verdict or self.noted or self.cluster)


def asked_for(request: HttpRequest, submission: Submission, view: SubmissionView) -> RolloutQuery:
    """Read the filters. A cluster filters nothing for a user who may not read reasons. Raises BadQuery."""
    tracks = list(submission.tracks.all())
    track = chosen_track(request, tracks)
    rows = Evaluation.objects.live().filter(submission=submission, track=track)
    verdict = request.GET.get("verdict", "")
    refuse_unknown("verdict", verdict, VERDICTS)
    noted = view.notes and request.GET.get("notes") == "1"
    cluster = request.GET.get("cluster", "")[:20] if view.reasons else ""
    members = [one for one in read_failures(rows, view).rows if one.cluster == cluster] if cluster else []
    if verdict:
        rows = view.told(rows).filter(told=verdict)
    if noted:
        rows = rows.filter(Exists(SampleNote.objects.filter(sample=OuterRef("sample"))))
    if cluster:
        rows = rows.filter(pk__in=[one.evaluation_id for one in members])
    return RolloutQuery(tracks, track, verdict, noted, cluster, members[0] if members else None, rows)

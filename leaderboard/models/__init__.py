"""The site's own tables, one file per aggregate."""

from leaderboard.models.audit import AuditEntry
from leaderboard.models.clarification import Clarification
from leaderboard.models.code_pair import CodePair, Fingerprint
from leaderboard.models.decision import Appeal, Decision, RevisionAnswer
from leaderboard.models.entrant import Entrant
from leaderboard.models.evaluation import Evaluation, EvaluationState, Flag, Measurement, Result, ResultCase
from leaderboard.models.first_rank import FirstRank
from leaderboard.models.invitation import Invitation
from leaderboard.models.name_skeleton import NameKind, NameSkeleton
from leaderboard.models.notification import Delivery, DeliveryState, NotificationSettings, Webhook
from leaderboard.models.ownership import EntrantRequest, Transfer
from leaderboard.models.packing import Packing, PackingState
from leaderboard.models.pmpp import PmppRun, PmppRunState, PmppToken
from leaderboard.models.quota import DailyUse
from leaderboard.models.reference_run import ReferenceRun
from leaderboard.models.rejudge import Rejudge, RejudgeItem, RejudgeState, RoundPlace
from leaderboard.models.sample_note import SampleNote
from leaderboard.models.snapshot import BoardSnapshot
from leaderboard.models.standing import ProblemScore, RankedArrays, Standing
from leaderboard.models.submission import Chosen, Counted, Sample, Submission, SubmissionState
from leaderboard.models.team import Membership, Team, TeamInvitation
from leaderboard.models.token import ApiToken
from leaderboard.models.track import ProblemTrack, ReleaseTrack, Track
from leaderboard.models.trial import Trial, TrialState
from leaderboard.models.typed_draft import TypedDraft
from leaderboard.models.voiding import VoidedResult, Voiding

__all__ = [
    "ApiToken",
    "Appeal",
    "AuditEntry",
    "BoardSnapshot",
    "Chosen",
    "Clarification",
    "CodePair",
    "Counted",
    "DailyUse",
    "Decision",
    "Delivery",
    "DeliveryState",
    "Entrant",
    "EntrantRequest",
    "Evaluation",
    "EvaluationState",
    "Fingerprint",
    "FirstRank",
    "Flag",
    "Invitation",
    "Measurement",
    "Membership",
    "NameKind",
    "NameSkeleton",
    "NotificationSettings",
    "Packing",
    "PackingState",
    "PmppRun",
    "PmppRunState",
    "PmppToken",
    "ProblemScore",
    "ProblemTrack",
    "RankedArrays",
    "ReferenceRun",
    "Rejudge",
    "RejudgeItem",
    "RejudgeState",
    "ReleaseTrack",
    "Result",
    "ResultCase",
    "RevisionAnswer",
    "RoundPlace",
    "Sample",
    "SampleNote",
    "Standing",
    "Submission",
    "SubmissionState",
    "Team",
    "TeamInvitation",
    "Track",
    "Transfer",
    "Trial",
    "TrialState",
    "TypedDraft",
    "VoidedResult",
    "Voiding",
    "Webhook",
]

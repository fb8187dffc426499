"""The site's own tables, one file per aggregate."""

from leaderboard.models.accounts.invitation import Invitation
from leaderboard.models.accounts.notification import Delivery, DeliveryState, NotificationSettings, Webhook
from leaderboard.models.accounts.quota import DailyUse
from leaderboard.models.accounts.token import ApiToken
from leaderboard.models.audit import AuditEntry
from leaderboard.models.boards.first_rank import FirstRank
from leaderboard.models.boards.snapshot import BoardSnapshot
from leaderboard.models.boards.standing import ProblemScore, RankedArrays, Standing
from leaderboard.models.boards.track import ProblemTrack, ReleaseTrack, Track
from leaderboard.models.curation.clarification import Clarification
from leaderboard.models.curation.code_pair import CodePair, Fingerprint
from leaderboard.models.curation.decision import Appeal, Decision, RevisionAnswer
from leaderboard.models.curation.packing import Packing, PackingState
from leaderboard.models.curation.problem_audit import AuditMutant, AuditReason, ProblemAudit
from leaderboard.models.curation.reference_run import ReferenceRun
from leaderboard.models.curation.rejudge import Rejudge, RejudgeItem, RejudgeState, RoundPlace
from leaderboard.models.curation.voiding import VoidedResult, Voiding
from leaderboard.models.entrants.entrant import Entrant
from leaderboard.models.entrants.name_skeleton import NameKind, NameSkeleton
from leaderboard.models.entrants.ownership import EntrantRequest, Transfer
from leaderboard.models.entrants.team import Membership, Team, TeamInvitation
from leaderboard.models.submissions.evaluation import Evaluation, EvaluationState, Flag, Measurement, Result, ResultCase
from leaderboard.models.submissions.pmpp import PmppRun, PmppRunState, PmppToken
from leaderboard.models.submissions.sample_note import SampleNote
from leaderboard.models.submissions.submission import Chosen, Counted, Sample, Submission, SubmissionState
from leaderboard.models.submissions.trial import Trial, TrialState
from leaderboard.models.submissions.typed_draft import TypedDraft

__all__ = [
    "ApiToken",
    "Appeal",
    "AuditEntry",
    "AuditMutant",
    "AuditReason",
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
    "ProblemAudit",
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

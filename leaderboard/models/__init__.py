"""The site's own tables, one file per aggregate."""

from leaderboard.models.audit import AuditEntry
from leaderboard.models.decision import Decision
from leaderboard.models.entrant import Entrant
from leaderboard.models.evaluation import Evaluation, EvaluationState, Flag, Measurement, Result, ResultCase
from leaderboard.models.invitation import Invitation
from leaderboard.models.pmpp import PmppRun, PmppRunState, PmppToken
from leaderboard.models.quota import DailyUse
from leaderboard.models.sample_note import SampleNote
from leaderboard.models.standing import ProblemScore, Standing
from leaderboard.models.submission import Counted, Sample, Submission, SubmissionState
from leaderboard.models.token import ApiToken
from leaderboard.models.track import ProblemTrack, ReleaseTrack, Track
from leaderboard.models.trial import Trial, TrialState

__all__ = [
    "ApiToken",
    "AuditEntry",
    "Counted",
    "DailyUse",
    "Decision",
    "Entrant",
    "Evaluation",
    "EvaluationState",
    "Flag",
    "Invitation",
    "Measurement",
    "PmppRun",
    "PmppRunState",
    "PmppToken",
    "ProblemScore",
    "ProblemTrack",
    "ReleaseTrack",
    "Result",
    "ResultCase",
    "Sample",
    "SampleNote",
    "Standing",
    "Submission",
    "SubmissionState",
    "Track",
    "Trial",
    "TrialState",
]

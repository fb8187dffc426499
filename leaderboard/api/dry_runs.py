"""Dry runs: what the site would say to a submission, by the reader that takes it. Nothing is stored."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import parsers, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import ScopedRateThrottle

from leaderboard.accounts.quotas import Today, Use
from leaderboard.actions.intake.dry_run import Contents, DryRun, SubmissionFault, dry_run
from leaderboard.actions.intake.dry_run_words import effects, summary
from leaderboard.api import intake
from leaderboard.api.site.base import ApiView
from leaderboard.api.site.json_parser import BoundedJSONParser

SHOWN = 200
"""The most faults, and the most invalid samples, that are listed."""


class FaultSerializer(serializers.Serializer[SubmissionFault]):
    code = serializers.CharField()
    message = serializers.CharField()
    remedy = serializers.CharField(help_text="What to do; empty where the message says it.")
    line = serializers.IntegerField(allow_null=True, help_text="Of the pack, counted from one.")
    task_id = serializers.CharField()


class UseSerializer(serializers.Serializer[Use]):
    evaluations = serializers.IntegerField(source="n_evaluations")
    bytes = serializers.IntegerField(source="n_bytes")


class QuotaSerializer(serializers.Serializer[Today]):
    """The account's day (UTC)."""

    used = UseSerializer()
    quota = UseSerializer()
    left = UseSerializer()


class ProblemCountSerializer(serializers.Serializer[Any]):
    task_id = serializers.CharField()
    samples = serializers.IntegerField()


class ContentsSerializer(serializers.Serializer[Any]):
    digest = serializers.CharField()
    coverage = serializers.CharField(help_text="full, partial, or empty: neither is said yet.")
    problems = serializers.IntegerField(help_text="Of the release.")
    samples = serializers.DictField(child=serializers.IntegerField(), help_text="Their number by task_id.")
    absent = serializers.ListField(child=serializers.CharField(), help_text="task_ids without a sample.")
    n_absent_samples = serializers.IntegerField(help_text="What it lacks as a full submission.")
    n_invalid = serializers.IntegerField()
    invalid = FaultSerializer(many=True, help_text=f"Samples that would not be graded; at most {SHOWN}.")
    exists = serializers.IntegerField(allow_null=True, help_text="The same submission, if the site has it.")


class DryRunSerializer(serializers.Serializer[Any]):
    """The answer to a dry run of a submission."""

    accepted = serializers.BooleanField(help_text="Whether the site would take it as it is.")
    entrant = serializers.CharField()
    release = serializers.CharField()
    tracks = serializers.ListField(child=serializers.CharField())
    summary = serializers.CharField(help_text="Empty if the file cannot be read.")
    effects = serializers.ListField(child=serializers.CharField(), help_text="What becomes of it, in sentences.")
    n_faults = serializers.IntegerField()
    faults = FaultSerializer(many=True, help_text=f"Why it would be refused; at most {SHOWN}.")
    contents = ContentsSerializer(allow_null=True)
    notices = serializers.ListField(child=serializers.CharField())
    uses = UseSerializer(help_text="What it takes of the account's quota.")
    quota_after = QuotaSerializer(allow_null=True, help_text="null: the account has no quota.")


def _rendered(user: Any, run: DryRun) -> dict[str, Any]:
    found = run.contents
    answer = {
        "accepted": run.is_accepted,
        "entrant": run.metadata.entrant.slug,
        "release": run.metadata.release.slug,
        "tracks": [track.slug for track in run.metadata.tracks],
        "summary": summary(run),
        "effects": effects(user, run),
        "n_faults": len(run.faults),
        "faults": run.faults[:SHOWN],
        "contents": _contents(found) if found else None,
        "notices": [notice.message for notice in found.incoming.notices][:SHOWN] if found else [],
        "uses": run.use,
        "quota_after": run.quota_after,
    }
    return dict(DryRunSerializer(answer).data)


def _contents(found: Contents) -> dict[str, Any]:
    return {
        "digest": found.incoming.digest,
        "coverage": found.coverage,
        "problems": found.n_problems,
        "samples": found.incoming.sample_counts,
        "absent": found.absent_tasks,
        "n_absent_samples": sum(found.absent.values()),
        "n_invalid": len(found.invalid),
        "invalid": found.invalid[:SHOWN],
        "exists": found.twin.pk if found.twin else None,
    }


class SubmissionCheck(ApiView):
    parser_classes = [parsers.MultiPartParser, BoundedJSONParser]
    throttle_classes = [ScopedRateThrottle]
    throttle_scope = "submit"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse what is too large before a byte of it is parsed."""
        intake.check_size(request)
        super().initial(request, *args, **kwargs)

    @extend_schema(
        tags=["submissions"],
        request={"multipart/form-data": intake.UploadSerializer, "application/json": intake.TypedSerializer},
        responses={200: DryRunSerializer},
    )
    def post(self, request: Request) -> Response:
        """Check a submission without sending it: the body is that of `POST submissions`, and nothing is stored."""
        order = intake.order(request)
        return Response(_rendered(request.user, dry_run(request.user, order.metadata, order.read, order.coverage)))

"""A release's page for its organiser: the checklist, and what verifying has shown so far, which fills in by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.curation.checklist import Item, checklist
from leaderboard.curation.editors import problem_editor
from leaderboard.curation.verification import Checked, VerificationReport, checked, traffic_lines, verification_report
from leaderboard.models import Evaluation, Track
from problems.models import Problem, Release

SHOWN_FAILURES = 100


@dataclass(frozen=True)
class TrackReport:
    """Results of verifying on one track, if it was begun there."""

    track: Track
    report: VerificationReport
    n_done: int
    n_all: int

    @property
    def failures(self) -> list["FailedCheck"]:
        return [FailedCheck.of(problem, row) for problem, row in self.report.failures[:SHOWN_FAILURES]]

    @property
    def verdict(self) -> str:
        if self.report.pending:
            return f"{self.report.pending} evaluations to come."
        return "Verified: all is as it should be." if self.report.passed else "NOT verified: see the lines above."


@dataclass(frozen=True)
class FailedCheck:
    """A check that did not end as expected: where its logs are, and where its problem is edited."""

    words: str
    evaluation: int
    evaluation_url: str
    editor: str
    editor_url: str

    @classmethod
    def of(cls, problem: Problem, row: Evaluation) -> "FailedCheck":
        words = f"{problem.task_id}, {row.submission.entrant.name} {row.sample.index + 1}"
        editor = "edit the problem" if problem.release.is_draft else "the problem"
        return cls(words, row.pk, reverse("evaluation", args=[row.pk]), editor, problem_editor(problem))


@dataclass(frozen=True)
class ShownLine:
    """A line of the checklist with the address of the button that mends it, or ""."""

    line: Item
    act_url: str


def page_context(release: Release, offered: Sequence[str]) -> dict[str, Any]:
    """`offered` are the names of the acts that the page offers now."""
    facts = checked(release)
    lines = checklist(release, facts)
    shown = [ShownLine(one, _act_url(release, one.act) if one.act in offered else "") for one in lines]
    return {"checklist": shown, **verification_context(release, facts)}


def _act_url(release: Release, act: str) -> str:
    return reverse("admin:problems_release_act", args=[release.pk, act])


def verification_context(release: Release, facts: Checked) -> dict[str, Any]:
    reports = [one for track in _tracks(release) if (one := _report(release, track, facts)).n_all]
    return {
        "reports": reports,
        "traffic": traffic_lines(release) if reports else [],
        "is_verifying": any(one.report.pending for one in reports),
        "verification_url": reverse("admin:problems_release_verification", args=[release.pk]),
    }


def _tracks(release: Release) -> Sequence[Track]:
    return list(Track.objects.filter(on_releases__release=release).order_by("slug"))


def _report(release: Release, track: Track, facts: Checked) -> TrackReport:
    report = verification_report(release, track, facts)
    return TrackReport(track, report, report.n_all - report.pending, report.n_all)


def verification(request: HttpRequest, release: Release) -> HttpResponse:
    """The part of the page that a running verification asks for every two seconds."""
    return render(request, "admin/podium/curation/verification.html", verification_context(release, checked(release)))

"""The rollouts of a submission: its problems with verdicts, one problem's samples side by side, texts, and notes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from leaderboard.actions.submissions.note_sample import note_sample, take_note_back
from leaderboard.errors import Refused
from leaderboard.models import Sample, Submission
from leaderboard.standings.absent import absent_samples
from leaderboard.submissions import rollouts as reading
from leaderboard.visibility import SubmissionView
from leaderboard.web.results.verdicts import Chip, look_of, to_choose_from
from leaderboard.web.shared.lookups import submission_or_404
from leaderboard.web.shared.paging import other_parameters, page_of
from leaderboard.web.submissions.rollout_query import RolloutQuery, asked_for
from leaderboard.web.submissions.rollout_samples import SHOWN_CHARACTERS, shown_samples
from leaderboard.web.submissions.submission import problems_of
from problems.models import Problem
from problems.spec.kinds import SITE_KINDS

PAGE_SAMPLES = 20


@dataclass(frozen=True)
class RolloutProblem:
    """A problem and its numbers of samples by verdict or state."""

    problem: Problem
    counts: Sequence[tuple[Chip, int]]


@require_safe
def rollouts(request: HttpRequest, pk: int) -> HttpResponse:
    """The problems that the filters leave; with `problem=` in the address, the samples of that one."""
    found, view = submission_or_404(request, pk)
    query = asked_for(request, found, view)
    everything = list(problems_of(found))
    counted = _counts(query, view)
    matching = [one for one in everything if one.pk in counted] if query.is_filtered else everything
    context = {
        "submission": found, "view": view, "query": query, "problems": everything, "verdicts": to_choose_from(view),
        "parameters": other_parameters(request),
    }  # fmt: skip
    if slug := request.GET.get("problem"):
        problem = next((one for one in everything if one.slug == slug), None)
        if problem is None:
            raise Http404(f"Submission #{pk} has no problem {slug!r}.")
        context |= _samples(request, found, view, query, problem, matching)
        return render(request, "podium/submissions/rollout.html", context)
    page = page_of(request, matching)
    rows = [RolloutProblem(one, counted.get(one.pk, [])) for one in page.object_list]
    return render(request, "podium/submissions/rollouts.html", context | {"page": page, "rows": rows})


def _counts(query: RolloutQuery, view: SubmissionView) -> dict[int, list[tuple[Chip, int]]]:
    """Counts by problem id; the most frequent verdict first."""
    rows = view.told(query.evaluations).order_by().values_list("problem_id", "state", "told")
    found: dict[int, dict[Chip, int]] = {}
    for problem_id, state, verdict, n in rows.annotate(n=Count("pk")):
        counts = found.setdefault(problem_id, {})
        look = look_of(state, verdict)
        counts[look] = counts.get(look, 0) + n
    return {pk: sorted(counts.items(), key=lambda pair: (-pair[1], pair[0].label)) for pk, counts in found.items()}


def _samples(
    request: HttpRequest, found: Submission, view: SubmissionView, query: RolloutQuery, problem: Problem,
    matching: Sequence[Problem],
) -> dict[str, Any]:  # fmt: skip
    problem.release = found.release
    rows = (
        query.evaluations.filter(problem=problem)
        .select_related("sample", "current_result", "problem")
        .prefetch_related("current_result__cases")
    )
    page = Paginator(rows.order_by("sample__index", "pk"), PAGE_SAMPLES).get_page(request.GET.get("page"))
    absent = absent_samples(found, [query.track], [problem.pk]) if query.track else ()
    samples = shown_samples(request.user, view, problem, list(map(view.hide, page.object_list)))
    before = [one for one in matching if one.position < problem.position]
    after = [one for one in matching if one.position > problem.position]
    return {
        "problem": problem, "is_question": problem.kind in SITE_KINDS, "shown": view.shows(problem),
        "shown_characters": SHOWN_CHARACTERS,
        "page": page, "samples": samples, "n_absent": sum(one.n for one in absent),
        "before": before[-1] if before else None, "after": after[0] if after else None,
        "elsewhere": _without(request, "problem", "page"), "address": request.GET.urlencode(),
    }  # fmt: skip


def _without(request: HttpRequest, *names: str) -> str:
    """The query string without these, ready for another to follow."""
    kept = request.GET.copy()
    for name in names:
        kept.pop(name, None)
    return f"{kept.urlencode()}&" if kept else ""


@require_safe
def rollout_text(request: HttpRequest, pk: int, sample: int, part: str) -> HttpResponse:
    """One part of a sample as plain text: its whole record, the prompt, the reply or a file."""
    found, view = submission_or_404(request, pk)
    row = _sample_or_404(found, sample)
    if not view.shows(row.problem) or (part in reading.OF_TRANSCRIPTS and not view.transcripts):
        raise Http404(f"There is no text of submission #{pk} that you may read.")
    try:
        is_record = part == reading.RECORD
        text = reading.told_record(row, view) if is_record else reading.read_sample(row).texts().get(part)
    except reading.SampleUnreadable as why:
        raise Http404(str(why)) from why
    if text is None:
        raise Http404(f"This sample has no part {part!r}.")
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _sample_or_404(found: Submission, pk: int) -> Sample:
    rows = Sample.objects.filter(submission=found).select_related("problem").defer("problem__record")
    return get_object_or_404(rows, pk=pk)


@login_required
@require_POST
def note_rollout(request: HttpRequest, pk: int, sample: int) -> HttpResponse:
    """Keep or take back an organiser's note; then back to the sample, with the filters of the address."""
    found, view = submission_or_404(request, pk)
    if not view.notes:
        raise Http404("Notes are organisers' to write.")
    row = _sample_or_404(found, sample)
    try:
        if "take_back" in request.POST:
            take_note_back(request.user, row)
            messages.success(request, "The note was taken back.")
        else:
            note_sample(request.user, row, request.POST.get("thumb", ""), request.POST.get("text", ""))
            messages.success(request, "The note was kept.")
    except Refused as refusal:
        messages.error(request, refusal.message)
    address = request.GET.copy()
    address["problem"] = row.problem.slug
    return redirect(f"{reverse('rollouts', args=[pk])}?{address.urlencode()}#sample-{row.index + 1}")

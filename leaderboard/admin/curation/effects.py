"""The effect of each act of the administration, line by line: shown above its form, before anything is done."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from django.http import HttpRequest

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.adopt_rules import adopt_rules
from leaderboard.actions.curation.decide import restore_problem, retract, void_problem
from leaderboard.actions.curation.effects import on_standings, places_of
from leaderboard.actions.problems.delete_draft import contents, why_kept
from leaderboard.actions.rejudging.apply_rejudge import apply, foreseen
from leaderboard.actions.submissions.rerun import NOT_HERE
from leaderboard.curation import rejudging, revisions, rounds
from leaderboard.curation.audits import audits_of, references_to_audit
from leaderboard.curation.verification import missing_lines, verified_on
from leaderboard.models import (
    Clarification,
    Counted,
    Decision,
    Evaluation,
    EvaluationState,
    Rejudge,
    ReleaseTrack,
    Submission,
    Track,
)
from leaderboard.models.curation.rejudge import RejudgeOutcome
from leaderboard.models.submissions.evaluation import OPEN_STATES, ResultOrigin
from leaderboard.rows.reuse import holding
from problems.models import Problem, QuestionPolicy, Release
from problems.sealing import policy_of
from problems.spec.kinds import NODE_KINDS
from problems.spec.numbered import numbered
from runners.wire.protocol import JUDGE_VERSIONS
from scoring.rules import NEWEST, changes_since

_FORESEEN = "Foreseen."
MOST_FORESEEN = 500
"""Evaluations of a rejudge that a page applies in a transaction that it rolls back."""

MOST_RETRACTED = 100
"""Submissions that a page retracts so."""

Lines = Sequence[str]


def nothing(_request: HttpRequest, _row: Any) -> Lines:
    """The effect of an act that only reads."""
    return ["Nothing on the site changes."]


def of_front_page(_request: HttpRequest, _release: Release) -> Lines:
    """The board that leads the front page now, and the fate of the choice."""
    now = ReleaseTrack.objects.filter(on_front_page=True).select_related("release", "track").first()
    before = f"in place of {now.release.slug} on {now.track.slug}" if now else "which no organiser has chosen so far"
    return [f"The front page leads with the board that you choose, {before}."]


def of_leaving_front_page(_request: HttpRequest, _release: Release) -> Lines:
    """The rule by which the site chooses."""
    return ["The front page leads with the GPU board of the most entrants that a visitor may see results of."]


def of_publishing(_request: HttpRequest, release: Release) -> Lines:
    """The effect of publishing: new readers, values that can no longer change, and values taken from the last
    revision."""
    n_problems, tracks = release.problems.count(), release.on_tracks.values_list("track__slug", flat=True)
    places = ", ".join(tracks.order_by("track__slug")) or "no track"
    return [
        f"{numbered(n_problems, 'problem')}, the metric {release.primary_metric} and the timing policy"
        f" {release.timing_policy} become fixed for good.",
        f"{_audience(release)} It takes submissions on {places}{_from(release)}.",
        *_questions(release),
        *_errata_carried(release),
        *_still_to_answer(release),
        *_unverified(release),
    ]


def _questions(release: Release) -> Lines:
    """Nothing for a release without sealed questions."""
    if policy_of(release) != QuestionPolicy.SEALED or release.reveals_at is None:
        return []
    until = f"{release.reveals_at:%Y-%m-%d %H:%M} UTC"
    return [f"Its questions are sealed for good: nobody but organisers is told what rests on them before {until}."]


def _audience(release: Release) -> str:
    if release.is_public:
        return "Everybody can read its statements and its board."
    n = release.invited.count()
    board = " Its board is public." if release.results_are_public else ""
    return f"It is private: organisers and {n} invited user{'' if n == 1 else 's'} see it.{board}"


def _from(release: Release) -> str:
    return f" from {release.opens_at:%Y-%m-%d %H:%M} UTC on" if release.opens_at else " at once"


def _errata_carried(release: Release) -> Lines:
    if release.previous is None:
        return []
    same = {old.pk for old in holding(release, release.previous).values()}
    n = Decision.objects.errata().filter(problem__in=same).count()
    kept = release.answers.filter(keeps=True, decision__problem__isnull=False).count()
    words = f"Errata of {release.previous.slug} that are carried over: {n + kept}. These problems count for nobody."
    return [words] if n + kept else []


def _still_to_answer(release: Release) -> Lines:
    n = len(revisions.unanswered(release))
    return [f"Refused now. Decisions of the last revision that wait for your answer: {n}."] if n else []


def _unverified(release: Release) -> Lines:
    n = len(missing_lines(release))
    return ["Not every problem is verified: it needs a reason, which its pages show."] if n else []


def of_verifying(_request: HttpRequest, release: Release) -> Lines:
    """Numbers of problems that run on each track, and of reused results of the last revision."""
    problems = set(release.problems.filter(kind__in=NODE_KINDS).values_list("pk", flat=True))
    same = holding(release, release.previous) if release.previous else {}
    lines = ["A node runs every check that has not been run on the problems as they are. No board changes."]
    for track in Track.objects.filter(on_releases__release=release).order_by("slug"):
        verified = verified_on(release.previous, track) if release.previous and same else set()
        n = sum(old.pk in verified for pk, old in same.items() if pk in problems)
        reused = f"; {n} are verified by results of {release.previous.slug}" if n and release.previous else ""
        lines.append(f"{track.slug}: {len(problems) - n} problems are run{reused}.")
    return lines


def of_measuring_baselines(_request: HttpRequest, release: Release) -> Lines:
    n = release.problems.filter(has_baseline=True).count()
    return [f"A node runs the own solutions of {numbered(n, 'problem')}. Baselines are on the board and take no rank."]


def of_voiding_node(_request: HttpRequest, node: Any) -> Lines:
    """The effect of voiding a node's results, all of them or those of a period."""
    rows = Evaluation.objects.live().made_by(node.slug)
    submissions = Submission.objects.filter(evaluations__in=rows).distinct()
    counted = Counted.objects.filter(submission__in=submissions).count()
    return [
        f"Of {node.slug}, {numbered(rows.count(), 'current result')} of"
        f" {numbered(submissions.count(), 'submission')} no longer count, or those of the period that you give."
        " Their samples run again.",
        f"{numbered(counted, 'standing', 'is')} incomplete until then.",
    ]


def of_next_revision(_request: HttpRequest, release: Release) -> Lines:
    n, tracks = release.problems.count(), release.on_tracks.count()
    return [
        f"A draft with {numbered(n, 'problem')} on {numbered(tracks, 'track')}. {_audience(release)}",
        f"{release.slug} stays as it is.",
    ]


def of_carrying(_request: HttpRequest, release: Release) -> Lines:
    """Numbers of reused results and of samples that run again. Submissions carried before stay as they are."""
    assert release.previous is not None, "it is offered for later revisions alone"
    counted = set(Counted.objects.filter(release=release.previous).values_list("submission_id", flat=True))
    tasks = release.problems.values_list("task_id", flat=True)
    rows = Evaluation.objects.live().filter(submission__in=counted, problem__task_id__in=list(tasks))
    rows = rows.filter(track__in=release.on_tracks.values("track"))
    same = {old.pk for old in holding(release, release.previous).values()}
    reused = rows.filter(state=EvaluationState.DONE, problem__in=same, judge_version__in=list(JUDGE_VERSIONS.values()))
    n_reused, n_all = reused.count(), rows.count()
    rulings = Decision.objects.latest_on_flags().filter(flag__result__current_of__in=reused).count()
    return [
        f"Stored anew: {numbered(len(counted), 'counted submission')} of {release.previous.slug}; carried ones stay.",
        f"About {numbered(n_reused, 'result', 'is')} reused; {numbered(n_all - n_reused, 'sample', 'runs')} again.",
        f"{numbered(rulings, 'ruling')} on flags: kept with the results.",
        *_errata_carried(release),
    ]


def of_freezing(_request: HttpRequest, release: Release) -> Lines:
    n, tracks = release.standings.count(), release.on_tracks.count()
    return [
        f"{release.slug} takes no more submissions, for good. {n} standings on {tracks} boards are stored as they are.",
        *curate.freezing_warnings(release),
    ]


def of_revealing(_request: HttpRequest, release: Release) -> Lines:
    shown = release.submissions.exclude(entrant__kind="system")
    n, entrants = shown.count(), shown.values("entrant").distinct().count()
    return [
        f"All who may see {release.slug} see {numbered(n, 'submission')} of"
        f" {numbered(entrants, 'entrant')} with results and flags. {_audience(release)}",
        "This cannot be taken back: what was read stays known.",
    ]


def of_correcting(_request: HttpRequest, release: Release) -> Lines:
    return [f"{release.standings.count()} standings on {release.on_tracks.count()} boards are ranked again."]


def of_adopting_rules(request: HttpRequest, release: Release) -> Lines:
    """Which standings change. The release itself is moved and moved back, as the boards read its rules."""
    places = places_of([release])
    for place in places:
        place.release = release
    before = release.rules, release.correction
    try:
        lines = on_standings(lambda: adopt_rules(request.user, release, _FORESEEN), places)
    finally:
        release.rules, release.correction = before
    return [
        f"From rules {release.rules} to {NEWEST}: {changes_since(before[0])}. Intervals and rank intervals change too.",
        *lines,
    ]


def of_deleting(_request: HttpRequest, release: Release) -> Lines:
    if why := why_kept(release):
        return [f"Refused: {why}"]
    found = [f"{n:,} {words}" for words, n in contents(release).items() if n]
    first = ["These are deleted for good:", *found] if found else ["Nothing was made in it yet."]
    return [*first, "The audit keeps what was done and by whom."]


def of_voiding(request: HttpRequest, problem: Problem) -> Lines:
    return [
        *_results_of(problem, "stops", "counting; nothing that was read goes"),
        *on_standings(lambda: void_problem(request.user, problem, _FORESEEN), places_of([problem.release])),
    ]


def of_restoring(request: HttpRequest, problem: Problem) -> Lines:
    return [
        *_results_of(problem, "counts", "again"),
        *on_standings(lambda: restore_problem(request.user, problem, _FORESEEN), places_of([problem.release])),
    ]


def of_auditing(_request: HttpRequest, release: Release) -> Lines:
    """Numbers of problems to audit on each track."""
    places = ReleaseTrack.objects.filter(release=release).select_related("track").order_by("track__slug")
    counts = [(one.track, references_to_audit(release, one.track).count()) for one in places]
    return [
        "No board changes. An answer that does no work and passes makes a report of a fault, which waits for you.",
        *(f"{track.slug}: {numbered(n, 'problem', 'is')} audited, whose reference passed." for track, n in counts),
    ]


def of_audit_reason(_request: HttpRequest, problem: Problem) -> Lines:
    idle = sorted({sample.title for one in audits_of(problem.release) if one.problem == problem for sample in one.idle})
    return [f"{problem.task_id} ranks although these pass: {', '.join(idle)}.", "Everybody reads the reason."]


def of_erratum(request: HttpRequest, asked: Clarification) -> Lines:
    return of_voiding(request, asked.problem)


def _results_of(problem: Problem, verb: str, words: str) -> Lines:
    rows = Evaluation.objects.live().filter(problem=problem, current_result__isnull=False)
    n = rows.exclude(submission__entrant__kind="system").count()
    return [f"{problem.task_id}: {numbered(n, 'result', verb)} {words}."]


def of_retracting(request: HttpRequest, submission: Submission) -> Lines:
    run = lambda: retract(request.user, submission, _FORESEEN)  # noqa: E731 - one expression for the line below
    places = [one for one in places_of([submission.release]) if one.track in submission.tracks.all()]
    return on_standings(run, places)


def of_retracting_all(request: HttpRequest, submissions: Sequence[Submission]) -> Lines:
    if len(submissions) > MOST_RETRACTED:
        return [f"{len(submissions)} submissions leave the boards, which are ranked again."]
    places = places_of({one.release for one in submissions})
    return on_standings(lambda: [retract(request.user, one, _FORESEEN) for one in submissions], places)


def of_cancelling(_request: HttpRequest, submission: Submission) -> Lines:
    return of_cancelling_all(_request, [submission])


def of_cancelling_all(_request: HttpRequest, submissions: Sequence[Submission]) -> Lines:
    rows = Evaluation.objects.live().filter(submission__in=submissions)
    n_open = rows.filter(state__in=OPEN_STATES).count()
    return [f"{numbered(n_open, 'evaluation', 'is')} withdrawn; {rows.count() - n_open:,} that ended stay."]


def of_rerunning(_request: HttpRequest, submission: Submission) -> Lines:
    return of_rerunning_all(_request, [submission])


def of_rerunning_all(_request: HttpRequest, submissions: Sequence[Submission]) -> Lines:
    return _rerun(Q(submission__in=submissions))


def of_rerunning_one(_request: HttpRequest, evaluation: Evaluation) -> Lines:
    return _rerun(Q(pk=evaluation.pk))


def of_rerunning_these(_request: HttpRequest, evaluations: Sequence[Evaluation]) -> Lines:
    return _rerun(Q(pk__in=[one.pk for one in evaluations]))


def _rerun(chosen: Q) -> Lines:
    rows = Evaluation.objects.live().filter(chosen, state=EvaluationState.DONE, current_result__isnull=False)
    n = rows.exclude(NOT_HERE).exclude(current_result__origin=ResultOrigin.SITE).count()
    return [
        f"{numbered(n, 'evaluation', 'is')} queued again. Nothing changes until new results land, which then count."
    ]


def of_applying(request: HttpRequest, rejudge: Rejudge) -> Lines:
    """The outcomes; and how the boards change, where there are few evaluations."""
    found = foreseen(rejudge)
    lines = [f"{n:,} {RejudgeOutcome(name).label}." for name, n in sorted(found.items())]
    totals = rejudging.totals(rejudge)
    lines.append(f"{totals.n_verdicts:,} verdicts and {totals.n_times:,} times change among the evaluations judged.")
    if found[RejudgeOutcome.APPEALED]:
        lines.append("Answer the open appeals first, if these are to be applied too.")
    if totals.n > MOST_FORESEEN:
        return lines
    releases = Release.objects.filter(submissions__evaluations__rejudged__rejudge=rejudge).distinct()
    return [*lines, *on_standings(lambda: apply(request.user, rejudge, _FORESEEN), places_of(releases))]


def of_dropping(_request: HttpRequest, rejudge: Rejudge) -> Lines:
    totals = rejudging.totals(rejudge)
    return [f"{totals.n_waiting:,} evaluations are withdrawn; {totals.n_judged:,} judgements are not used."]


def of_measuring_anew(_request: HttpRequest, release: Release) -> Lines:
    """The effect for each track: the entrants, the hours and the end, or the reason why there is no round."""
    return [line for place in places_of([release]) for line in _of_round(place)]


def _of_round(place: ReleaseTrack) -> Lines:
    where = place.track.slug
    if why := rounds.why_not(place):
        return [f"{where}: refused now. {why}"]
    chosen = rounds.chosen(place)
    n, n_imported = chosen.passes.count(), sum(chosen.n_imported.values())
    names = ", ".join(f"{one.entrant} (rank {one.rank})" for one in chosen.standings) or "nobody"
    lines = [f"{where}: measured anew {numbered(n, 'pass')} of {numbered(len(chosen.standings), 'entrant')}: {names}."]
    lines.append(f"{where}: {_cost(place, rounds.cost_of(place, chosen.passes, n))}")
    if n_imported:
        lines.append(f"{where}: {n_imported:,} imported passes cannot be measured anew; the board says so.")
    if n_incomplete := _n_incomplete(place):
        lines.append(f"{where}: {n_incomplete} incomplete standings have no rank and are left out.")
    return [*lines, f"{where}: no result and no verdict changes. Ranks use the second times as they come in."]


def _n_incomplete(place: ReleaseTrack) -> int:
    return place.release.standings.filter(track=place.track, is_incomplete=True).count()


def _cost(place: ReleaseTrack, cost: rounds.RoundCost) -> str:
    unit = "GPU hours" if place.track.device == "gpu" else "hours of a machine"
    hours = f"about {max(cost.hours, 0.01):,.2f} {unit}, as the first measurements took"
    if not cost.hours:
        return "how long it takes is not known: no attempt of the first measurements is recorded."
    if cost.ends_at is None:
        return f"{hours}. No node of the track is online: no end can be told."
    nodes = f"{cost.n_nodes} online node{'s'[: cost.n_nodes > 1]}"
    return f"{hours}. With {nodes} it ends about {cost.ends_at:%Y-%m-%d %H:%M} UTC, behind live work."


def of_pausing(_request: HttpRequest, rejudge: Rejudge) -> Lines:
    totals = rejudging.totals(rejudge)
    return [f"{totals.n_waiting:,} measurements are withdrawn; {totals.n_judged:,} stay and count."]


def of_resuming(_request: HttpRequest, rejudge: Rejudge) -> Lines:
    n = rounds.lacking(rejudge).count()
    place = ReleaseTrack.objects.select_related("release", "track").get(release=rejudge.release, track=rejudge.track)
    passes = Evaluation.objects.live().filter(rejudged__in=rounds.lacking(rejudge))
    return [f"{numbered(n, 'pass', 'is')} measured anew: {_cost(place, rounds.cost_of(place, passes, n))}"]

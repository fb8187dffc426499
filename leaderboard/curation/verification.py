"""The results of verifying a release: per track for its organisers, and per problem for its publication.

Verifying is up to four submissions by hidden system entrants on a track: the references must pass, empty solutions must
fail, and known-bad ones must get the verdict that the pack states. A fourth shows whether harnesses that say so run in
processes of their own. Their current results are the facts.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, Prefetch, Q, QuerySet

from leaderboard.curation.audits import AuditFigures, audits_of, missing_of
from leaderboard.models import Evaluation, EvaluationState, Measurement, ProblemTrack, Result, ResultCase, Track
from leaderboard.models.entrants.entrant import EARLY_END, EMPTY, KNOWN_BAD, REFERENCE, EntrantKind
from problems.models import Problem, Release
from problems.spec.input_sets import WRONG_SETS
from problems.spec.kinds import NODE_KINDS, Kind
from problems.spec.mutants import ACCEPTED, ADMITS, DIFFERING, NONE
from runners.wire.protocol import Purpose, Role, Verdict

TITLES = {
    REFERENCE: "Reference solutions",
    EMPTY: "Empty solutions",
    KNOWN_BAD: "Known-bad solutions",
    EARLY_END: "Solutions that end their process at once",
}


@dataclass
class VerificationReport:
    """The results of verifying on one track so far: a summary line per check, each followed by its failures."""

    lines: list[str] = field(default_factory=list)
    passed: bool = True
    pending: int = 0
    n_all: int = 0
    """The evaluations that verifying asks for."""
    failures: list[tuple[Problem, Evaluation]] = field(default_factory=list)
    """Evaluations that did not end as expected."""


TEST_STEP = "test"
_BEFORE_RUNNING = frozenset({Verdict.INVALID, Verdict.BUILD_FAILED, Verdict.SOURCE_REFERENCE_MISSING})


@dataclass(frozen=True)
class Check:
    """One thing that must be so of a problem; `expected` None: any verdict of the contestant's but passed."""

    entrant: str
    index: int
    expected: str | None
    words: str
    fails_the_harness: bool = False
    """Whether the test itself must end with another status than 0."""
    must_run: bool = False
    """Whether a verdict from before the solution ran, such as `invalid`, shows nothing."""
    ranking_cases: frozenset[str] = frozenset()
    """The cases whose check must reject wrong answers, because their times rank."""

    def wrong(self, evaluation: Evaluation | None) -> str:
        """Returns the reason why the evaluation does not pass the check; empty where it does."""
        if evaluation is None:
            return f"{self.words} has not been run"
        result = evaluation.current_result
        if evaluation.state != EvaluationState.DONE or result is None:
            return f"{self.words} has not been judged yet"
        right = result.verdict != Verdict.PASSED if self.expected is None else result.verdict == self.expected
        if right and result.verdict not in (Verdict.PLATFORM_ERROR, Verdict.SKIPPED):
            return self._why_not_shown(result)
        return f"{self.words} is {result.verdict}, expected {self.expected or 'anything but passed'}"

    def _why_not_shown(self, result: Result) -> str:
        if self.must_run and result.verdict in _BEFORE_RUNNING:
            return f"{self.words} is {result.verdict}, so it never ran"
        if self.ranking_cases and (why := self._why_check(result) or self._why_sets(result)):
            return why
        return self._why_harness_ended(result) if self.fails_the_harness else ""

    def _why_check(self, result: Result) -> str:
        """Which case that ranks has a check that cannot be trusted, and the remedy; empty if none has."""
        for case, differing in _told(result, DIFFERING).items():
            if case in self.ranking_cases:
                return (
                    f"its case {case} cannot rank, because its check rules otherwise on the GPU than on the CPU"
                    f" ({differing}): write `verify` so that it does not depend on the device, or change its"
                    " `accuracy`, because the two round differently, and pack it again"
                )
        for case, accepted in _told(result, ACCEPTED).items():
            if accepted != NONE and case in self.ranking_cases:
                return (
                    f"its case {case} cannot rank, because its check accepts wrong answers ({accepted}): tighten its"
                    " `accuracy`, or draw inputs whose answers differ more, and pack it again"
                )
        return ""

    def _why_sets(self, result: Result) -> str:
        """Which case that ranks has a wrong number of input sets; empty if none does."""
        wrong = [(case, why) for case, why in _told(result, WRONG_SETS).items() if case in self.ranking_cases]
        return f"its case {wrong[0][0]} has a wrong number of input sets: {wrong[0][1]}" if wrong else ""

    def _why_harness_ended(self, result: Result) -> str:
        """Returns the reason why the result does not show a harness that saw the solution's process end; empty if it
        does."""
        statuses = [step.get("exit_code") for step in result.steps if step.get("name") == TEST_STEP]
        if not statuses:
            return f"{self.words} is {result.verdict} before its test ran"
        if statuses[-1] != 0:
            return ""
        return f"{self.words} ends the test with status 0: the harness is not `separate`, as the problem says"


@dataclass(frozen=True)
class ProblemVerification:
    """Whether a problem is verified: on which track, when and by which results, or else what is missing."""

    problem: Problem
    track: Track | None
    results: tuple[int, ...] = ()
    verified_at: datetime | None = None
    missing: str = ""
    reused_from: str = ""
    """The earlier revision whose results verify it; empty if it was verified itself."""


def checks_of(problem: Problem) -> list[Check]:
    """Every check that the problem must stand; known-bad solutions come last."""
    spec, is_function = problem.spec, problem.kind == Kind.FUNCTION
    ends = "its solution that ends at once"
    # The judge of functions stands outside them: its verdict says enough.
    early = Check(EARLY_END, 0, None, ends, fails_the_harness=not is_function, must_run=is_function)
    ranking = frozenset(case.name for case in spec.cases) if is_function else frozenset()
    return [
        Check(REFERENCE, 0, Verdict.PASSED, "its reference", ranking_cases=ranking),
        Check(EMPTY, 0, None, "its empty solution", must_run=is_function),
        *(
            Check(KNOWN_BAD, n, bad.expect, f"its known-bad solution {bad.name}")
            for n, bad in enumerate(spec.podium.known_bad)
        ),
        *([early] if spec.ending_early else []),
    ]


@dataclass(frozen=True)
class Checked:
    """The facts of a release's verification: its problems in their order, and the evaluations of the checks."""

    problems: Sequence[Problem]
    evaluations: "Mapping[Key, Evaluation]"


def checked(release: Release, among: Collection[int] | None = None) -> Checked:
    """Read both, in a fixed number of queries; with `among` only of the problems of these ids."""
    problems, rows = release.problems.select_related("release").order_by("position"), _checks_of(release)
    if among is not None:
        problems, rows = problems.filter(pk__in=among), rows.filter(problem__in=among)
    return Checked(list(problems), _latest(rows))


def verifications(release: Release, facts: Checked | None = None) -> list[ProblemVerification]:
    """One for each problem that a node settles and that some track of the release can run."""
    known = facts or checked(release)
    tracks = list(Track.objects.filter(on_releases__release=release).order_by("slug"))
    rows = ProblemTrack.objects.filter(problem__release=release).exclude(skip_reason="")
    skips = set(rows.values_list("problem_id", "track_id"))
    problems = [one for one in known.problems if one.kind in NODE_KINDS]
    lacking = missing_of(release, audits_of(release))
    able = [(problem, [one for one in tracks if (problem.pk, one.pk) not in skips]) for problem in problems]
    found = [_verification(problem, chosen, known.evaluations) for problem, chosen in able if chosen or not tracks]
    return [_audited(one, lacking.get(one.problem.pk, "")) for one in found]


def _audited(found: ProblemVerification, lacking: str) -> ProblemVerification:
    """Without verification where the audit of a problem that is verified otherwise lacks something."""
    return ProblemVerification(found.problem, None, missing=lacking) if lacking and not found.missing else found


def verified_on(release: Release, track: Track) -> set[int]:
    """The ids of the problems of which every check was right on the track."""
    known = checked(release)
    found = (_verification(problem, [track], known.evaluations) for problem in known.problems)
    return {one.problem.pk for one in found if one.track}


_OF_REFERENCES = {"result__evaluation__submission__entrant__slug": REFERENCE}
_FACTS = (
    Prefetch("current_result__cases", ResultCase.objects.filter(**_OF_REFERENCES)),
    Prefetch("current_result__measurements", Measurement.objects.filter(**_OF_REFERENCES).only("result", "case")),
)
"""The rows to read besides the verdicts: cases and measurements of the references' results."""


def _told(result: Result, name: str) -> Mapping[str, str]:
    """A field of a reference's cases, by case."""
    return {
        case.name: str(field["value"]) for case in result.cases.all() for field in case.fields if field["name"] == name
    }


Key = tuple[int, int, str, int]
"""Track, problem, system entrant, sample."""


def of_present_problems(rows: QuerySet[Evaluation]) -> QuerySet[Evaluation]:
    """Without those of a problem that its draft has changed since, or leaves out."""
    present = Q(problem__graded_since=None) | Q(submission__created_at__gte=F("problem__graded_since"))
    return rows.filter(present, problem__is_left_out=False)


def _checks_of(release: Release) -> QuerySet[Evaluation]:
    """The evaluations by which a release is verified, those of its problems as they were included."""
    of_system = Evaluation.objects.live().filter(submission__entrant__slug__in=TITLES)
    return of_system.filter(submission__release=release, submission__entrant__kind=EntrantKind.SYSTEM)


def _latest(checks: QuerySet[Evaluation]) -> dict[Key, Evaluation]:
    """The latest evaluation of each check, of the problems as they are now."""
    rows = (
        of_present_problems(checks)
        .exclude(state=EvaluationState.CANCELLED)
        .select_related("current_result__reused_from__evaluation__submission__release", "sample", "submission__entrant")
        .prefetch_related(*_FACTS)
        .order_by("pk")
    )
    return {(row.track_id, row.problem_id, row.submission.entrant.slug, row.sample.index): row for row in rows}


def changed_since_run(release: Release) -> set[int]:
    """The ids of the problems that a node ran, and that their draft has changed or brought back since."""
    before = _checks_of(release).filter(
        current_result__isnull=False, submission__created_at__lt=F("problem__graded_since")
    )
    return set(before.values_list("problem", flat=True))


def _verification(problem: Problem, tracks: Sequence[Track], found: Mapping[Key, Evaluation]) -> ProblemVerification:
    """Verified on the first track on which every check is right; else what is missing on the last one looked at."""
    if not problem.has_baseline:
        return ProblemVerification(problem, None, missing="it has no reference solution")
    missing = "the release is not offered on a track"
    checks = checks_of(problem) if tracks else []
    for track in tracks:
        rows = [(check, found.get((track.pk, problem.pk, check.entrant, check.index))) for check in checks]
        missing = next((why for check, row in rows if (why := check.wrong(row))), "")
        results = [row.current_result for _, row in rows if row and row.current_result]
        if not missing:
            ids = tuple(result.pk for result in results)
            last = max((result.reused_from or result).created_at for result in results)
            return ProblemVerification(problem, track, ids, last, reused_from=" and ".join(_sources(results)))
        missing = f"{missing} on {track.slug}"
    return ProblemVerification(problem, None, missing=missing)


def _sources(results: Iterable[Result]) -> list[str]:
    """The slugs of the revisions of which results are copies."""
    return sorted({one.reused_from.evaluation.submission.release.slug for one in results if one.reused_from})


SHOWN_LINES = 20


def missing_lines(release: Release) -> list[str]:
    """The problems that are not verified, one line each; empty if all are."""
    lacking = [one for one in verifications(release) if one.missing]
    lines = [f"problem {one.problem.task_id}: {one.missing}" for one in lacking[:SHOWN_LINES]]
    if len(lacking) > SHOWN_LINES:
        lines.append(f"and {len(lacking) - SHOWN_LINES} more problems")
    return lines


def verified_lines(release: Release) -> list[str]:
    """Which problem is verified on which track, when and by which results."""
    return [
        f"problem {one.problem.task_id}: verified on {one.track.slug} at {one.verified_at:%Y-%m-%d %H:%M} UTC"
        f" by results {', '.join(map(str, one.results))}{f', reused from {one.reused_from}' if one.reused_from else ''}"
        for one in verifications(release)
        if one.track
    ]


def traffic_lines(release: Release) -> list[str]:
    """The memory traffic of each reference that was counted, and whether its problem's samples are checked by it."""
    rows = (
        Measurement.objects.filter(
            role=Role.CANDIDATE,
            result__current_of__purpose=Purpose.LIVE,
            result__current_of__submission__release=release,
            result__current_of__submission__entrant__slug=REFERENCE,
            device__has_key="writes_checked",
        )
        .select_related("problem", "track")
        .order_by("problem__position", "track__slug")
    )
    return [f"problem {row.problem.task_id} on {row.track.slug}: {_traffic_words(row.device or {})}" for row in rows]


_TRAFFIC = {
    "l2_written_bytes": "writes {} to L2",
    "l2_read_bytes": "reads {} from L2",
    "dram_written_bytes": "writes {} to DRAM",
    "dram_read_bytes": "reads {} from DRAM",
    "uploaded_bytes": "needs {} copied from the host",
    "downloaded_bytes": "has {} copied to the host",
}


def _traffic_words(facts: Mapping[str, Any]) -> str:
    known = [words.format(f"{facts[name] / 1e6:.4g} MB") for name, words in _TRAFFIC.items() if name in facts]
    answer = str(facts["writes_checked"])
    checked = (
        "its samples' writes are checked"
        if answer == "yes"
        else f"writes are not checked ({answer.removeprefix('no: ')})"
    )
    return "; ".join([*([f"the reference {', '.join(known)}"] if known else []), checked])


def references_passed(release: Release) -> list[Any]:
    """A row per track (`track__slug`): the `n` problems whose references passed there, and when the `last` one did."""
    passed = of_present_problems(Evaluation.objects.live()).filter(
        submission__release=release, submission__entrant__slug=REFERENCE, current_result__verdict=Verdict.PASSED
    )
    rows = passed.values("track__slug").order_by("track__slug")
    return list(rows.annotate(n=Count("problem", distinct=True), last=Max("current_result__created_at")))


def verification_report(release: Release, track: Track, facts: Checked | None = None) -> VerificationReport:
    """Compare what came of the checks on one track with what must."""
    report, known = VerificationReport(), facts or checked(release)
    found, problems = known.evaluations, {problem.pk: problem for problem in known.problems}
    for slug, title in TITLES.items():
        rows = [row for (track_id, _, entrant, _), row in found.items() if (track_id, entrant) == (track.pk, slug)]
        pending = [row for row in rows if row.state != EvaluationState.DONE]
        wrong = []
        for row in rows:
            if row not in pending and (lines := list(_wrong_lines(problems[row.problem_id], slug, row))):
                wrong += lines
                report.failures.append((problems[row.problem_id], row))
        notes = [line for row in rows if row not in pending for line in _notes(problems[row.problem_id], row)]
        right = len(rows) - len(wrong) - len(pending)
        counts = f"{title}: {right} as expected, {len(wrong)} not, {len(pending)} to come{_reused_words(rows)}"
        report.lines += [counts, *wrong, *notes]
        report.pending += len(pending)
        report.n_all += len(rows)
        report.passed &= not wrong and not pending and (bool(rows) or slug in (KNOWN_BAD, EARLY_END))
    _add_audit(report, release, [one for one in audits_of(release) if one.track and one.track.pk == track.pk])
    return report


def _add_audit(report: VerificationReport, release: Release, audits: Sequence[AuditFigures]) -> None:
    """The counts of the answers that do no work, and the problems that those pass; nothing without an audit."""
    if not audits:
        return
    n_built, n_pending = sum(one.n_built for one in audits), sum(one.n_pending for one in audits)
    n_all, n_killed = sum(len(one.samples) for one in audits), sum(one.n_killed for one in audits)
    n_idle = n_all - n_built - n_pending
    report.lines.append(
        f"Answers that do no work: {n_killed} rejected, {n_built - n_killed} passed, {n_idle} did not run, {n_pending}"
        " to come"
    )
    for one in audits:
        if one.blocks:
            report.lines.append(f"  {one.problem.task_id}: {missing_of(release, [one])[one.problem.pk]}.")
        elif one.state == "not_audited":
            report.lines.append(f"  Note: {one.problem.task_id}: not audited, because {one.why_not}.")
    report.pending += n_pending
    report.n_all += n_all
    report.passed &= not n_pending and not any(one.blocks for one in audits)


def _reused_words(rows: Sequence[Evaluation]) -> str:
    """The number of results copied from an earlier revision, with its name; empty without one."""
    results = [row.current_result for row in rows if row.current_result and row.current_result.reused_from]
    return f"; {len(results)} reused from {' and '.join(_sources(results))}" if results else ""


def _notes(problem: Problem, row: Evaluation) -> Iterator[str]:
    """Which cases of a reference are not timed, and timed ones whose check accepts a lower precision than is said."""
    result = row.current_result
    if problem.kind != Kind.FUNCTION or row.submission.entrant.slug != REFERENCE or result is None:
        return
    timed = {one.case for one in result.measurements.all()}
    names = [one.name for one in problem.timed_cases]
    if timed and (untimed := [name for name in names if name not in timed]):
        yield (
            f"  Note: {problem.task_id}: {len(names) - len(untimed)} of {len(names)} cases are timed. Too short for a"
            f" time: {', '.join(untimed)}."
        )
    for case, precision in _told(result, ADMITS).items():
        if case in timed:
            yield (
                f"  Note: {problem.task_id}: case {case} accepts results in {precision}. If that is not meant, tighten"
                " its `accuracy`; otherwise declare `fastest_dtype`."
            )


def _wrong_lines(problem: Problem, slug: str, row: Evaluation) -> Iterator[str]:
    """The problem's faults; none for one that the track skips."""
    result = row.current_result
    if result is None or result.verdict == Verdict.SKIPPED:
        return
    for check in checks_of(problem):
        if (check.entrant, check.index) == (slug, row.sample.index) and (why := check.wrong(row)):
            yield f"  {problem.task_id}: {why}. {result.reason[:200]}"

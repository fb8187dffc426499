"""The organiser's checklist before and after publishing a release: one line each, with its remedy."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.core.exceptions import ValidationError
from django.utils import timezone

from leaderboard.curation.audits import audits_of
from leaderboard.curation.revisions import questions
from leaderboard.curation.verification import SHOWN_LINES, Checked, ProblemVerification, checked, verifications
from leaderboard.models import ReleaseTrack
from leaderboard.standings import rankable
from problems import sealing
from problems.actions.releases import broken_promises
from problems.models import Problem, QuestionPolicy, Release
from problems.spec.kinds import NODE_KINDS
from problems.spec.numbered import numbered


class LineState(StrEnum):
    """The state of a line."""

    DONE = "done"
    OPEN = "open"
    """Publishing is refused until it is done."""
    ADVICE = "advice"
    """Publishing goes on without it."""


@dataclass(frozen=True)
class Item:
    """One line of the checklist. `act` is the button of the release's page that mends it, or ""."""

    state: LineState
    title: str
    detail: str = ""
    remedy: str = ""
    act: str = ""
    more: Sequence[str] = ()


def checklist(release: Release, facts: Checked | None = None) -> list[Item]:
    """All lines, in the order of an organiser's work."""
    known = facts or checked(release)
    verified, problems = verifications(release, known), known.problems
    return [
        _metadata(release),
        _problems(problems),
        _offered(release),
        _ranking(release),
        *_questions(release, problems),
        _promises(release, problems),
        *_verified(release, verified, problems),
        *_audited(release),
        *_known_bad(problems),
        _licence(release),
        _card(release),
        *_last_revision(release),
        *_dates(release),
        *_not_released(problems),
    ]


def _metadata(release: Release) -> Item:
    try:
        release.full_clean()
    except ValidationError as error:
        faults = [f"{name}: {' '.join(said)}" for name, said in error.message_dict.items()]
        return Item(LineState.OPEN, "Metadata", "has faults", "Correct these fields below.", more=faults)
    return Item(LineState.DONE, "Metadata", "valid")


def _problems(problems: Sequence[Problem]) -> Item:
    if not problems:
        return Item(LineState.OPEN, "Problems", "none yet", "Add problems or import a pack.")
    kinds = Counter(problem.kind.replace("_", " ") for problem in problems)
    return Item(LineState.DONE, "Problems", ", ".join(f"{n} of kind {kind}" for kind, n in sorted(kinds.items())))


def _offered(release: Release) -> Item:
    places = ReleaseTrack.objects.filter(release=release).order_by("track__slug")
    slugs = list(places.values_list("track__slug", flat=True))
    if not slugs:
        remedy = "Offer it on at least one track: nobody can submit without one."
        return Item(LineState.ADVICE if not release.is_draft else LineState.OPEN, "Tracks", "none", remedy, "offer")
    return Item(LineState.DONE, "Tracks", ", ".join(slugs))


def _ranking(release: Release) -> Item:
    if faults := rankable.faults(release):
        act = "" if release.is_draft else "correct-ranking"
        return Item(LineState.OPEN, "Ranking", f"cannot be ranked by {release.primary_metric}", " ".join(faults), act)
    return Item(LineState.DONE, "Ranking", f"by {release.primary_metric}, timing policy {release.timing_policy}")


def _questions(release: Release, problems: Sequence[Problem]) -> Iterator[Item]:
    """Nothing for a release without questions."""
    if all(problem.kind in NODE_KINDS for problem in problems):
        return
    if release.is_draft and (found := list(sealing.faults(release))):
        yield Item(LineState.OPEN, "Questions", "cannot be published so", "Set these fields below.", more=found)
        return
    if sealing.policy_of(release) != QuestionPolicy.SEALED:
        yield Item(
            LineState.DONE, "Questions", "practice: verdicts are told at once, so four submissions solve a choice"
        )
        return
    until = f"sealed until {release.reveals_at:%Y-%m-%d %H:%M} UTC" if release.reveals_at else "sealed"
    if n_told := sealing.told_elsewhere(release):
        remedy = "Replace them, if entrants could have read the answers off there."
        yield Item(LineState.ADVICE, "Questions", f"{until}, and {n_told} are told by another release before", remedy)
        return
    yield Item(LineState.DONE, "Questions", until)


def _promises(release: Release, problems: Sequence[Problem]) -> Item:
    made = [name.replace("_", " ") for name in ("one_command", "separate_harness") if getattr(release, name)]
    if made and not problems:
        words = f"{', '.join(made)}: no problems yet that keep them"
        return Item(LineState.OPEN, "Promises", words, "Add problems or import a pack.")
    if broken := list(broken_promises(release)):
        return Item(LineState.OPEN, "Promises", "not kept", "Mend the problems, or take the promise back.", more=broken)
    return Item(LineState.DONE, "Promises", ", ".join(made) or "none made")


def _verified(release: Release, found: Sequence[ProblemVerification], problems: Sequence[Problem]) -> Iterator[Item]:
    n_judged = sum(problem.kind in NODE_KINDS for problem in problems)
    if not problems:
        yield Item(LineState.OPEN, "Verification", "no problems to verify yet", "Add problems or import a pack.")
        return
    if not n_judged:
        yield Item(LineState.DONE, "Verification", "its problems need no node")
        return
    missing = [one for one in found if one.missing]
    by_track = Counter((one.track.slug, one.reused_from) for one in found if one.track)
    words = [
        f"{n} on {track}{f' by results of {source}' if source else ''}"
        for (track, source), n in sorted(by_track.items())
    ]
    if missing:
        published = not release.is_draft
        lines = [f"{one.problem.task_id}: {one.missing}" for one in missing[:SHOWN_LINES]]
        lines += [f"and {len(missing) - SHOWN_LINES} more"] if len(missing) > SHOWN_LINES else []
        detail = f"{len(missing)} of {numbered(len(found), 'problem')} not verified" + (
            f"; {', '.join(words)} are" if words else ""
        )
        remedy = "Verify it on a node of one of its tracks." + ("" if published else " Or publish it with a reason.")
        yield Item(LineState.ADVICE if published else LineState.OPEN, "Verification", detail, remedy, "verify", lines)
    elif found:
        last = max(one.verified_at for one in found if one.verified_at)
        yield Item(LineState.DONE, "Verification", f"{', '.join(words)}; the last at {last:%Y-%m-%d %H:%M} UTC")
    if n_nowhere := n_judged - len(found):
        words_nowhere = f"{numbered(n_nowhere, 'problem', 'is')} skipped on every track"
        yield Item(LineState.ADVICE, "Skipped", words_nowhere, "Offer it on a track that can run them.", "offer")


def _audited(release: Release) -> Iterator[Item]:
    """The audit's figures, and the problems that it says nothing about; nothing before the first audit."""
    figures = audits_of(release)
    if all(one.track is None for one in figures):
        return
    n_built, n_killed = sum(one.n_built for one in figures), sum(one.n_killed for one in figures)
    counts = f"{n_killed} of {n_built} answers that do no work were rejected"
    without = [f"{one.problem.task_id}: {one.why_not}" for one in figures if one.state == "not_audited"]
    if not without:
        yield Item(LineState.DONE, "Audit", counts)
        return
    remedy = "Whether their checks notice an answer that does no work is not known."
    detail = f"{counts}; {numbered(len(without), 'problem', 'is')} not audited"
    yield Item(LineState.ADVICE, "Audit", detail, remedy, more=without[:SHOWN_LINES])


def _known_bad(problems: Sequence[Problem]) -> Iterator[Item]:
    """The line on known-bad solutions; none for a release without problems that nodes judge."""
    judged = [one for one in problems if one.kind in NODE_KINDS]
    if judged:
        yield _known_bad_of(judged)


def _known_bad_of(judged: Sequence[Problem]) -> Item:
    without = [one.task_id for one in judged if not one.spec.podium.known_bad]
    if not without:
        return Item(LineState.DONE, "Known-bad solutions", "each problem that a node judges has some")
    named = ", ".join(without[:5]) + (f" and {len(without) - 5} more" if len(without) > 5 else "")
    remedy = "Give each a wrong solution with the verdict that it must get: it shows that the test notices."
    return Item(LineState.ADVICE, "Known-bad solutions", f"none for {named}", remedy)


def _licence(release: Release) -> Item:
    if release.licence:
        return Item(LineState.DONE, "Licence", release.licence)
    return Item(
        LineState.ADVICE,
        "Licence",
        "not stated",
        "Say under which licence the problems may be used, in the field Licence.",
    )


def _card(release: Release) -> Item:
    if release.dataset_card:
        return Item(LineState.DONE, "Dataset card", f"{len(release.dataset_card.split())} words")
    remedy = (
        "Say where the problems come from, what they cover and what is known to be wrong, in the field Dataset card."
    )
    return Item(LineState.ADVICE, "Dataset card", "none", remedy)


def _last_revision(release: Release) -> Iterator[Item]:
    """For a draft: the decisions of the last revision that it cannot take over without an answer."""
    asked = questions(release) if release.is_draft else []
    waiting = [f"{one.about}: {one.why}" for one in asked if one.answer is None]
    if waiting:
        detail = f"{len(waiting)} of the last revision wait for your answer"
        remedy = "Keep or drop each, with a public reason."
        yield Item(LineState.OPEN, "Decisions", detail, remedy, "answer-revision", waiting[:SHOWN_LINES])
    elif asked:
        yield Item(LineState.DONE, "Decisions", f"{len(asked)} of the last revision are answered")


def _dates(release: Release) -> Iterator[Item]:
    """Their order; a date that has passed while the release is a draft."""
    now = timezone.now()
    faults = []
    if release.is_draft and release.closes_at and release.closes_at <= now:
        faults.append(f"It would close before it is published: `closes at` is {release.closes_at:%Y-%m-%d %H:%M} UTC.")
    if release.hidden_until and release.closes_at and release.hidden_until < release.closes_at:
        faults.append("Results become visible before the release closes: entrants can learn from them meanwhile.")
    if release.opens_at and release.hidden_until and release.hidden_until <= release.opens_at:
        faults.append("`hidden until` is not after `opens at`, so it hides nothing.")
    if faults:
        yield Item(LineState.ADVICE, "Dates", "look odd", "Change them below, if that is not meant.", more=faults)
    else:
        yield Item(LineState.DONE, "Dates", _date_words(release))


def _date_words(release: Release) -> str:
    dates = [("opens", release.opens_at), ("closes", release.closes_at), ("results hidden until", release.hidden_until)]
    return "; ".join(f"{words} {at:%Y-%m-%d %H:%M} UTC" for words, at in dates if at) or "open from publication on"


def _not_released(problems: Sequence[Problem]) -> Iterator[Item]:
    n = sum(problem.do_not_release for problem in problems)
    if n:
        yield Item(
            LineState.DONE,
            "Not to be released",
            f"{numbered(n, 'problem')}: organisers alone read it, redacted exports leave it out",
        )

"""Effects that a submission would have, in sentences: the same on the page, in the API and on the command line."""

from collections.abc import Iterator
from typing import Any

from leaderboard.actions.intake.dry_run import Contents, DryRun
from leaderboard.actions.submissions.choose import counts_on, offered_tracks
from leaderboard.models import Counted, Decision, ProblemTrack, Submission
from problems.formats.submission import IncomingSubmission
from problems.spec.numbered import numbered
from scoring.metrics import metric_named


def summary(run: DryRun) -> str:
    """ "6 samples of 2 of 8 problems"; empty if the file cannot be read."""
    found = run.contents
    if found is None:
        return ""
    n, counts = len(found.incoming.samples), found.incoming.sample_counts.values()
    each = f", {max(counts)} of each" if counts and min(counts) == max(counts) > 1 else ""
    covers = (
        f"all {found.n_problems}" if found.n_present == found.n_problems else f"{found.n_present} of {found.n_problems}"
    )
    return f"{numbered(n, 'sample')} of {covers} problems{each}"


def effects(user: Any, run: DryRun) -> list[str]:
    """Sentences on the effect of sending the submission. At most seven queries."""
    found = run.contents
    if found is None or not found.incoming.samples:
        return []
    if found.twin is not None:
        return [already_here(user, found.twin)]
    if found.incoming.undecided:
        return [f"As partial: {_as_partial(found)}", f"As full: {_as_full(run, found)}"]
    if not found.incoming.full:
        return [f"A partial submission: {_as_partial(found)}"]
    return [
        f"A full submission: {_as_full(run, found)}", *_left_out(run, found), *_ks(run, found.incoming), *_counted(run)
    ]  # fmt: skip


def already_here(user: Any, twin: Submission) -> str:
    """The effect of sending an equal submission again, and the tracks on which the older one can be chosen to count."""
    stored = f"This very submission is here already, #{twin.pk}. Sending it again stores nothing."
    if tracks := offered_tracks(user, twin):
        where = ", ".join(one.slug for one in tracks)
        return f"{stored} Choose it on its page, or by `podium choose {twin.pk}`, to let it count on {where}."
    return f"{stored} It counts on {', '.join(on)}." if (on := counts_on(twin)) else stored


def _as_partial(found: Contents) -> str:
    own = "its problem" if found.n_present == 1 else f"its {found.n_present} problems"
    return f"it will not be ranked on the board. It feeds the rankings of {own}; absent ones do not count."


def _as_full(run: DryRun, found: Contents) -> str:
    return "; ".join([_place(run, found.incoming), *_failed(found)]) + "."


def _place(run: DryRun, incoming: IncomingSubmission) -> str:
    """Whether the board ranks it, as far as the file decides that."""
    if not run.metadata.asks_to_count:
        return "it does not ask to count, so the board does not show it"
    k, most = metric_named(run.metadata.release.primary_metric).k or 1, _most(incoming)
    if k > most:
        return f"the board shows it and does not rank it: it ranks by pass@{k}, which needs {k} samples of each problem"
    return "it is ranked on the board once everything is judged"


def _failed(found: Contents) -> list[str]:
    """Sentences on the absent samples that count as failed."""
    parts = []
    if n_tasks := len(found.absent_tasks):
        parts.append(f"the {numbered(n_tasks, 'absent problem')} count{'s' * (n_tasks == 1)} as failed")
    most = _most(found.incoming)
    if n_uneven := len(found.absent) - n_tasks:
        n_lacking = sum(n for task_id, n in found.absent.items() if task_id in found.incoming.sample_counts)
        parts.append(
            f"{numbered(n_uneven, 'problem')} {_have(n_uneven)} fewer than {most} samples, and the "
            f"{numbered(n_lacking, 'missing sample')} count{'s' * (n_lacking == 1)} as failed"
        )
    return parts


def _left_out(run: DryRun, found: Contents) -> Iterator[str]:
    """Absent problems that count nowhere, because a track skips them or they are voided."""
    if not found.absent:
        return
    release = run.metadata.release
    skips = ProblemTrack.objects.filter(problem__release=release, track__in=run.metadata.tracks).exclude(skip_reason="")
    skipped: dict[str, int] = {}
    for slug, task_id in skips.values_list("track__slug", "problem__task_id"):
        skipped[slug] = skipped.get(slug, 0) + (task_id in found.absent)
    for slug, n in sorted(skipped.items()):
        if n:
            yield f"Of these, {n} {_are(n)} skipped on {slug} and {_do(n)} not count there."
    decided = Decision.objects.errata().filter(problem__release=release)
    n_voided = len(set(decided.values_list("problem__task_id", flat=True)) & found.absent.keys())
    if n_voided:
        yield f"Of these, {n_voided} {_are(n_voided)} voided and {_do(n_voided)} not count."


def _ks(run: DryRun, incoming: IncomingSubmission) -> Iterator[str]:
    """The board's pass@k for which there are too few samples."""
    most = _most(incoming)
    if lacking := [f"pass@{k}" for k in sorted(run.metadata.release.ks) if k > most]:
        yield f"{', '.join(lacking)} will be “–”: there {_are(most)} only {numbered(most, 'sample')} of each problem."


def _counted(run: DryRun) -> Iterator[str]:
    """Whether the board will show it, and in place of which."""
    metadata = run.metadata
    held = Counted.objects.filter(entrant=metadata.entrant, release=metadata.release, track__in=metadata.tracks)
    before = dict(held.values_list("track__slug", "submission_id"))
    for track in sorted(metadata.tracks, key=lambda one: one.slug):
        old = before.get(track.slug)
        instead = f" instead of #{old}" if old else ""
        if metadata.asks_to_count:
            name = metadata.entrant.name
            yield f"On {track.slug} it becomes the counted submission of {name}{instead} once it is finished."
        elif old:
            yield f"On {track.slug} #{old} stays the counted submission of {metadata.entrant.name}."


def _most(incoming: IncomingSubmission) -> int:
    """Samples of the problem with most."""
    return max(incoming.sample_counts.values(), default=0)


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _do(n: int) -> str:
    return "does" if n == 1 else "do"

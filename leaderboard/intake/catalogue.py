"""The catalogue a submission is checked against, made once per release content and process."""

from functools import lru_cache

from problems.formats.submission import Catalogue
from problems.models import Problem, Release
from problems.spec.kinds import SITE_KINDS
from problems.spec.profile import Profile
from problems.spec.records import parse_record


@lru_cache(maxsize=8)
def _catalogue(
    release_pk: int, name: str, profile: str, digest: str,  # noqa: ARG001 - digest is the key
    max_samples: int, most_replies: int | None,
) -> Catalogue:  # fmt: skip
    records = Problem.objects.filter(release_id=release_pk).order_by("position").values_list("record", flat=True)
    specs = [parse_record(bytes(record), Profile(profile)) for record in records]
    groups = {spec.task_id: spec.group for spec in specs}
    questions = [spec.task_id for spec in specs if spec.kind in SITE_KINDS] if most_replies else []
    replies = dict.fromkeys(questions, most_replies or 0)
    return Catalogue(name, Profile(profile), groups, {spec.task_id: spec for spec in specs}, max_samples, replies)


def catalogue_of(release: Release) -> Catalogue:
    most_replies = release.question_samples if release.has_sealed_questions else None
    facts = (release.pk, release.datapack_release, release.profile, release.digest)
    return _catalogue(*facts, release.max_samples, most_replies)

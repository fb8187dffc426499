"""The catalogue a submission is checked against, made once per release content and process."""

from functools import lru_cache

from problems.formats.submission import Catalogue
from problems.models import Problem, Release
from problems.spec.profile import Profile
from problems.spec.records import parse_record


@lru_cache(maxsize=8)
def _catalogue(release_pk: int, name: str, profile: str, digest: str, max_samples: int) -> Catalogue:  # noqa: ARG001 - digest is the key
    records = Problem.objects.filter(release_id=release_pk).order_by("position").values_list("record", flat=True)
    specs = [parse_record(bytes(record), Profile(profile)) for record in records]
    groups = {spec.task_id: spec.group for spec in specs}
    return Catalogue(name, Profile(profile), groups, {spec.task_id: spec for spec in specs}, max_samples)


def catalogue_of(release: Release) -> Catalogue:
    return _catalogue(release.pk, release.datapack_release, release.profile, release.digest, release.max_samples)

"""The problems to ask about: of a pack or folder on this machine, or of a release on a site."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from podium.evaluation.inputs import read_problems
from podium.generation.asked import Asked, of_detail, of_record
from podium.generation.errors import CannotGenerate
from podium.remote.api_client import ApiClient, ApiRefused
from podium.remote.site_config import NotConfigured, load
from problems.formats.compute_eval.packs import PackRecord
from problems.formats.errors import PackRefused
from problems.spec.profile import Profile


@dataclass(frozen=True)
class Problems:
    """A release's problems in its order. `groups` are the chosen ones; None: all.

    `records` are the whole problems by task_id, to try solutions on; a site does not give them.
    """

    release: str
    profile: Profile
    asked: Sequence[Asked]
    groups: list[str] | None = None
    records: Mapping[str, PackRecord] = field(default_factory=dict)
    sealed_until: str = ""
    """When the site begins to tell what rests on the release's questions; empty where it tells it."""

    def check_told(self) -> None:
        """Raises CannotGenerate where the release's questions are sealed: there are no verdicts to learn from."""
        if self.sealed_until:
            raise CannotGenerate(
                f"the questions of {self.release} are sealed until {self.sealed_until}: the site tells nothing that"
                " rests on them before, and an entrant's first reply counts. Train on a release whose questions are"
                " for practice, or on a problem pack with --problems"
            )

    def narrowed(self, include: Sequence[str], exclude: Sequence[str]) -> "Problems":
        """The problems of some groups. Raises CannotGenerate for unknown groups, for both kinds, or if nothing is
        left."""
        if include and exclude:
            raise CannotGenerate("--include and --exclude exclude each other; give one")
        known = list(dict.fromkeys(one.group for one in self.asked))
        if unknown := sorted({*include, *exclude} - set(known)):
            raise CannotGenerate(f"{self.release} has no group {unknown[0]!r}; it has {', '.join(known)}")
        if not include and not exclude:
            return self
        groups = [group for group in known if (group in include if include else group not in exclude)]
        asked = [one for one in self.asked if one.group in groups]
        if not asked:
            raise CannotGenerate("no problem is left: the groups exclude all")
        records = {one.task_id: self.records[one.task_id] for one in asked if one.task_id in self.records}
        return Problems(self.release, self.profile, asked, groups, records, self.sealed_until)


def of_pack(path: Path) -> Problems:
    """Raises CannotGenerate."""
    try:
        pack = read_problems(path, [])
    except PackRefused as refused:
        raise CannotGenerate(f"{path}: {refused}") from refused
    strict = pack.profile is Profile.COMPUTE_EVAL
    asked = [of_record(record.problem, is_strict=strict) for record in pack.records]
    records = {record.problem.task_id: record for record in pack.records}
    return Problems(str(pack.metadata.release), pack.profile, asked, records=records)


def of_site(slug: str) -> Problems:
    """A release that the user may see on the configured site. Raises CannotGenerate."""
    try:
        api = ApiClient(load())
        release = api.get(f"releases/{slug}")
        details = [api.get(f"releases/{slug}/problems/{row['slug']}") for row in api.rows(f"releases/{slug}/problems")]
    except (ApiRefused, NotConfigured) as error:
        raise CannotGenerate(str(error)) from error
    profile = Profile(release["profile"])
    asked = [of_detail({**detail, "profile": profile.value}) for detail in details]
    sealed_until = release.get("reveals_at") or "" if release.get("questions_are_sealed") else ""
    return Problems(release["datapack_release"], profile, asked, sealed_until=sealed_until)

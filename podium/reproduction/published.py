"""A site's published data of one evaluation: its result, and the facts of its grading."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from podium.remote import site_config
from podium.remote.api_client import ApiClient, ApiRefused
from podium.remote.site_config import NotConfigured, Site
from runners.wire.protocol import Profiler, Role, TimingPolicy

_PLACE = "/evaluations/"


WITH_PACK = "If you have the release's problem pack, name it with --problems."


class CannotReproduce(Exception):
    """The message says what is lacking and how to get it."""


@dataclass(frozen=True)
class PublishedTime:
    """A candidate's time in one case, in ms; the ends are None where no interval was published."""

    case: str
    median_ms: float
    low_ms: float | None
    high_ms: float | None
    n_runs: int


@dataclass(frozen=True)
class Published:
    """An evaluation with its current result, as the API has it."""

    told: Mapping[str, Any]

    @property
    def pk(self) -> int:
        return int(self.told["id"])

    @property
    def task_id(self) -> str:
        return str(self.told["task_id"])

    @property
    def track(self) -> str:
        return str(self.told["track"])

    @property
    def result(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.told["result"]
        return found

    @property
    def recipe(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.told["reproduce"]
        return found

    @property
    def provenance(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.result["provenance"]
        return found

    @property
    def verdict(self) -> str:
        return str(self.result["verdict"])

    @property
    def times(self) -> list[PublishedTime]:
        rows = [row for row in self.result["measurements"] if row["role"] == Role.CANDIDATE]
        return [
            PublishedTime(row["case"], row["median_ms"], row["ci_low_ms"], row["ci_high_ms"], len(row["runs_ms"]))
            for row in rows
        ]

    @property
    def timing(self) -> TimingPolicy:
        named = self.provenance.get("timing_policy")
        return TimingPolicy(named) if named in set(TimingPolicy) else TimingPolicy.QUICK

    @property
    def profiler(self) -> Profiler:
        named = str(self.provenance.get("profiler") or "").partition(" ")[0]
        return Profiler(named) if named in (Profiler.CUPTI, Profiler.NCU) else Profiler.NONE

    @property
    def timed_cases(self) -> Sequence[str] | None:
        found: Sequence[str] | None = self.recipe["timed_cases"]
        return found


def client_for(evaluation: str) -> tuple[ApiClient, int]:
    """The site's client and the number, from a number or from the address of the evaluation's page.

    A token is sent to its own site only. Raises NotConfigured, and CannotReproduce for other text.
    """
    if evaluation.isdigit():
        return ApiClient(site_config.load()), int(evaluation)
    parts = urlsplit(evaluation)
    folder, _, pk = parts.path.rstrip("/").rpartition(_PLACE)
    if not parts.scheme or not pk.isdigit():
        words = "is neither an evaluation's number nor the address of its page, as https://host/evaluations/12/"
        raise CannotReproduce(f"{evaluation!r} {words}.")
    url = site_config.normal_url(f"{parts.scheme}://{parts.netloc}{folder}")
    try:
        known = site_config.load()
    except NotConfigured:
        known = Site(url)
    return ApiClient(known if known.url == url else Site(url)), int(pk)


def fetched(client: ApiClient, pk: int) -> Published:
    """The evaluation. Raises ApiRefused, and CannotReproduce if it cannot be judged again."""
    try:
        told = client.get(f"evaluations/{pk}")
    except ApiRefused as refused:
        if refused.status != 404:
            raise
        raise CannotReproduce(
            f"{client.site.url} has no evaluation {pk} that you may see. If its release or its results are private,"
            " run `podium login` with an account that may see them."
        ) from refused
    if told["result"] is None:
        raise CannotReproduce(f"Evaluation {pk} has no result that you may see yet: it is {told['state']}.")
    if told["reproduce"] is None:
        reason = told["result"]["reason"] or told["result"]["verdict"]
        raise CannotReproduce(f"Evaluation {pk} was not judged: {reason}. There is nothing to run again.")
    return Published(told)


def solution_of(client: ApiClient, published: Published) -> bytes:
    """The sample as a pack. Raises ApiRefused, and CannotReproduce if it is not published."""
    try:
        return client.content(f"evaluations/{published.pk}/solution.tar.gz")
    except ApiRefused as refused:
        if refused.code not in ("solution_private", "solution_lost"):
            raise
        raise CannotReproduce(f"The solution of evaluation {published.pk} cannot be had. {refused}") from refused

"""A file of problems between the report and the import: stored as a blob, named by what the browser keeps."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core import signing

from leaderboard import blobs
from leaderboard.errors import Refused
from problems.actions.releases import PackUnfit, ReleaseRefused, read_for_site
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.errors import PackRefused
from problems.formats.problem_archive import read_problem_archive

_SALT = "podium.import"
KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True)
class SentFile:
    """A file and what was said of it."""

    content: bytes
    slug: str = ""
    head: dict[str, str] | None = None

    @classmethod
    def before(cls, signed: str) -> "SentFile":
        """Raises Refused if it is here no more."""
        try:
            sha256, slug, head = signing.loads(signed, salt=_SALT, max_age=KEPT_SECONDS)
            with blobs.store().open(sha256) as file:
                return cls(file.read(), slug, head)
        except (signing.BadSignature, blobs.BlobMissing) as missing:
            words = "The file that was reported on is here no more. Choose it again."
            raise Refused("file_gone", words) from missing

    def kept(self) -> str:
        """Store the file; returns what the browser keeps of it."""
        return signing.dumps([blobs.store().put(self.content), self.slug, self.head], salt=_SALT)

    def pack(self) -> ProblemPack:
        """Raises PackRefused and PackUnfit."""
        with read_for_site():
            return read_problem_archive(self.content, head=self.head)


def faults_of(refused: Exception) -> Sequence[str]:
    """A sentence for each fault of a refusal."""
    return refused.faults if isinstance(refused, PackUnfit) else (str(refused),)


REFUSALS: tuple[type[Exception], ...] = (Refused, ReleaseRefused, PackRefused)

"""Seed a fresh site from outside pytest: release, track, entrant and tokens of each kind; prints these as JSON."""

import json
import secrets
import sys
from datetime import timedelta
from pathlib import Path

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.utils import timezone  # noqa: E402

from leaderboard.actions.curation.tracks import offer  # noqa: E402
from leaderboard.actions.intake.pmpp_runs import NewToken, issue_token  # noqa: E402
from leaderboard.models import ApiToken, Entrant, Track  # noqa: E402
from problems.actions.releases import import_release, publish  # noqa: E402
from problems.formats.compute_eval.packs import problem_pack_from  # noqa: E402
from problems.models import Release  # noqa: E402
from runners.fleet.attempts.claim import digest_of  # noqa: E402
from runners.fleet.models import Node, NodeGrant  # noqa: E402


def main(folder: Path) -> dict[str, str]:
    owner = User.objects.create_user("owner", password=secrets.token_hex())
    entrant = Entrant.objects.create(slug="one", name="One", owner=owner)
    pack = problem_pack_from((folder / "metadata.json").read_bytes(), (folder / "problems.jsonl").read_bytes())
    release = import_release(pack).release
    track = Track.objects.create(slug="cpu-test", title="Test CPU", device="cpu")
    offer(owner, release, track)
    publish(release)
    Release.objects.update(is_public=True)
    expires = timezone.now() + timedelta(days=1)
    tokens = {"user": ApiToken.issue(owner, "e2e", ["read", "submit"], expires)[1]}
    tokens["pmpp"] = issue_token(owner, NewToken(entrant, Release.objects.get(), track, "e2e", 100, expires))[1]
    for name in ("node", "node-2"):
        tokens[name] = secrets.token_urlsafe(24)
        node = Node.objects.create(slug=name, token_digest=digest_of(tokens[name]))
        NodeGrant.objects.create(node=node, track=track, stage="both")
    return tokens


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]))))

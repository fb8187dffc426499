"""Types of the demo's rows, free of Django, so that they can be imported before Django is set up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demo.entrants import DemoEntrant


@dataclass(frozen=True)
class BoardName:
    """Names one board by its release's and its track's slug."""

    release: str
    track: str


@dataclass(frozen=True)
class LiveRelease:
    """A release that the demo's node grades."""

    board: BoardName
    datapack_release: str
    task_ids: Mapping[str, str]
    """Problem slug to the task_id that packs use."""
    entrants: Sequence[DemoEntrant]


@dataclass(frozen=True)
class Seed:
    """The rows and links that a running site needs. The tokens and links are new in every run, so none is kept in a
    file."""

    api_token: str
    node_token: str
    organiser_link: str
    """A path that signs in once."""
    participant_link: str
    imported: Sequence[BoardName]
    """The boards of imported results."""

"""Database triggers for attempts: their state only moves forward."""

from problems.triggers import Guard, guard
from runners.fleet.models import Attempt

_BACKWARDS = (
    "OLD.state <> 'leased' AND NEW.state <> OLD.state AND NOT (OLD.state = 'expired' AND NEW.state = 'reported')"
)


def register() -> None:
    guard(Guard(Attempt._meta.db_table, "UPDATE", "forward", _BACKWARDS, "an attempt state only moves forward"))

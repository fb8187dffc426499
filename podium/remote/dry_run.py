"""The site's answer to a dry run, as lines for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SHOWN_NAMES = 20


def lines(said: Mapping[str, Any]) -> Iterator[str]:
    """The report: what would come of it, every fault with its remedy, samples that would be invalid, and the quota."""
    if said["summary"]:
        yield f"{said['summary']}, for {said['entrant']} on {said['release']} ({', '.join(said['tracks'])})."
    yield from said["effects"]
    yield from said["notices"]
    found = said["contents"]
    if found:
        yield from _problems(found)
        for fault in found["invalid"]:
            yield _with_remedy(fault)
        if (n_more := found["n_invalid"] - len(found["invalid"])) > 0:
            yield f"and {n_more} more invalid samples"
    for fault in said["faults"]:
        yield f"Refused ({fault['code']}): {_with_remedy(fault)}"
    if (n_more := said["n_faults"] - len(said["faults"])) > 0:
        yield f"and {n_more} more faults"
    if found:
        yield _quota(said)
    yield "The site would take it." if said["accepted"] else "The site would refuse it. Nothing is stored."


def _problems(found: Mapping[str, Any]) -> Iterator[str]:
    if found["samples"]:
        yield f"Samples: {_listed([f'{task_id} {n}' for task_id, n in found['samples'].items()])}"
    if found["absent"]:
        yield f"Absent: {_listed(found['absent'])}"


def _listed(names: Sequence[str]) -> str:
    rest = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return f"{', '.join(names[:SHOWN_NAMES])}{rest}"


def _with_remedy(fault: Mapping[str, Any]) -> str:
    return f"{fault['message']} {fault['remedy']}".strip()


def _quota(said: Mapping[str, Any]) -> str:
    uses, after = said["uses"], said["quota_after"]
    words = f"It takes {uses['evaluations']:,} evaluations and {uses['bytes']:,} bytes"
    if after is None:
        return f"{words}; your account has no daily quota."
    left, of = after["left"], after["quota"]
    if not said["accepted"]:
        return f"{words}; {left['evaluations']:,} of {of['evaluations']:,} evaluations are left today."
    return f"{words}; {left['evaluations']:,} of {of['evaluations']:,} evaluations are left today after it."

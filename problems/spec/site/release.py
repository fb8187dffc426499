"""A site's rules for the values that say how a release ranks."""

from collections.abc import Collection, Iterator, Mapping


def why_bad_weights(weights: Mapping[str, float], groups: Collection[str]) -> str:
    """Which of the weights are of no group of the release's problems, in words, or ""."""
    unknown = [name for name in weights if name not in groups]
    if not unknown:
        return ""
    named = ", ".join(repr(name[:60]) for name in unknown[:5]) + (" and others" if len(unknown) > 5 else "")
    known = ", ".join(sorted(groups)[:20])
    return f"has weights of {named}, which is no group of its problems{f' ({known})' if known else ''}"


def why_bad_case_weights(weights: Mapping[str, Mapping[str, float]], cases: Mapping[str, Collection[str]]) -> str:
    """Which task or case of the weights the release does not have, in words, or "". `cases` are the names by task."""
    unknown = list(_unknown_cases(weights, cases))
    more = " and others" if len(unknown) > 5 else ""
    return f"has weights of {', '.join(unknown[:5])}{more}, which the release does not have" if unknown else ""


def _unknown_cases(weights: Mapping[str, Mapping[str, float]], cases: Mapping[str, Collection[str]]) -> Iterator[str]:
    for task, of_task in weights.items():
        if task not in cases:
            yield f"task {task[:60]!r}"
        else:
            yield from (f"case {name[:60]!r} of {task[:60]!r}" for name in of_task if name not in cases[task])

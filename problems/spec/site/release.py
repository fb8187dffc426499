"""A site's rules for the values that say how a release ranks."""

from collections.abc import Collection, Mapping


def why_bad_weights(weights: Mapping[str, float], groups: Collection[str]) -> str:
    """Which of the weights are of no group of the release's problems, in words, or ""."""
    unknown = [name for name in weights if name not in groups]
    if not unknown:
        return ""
    named = ", ".join(repr(name[:60]) for name in unknown[:5]) + (" and others" if len(unknown) > 5 else "")
    known = ", ".join(sorted(groups)[:20])
    return f"has weights of {named}, which is no group of its problems{f' ({known})' if known else ''}"

"""Numbers with their nouns."""


def numbered(n: int, noun: str, verb: str = "") -> str:
    """A number and its noun, and the verb that both need: (1, "sample", "is") → `1 sample is`, 1,204 → `1,204 samples
    are`. Other verbs are given as of one: `stops` → `stop`."""
    if n != 1:
        noun += "es" if noun.endswith("s") else "s"
        verb = {"is": "are", "was": "were"}.get(verb, verb.removesuffix("s"))
    return f"{n:,} {noun} {verb}".rstrip()

"""An entrant's declarations on a submission's generation, as facts for a page."""

from leaderboard.models import Submission
from leaderboard.site.numerals import dollars, tokens
from problems.spec.generation import Generation, Parameters, Usage, read_generation

Fact = tuple[str, str]
"""A term and its text."""


def facts_of(submission: Submission) -> list[Fact]:
    """The declared facts; none where the pack declared nothing."""
    generation, _ = read_generation(submission.generation)
    facts = [
        ("Model", _model(generation)),
        ("Host", generation.host),
        ("Parameters", _parameters(generation.parameters)),
        ("Turns", _turns(generation.agentic.most_turns)),
        *_usage(generation.usage, submission),
        ("Time", _time(generation)),
        ("Prompt templates", _digest(generation.templates_sha256)),
        ("Versions", ", ".join(f"{name} {version}" for name, version in generation.versions.items())),
    ]
    return [(term, text) for term, text in facts if text]


def _model(generation: Generation) -> str:
    others = ", ".join(name for name in generation.models_reported if name != generation.model)
    if not others:
        return generation.model
    return f"{generation.model} (the endpoint says {others})" if generation.model else others


def _digest(sha256: str | None) -> str:
    return f"sha256 {sha256[:12]}…" if sha256 else ""


def _turns(most: int | None) -> str:
    return f"at most {most} a sample, each after a trial of the one before" if most else ""


def _parameters(parameters: Parameters) -> str:
    return ", ".join(f"{name} {_plain(value)}" for name, value in parameters if value is not None)


def _plain(value: float | str | bool) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _usage(usage: Usage, submission: Submission) -> list[Fact]:
    places = [("prompts", usage.prompt_tokens), ("replies", usage.completion_tokens)]
    counts = ", ".join(f"{count:,} in {place}" for place, count in places if count is not None)
    facts = [("Requests", "" if usage.requests is None else f"{usage.requests:,}"), ("Tokens", counts)]
    if submission.tokens_per_sample is not None:
        facts.append(("Tokens per sample", tokens(submission.tokens_per_sample)))
    if usage.cost is not None:
        facts.append(("Cost", f"US$ {dollars(usage.cost)}"))
    if submission.usd_per_sample is not None:
        facts.append(("Cost per sample", f"US$ {dollars(submission.usd_per_sample)}"))
    return facts


def _time(generation: Generation) -> str:
    usage, ends = generation.usage, [one for one in (generation.first_reply, generation.last_reply) if one]
    days = " to ".join(f"{one[:10]} {one[11:16]}" for one in dict.fromkeys(ends))
    median = "" if usage.seconds_median is None else f"median {usage.seconds_median:,.3g} s a reply"
    return "; ".join(one for one in (f"{days} UTC" if days else "", median) if one)

"""The options that `podium generate` and `podium run` share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from podium.evaluation.sandboxes import SandboxName


class Effort(StrEnum):
    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


Problems = Annotated[Path | None, typer.Option(exists=True, help="A problem pack, or a folder of problems.")]
Release = Annotated[str, typer.Option(help="Instead: a release on the site of `podium login`, by its slug.")]
BaseUrl = Annotated[str, typer.Option(help="An OpenAI-compatible endpoint.")]
KeyName = Annotated[
    str | None, typer.Option(help="The environment variable with the key, for hosts that Podium does not know.")
]
Include = Annotated[list[str] | None, typer.Option(help="Only these groups, separated by commas.")]
Exclude = Annotated[list[str] | None, typer.Option(help="All groups but these.")]
Samples = Annotated[int, typer.Option("--samples", "-n", min=1, max=100, help="Samples of each problem.")]
Temperature = Annotated[float | None, typer.Option(min=0, max=5)]
TopP = Annotated[float | None, typer.Option(min=0, max=1)]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Most tokens of a reply.")]
Seed = Annotated[int | None, typer.Option(help="Sample k is asked for with seed + k.")]
Reasoning = Annotated[Effort | None, typer.Option(help="Reasoning effort, for endpoints that know it.")]
Thinking = Annotated[
    bool | None, typer.Option("--thinking/--no-thinking", help="Thinking by the chat template, as vLLM does.")
]
Agentic = Annotated[
    int,
    typer.Option(min=1, max=20, help="Most replies of a sample; each sees the output of a trial of the one before."),
]
Sandbox = Annotated[SandboxName | None, typer.Option(help="What confines the commands of solutions.")]
Trials = Annotated[int | None, typer.Option(min=1, max=256, help="Trials at a time. Default: one for each core.")]
Price = Annotated[float | None, typer.Option(min=0, help="US$ per million tokens: prompts (in), replies (out).")]

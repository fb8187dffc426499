"""Makes the messages of a request from templates, one for each kind of problem; a folder may replace any of them."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files as resources
from pathlib import Path
from string import Template
from typing import Any

from podium.generation.asked import Asked
from podium.generation.errors import CannotGenerate
from problems.spec.kinds import Kind
from problems.spec.question.lenient import LETTERS
from problems.spec.solution import SourceFile

SYSTEM, FOLLOW_UP = "system", "follow_up"
NAMES = (SYSTEM, FOLLOW_UP, *(kind.value for kind in Kind))
_FENCES = {".cu": "cuda", ".cuh": "cuda", ".cpp": "cpp", ".h": "cpp", ".hpp": "cpp", ".py": "python"}
_TICKS = re.compile("`+")

Message = dict[str, str]


@dataclass(frozen=True)
class Machine:
    """Where the solutions will run, in words; empty where it is not known."""

    toolkit: str = ""
    architecture: str = ""


class Prompts:
    """The templates in use. Raises CannotGenerate for a template that cannot be used."""

    def __init__(self, folder: Path | None = None, system: str | None = None, machine: Machine | None = None) -> None:
        self._texts = {name: _text(name, folder) for name in NAMES}
        if system is not None:
            self._texts[SYSTEM] = system
        self._machine = machine or Machine()
        self.follow_up("", "", 1)

    @property
    def digest(self) -> str:
        """sha256 of all templates."""
        text = "\0".join(f"{name}\0{self._texts[name]}" for name in NAMES)
        return hashlib.sha256(text.encode()).hexdigest()

    def messages(self, asked: Asked, reference_text: str = "") -> list[Message]:
        """System and user message for a problem; `reference_text` is what a retrieval service or a file adds."""
        try:
            user = Template(self._texts[asked.kind]).substitute(self._values(asked))
        except (KeyError, ValueError) as error:
            raise CannotGenerate(f"the template {asked.kind}.txt cannot be filled in: {error}") from error
        if reference_text:
            user += f"\nReference documents\n-------------------\n{reference_text}\n"
        system = self._texts[SYSTEM].strip()
        return [*([{"role": "system", "content": system}] if system else []), {"role": "user", "content": user}]

    def follow_up(self, result: str, output: str, n_left: int) -> Message:
        """The user's message after a reply that did not pass; `n_left` counts the replies that may still come."""
        shown = _fenced(output, "") if output.strip() else ""
        try:
            text = Template(self._texts[FOLLOW_UP]).substitute(result=result, output=shown, left=str(n_left))
        except (KeyError, ValueError) as error:
            raise CannotGenerate(f"the template {FOLLOW_UP}.txt cannot be filled in: {error}") from error
        return {"role": "user", "content": text}

    def _values(self, asked: Asked) -> dict[str, str]:
        path = next(iter(asked.starter_paths), "solution.cu")
        return {
            "statement": asked.statement.strip(),
            "environment": _environment(asked, self._machine),
            "files": _blocks([*asked.files, *_first(asked)]),
            "path": path,
            "comment": "#" if path.endswith((".py", ".sh")) else "//",
            "signatures": "\n".join(_signatures(asked.facts.get("signatures") or {})),
            "choices": "\n".join(_choices(asked.facts.get("choices") or ())),
            "final_line": str(asked.facts.get("final_line", "")),
        }


def _text(name: str, folder: Path | None) -> str:
    own = folder / f"{name}.txt" if folder else None
    try:
        if own and own.exists():
            return own.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotGenerate(f"the template {own} cannot be read: {error}") from error
    return resources("podium.generation").joinpath("templates", f"{name}.txt").read_text(encoding="utf-8")


def _first(asked: Asked) -> Sequence[SourceFile]:
    """Starter code of the usual language, if it says anything that no other file says."""
    given = {file.path for file in asked.files}
    files = next(iter(asked.starters.values()), ())
    return [file for file in files if file.content.strip() and file.path not in given]


def _environment(asked: Asked, machine: Machine) -> str:
    facts = asked.facts
    lines = [
        ("Built by", facts.get("build_command")),
        ("CUDA toolkit", machine.toolkit or facts.get("min_cuda_toolkit")),
        ("GPU architecture", machine.architecture or facts.get("compute_capability")),
        ("Languages", ", ".join(facts.get("languages") or ())),
        ("Runs on", {"cpu": "a processor", "gpu": "a GPU"}.get(str(facts.get("device", "")))),
        ("The sources must name", facts.get("required_names")),
        ("Limit", _limit(facts.get("timeout_seconds") or facts.get("time_limit_seconds"))),
    ]
    return "\n".join(f"{label}: {value}" for label, value in lines if value)


def _limit(seconds: Any) -> str:
    return f"{float(seconds):g} s" if seconds else ""


def _blocks(files: Sequence[SourceFile]) -> str:
    shown = [f"{file.path}\n{_fenced(file.content, _FENCES.get(Path(file.path).suffix, ''))}" for file in files]
    return "\n\n".join(["Given files", *shown]) if shown else ""


def _fenced(text: str, language: str) -> str:
    """The text in a fence that is longer than any in it."""
    longest = max(map(len, _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _signatures(signatures: dict[str, str]) -> list[str]:
    return [f"{language}: {text}" for language, text in signatures.items()]


def _choices(choices: Sequence[str]) -> list[str]:
    return [f"{letter}. {text}" for letter, text in zip(LETTERS, choices, strict=False)]

"""Rules of a question for a solution: one file with the reply."""

from collections.abc import Sequence
from dataclasses import dataclass

from problems.spec.solution import SourceFile

ANSWER_PATH = "answer.txt"
MAX_CHARACTERS = 100_000


def reply_in(files: Sequence[SourceFile]) -> str:
    """The text of the reply."""
    return files[0].content if files else ""


@dataclass(frozen=True)
class QuestionRules:
    """The same for every question."""

    def why_bad(self, files: Sequence[SourceFile]) -> str:
        """Say why these files may not be a solution, or return "" if they may."""
        if [file.path for file in files] != [ANSWER_PATH]:
            named = ", ".join(ascii(file.path) for file in files[:3]) or "none"
            return f"the solution has the files {named}; give one, {ANSWER_PATH}, with the reply"
        if len(files[0].content) > MAX_CHARACTERS:
            return f"the reply has {len(files[0].content)} characters; at most {MAX_CHARACTERS} are read"
        return ""

    def path_faults(self, paths: Sequence[str]) -> dict[int, str]:
        """There is one name for a reply."""
        return {place: f"{path!a} is not {ANSWER_PATH}" for place, path in enumerate(paths) if path != ANSWER_PATH}

    def language_of(self, files: Sequence[SourceFile]) -> str:  # noqa: ARG002 - a reply has none
        """Empty: a reply is written in no language of programs."""
        return ""

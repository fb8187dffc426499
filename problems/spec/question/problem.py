"""Questions: a choice among texts, or a short answer. The site settles them; a solution is one file with the reply."""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    JsonValue,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from problems.spec.case import Case
from problems.spec.errors import RecordError, explain
from problems.spec.hardware import Hardware
from problems.spec.kinds import Kind
from problems.spec.podium_metadata import PodiumMetadata
from problems.spec.profile import Profile
from problems.spec.question import lenient, strict
from problems.spec.question.patterns import why_bad
from problems.spec.question.rules import ANSWER_PATH, QuestionRules, reply_in
from problems.spec.record import ProblemFile, ProblemRecord, Settled, TimedWork
from problems.spec.solution import FileSolution, SourceFile

QUESTION_SCHEMA_VERSION = 1
Grading = Literal["lenient", "pmpp-strict"]
"""How a reply is read: as a fair person would, or as pmpp-eval's own code does."""
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Pattern = Annotated[str, Field(min_length=1, max_length=500)]


class Source(BaseModel):
    """Where the fact of a question is documented."""

    model_config = ConfigDict(extra="forbid")

    title: str
    url: Annotated[str, Field(pattern=r"^https://")]
    section: str = ""


class QuestionProblem(ProblemRecord):
    """The common parts of both kinds of questions. Only organisers may read the answer; all may read the explanation
    later."""

    model_config = ConfigDict(extra="forbid")

    podium_model: ClassVar[type[PodiumMetadata]] = PodiumMetadata

    schema_version: int = QUESTION_SCHEMA_VERSION
    answer: Annotated[str, Field(min_length=1, max_length=500)]
    grading: Grading = "lenient"
    final_answer_patterns: Annotated[list[Pattern], Field(max_length=20)] = Field(default_factory=list)
    """Regular expressions, in any case, that capture the answer in a reply. They are tried before the usual forms."""
    explanation: str = Field(default="", max_length=20_000)
    salt: str = Field(default="", max_length=200)
    """Any text that nobody can guess. With it, or an explanation, the release's public digest does not tell answers."""
    sources: Annotated[list[Source], Field(max_length=20)] = Field(default_factory=list)

    @field_validator("final_answer_patterns")
    @classmethod
    def _are_patterns(cls, patterns: list[str]) -> list[str]:
        if reason := why_bad(patterns):
            raise ValueError(reason)
        return patterns

    @model_validator(mode="after")
    def _accepts_its_answer(self) -> Self:
        settled = self.settled(self.reference.files)
        if settled is None or not settled.passed:
            why = settled.reason if settled else ""
            raise ValueError(f"does not accept its own answer {self.answer!r}: {why}")
        return self

    @model_serializer(mode="wrap")
    def _with_kind(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"kind": self.kind.value, **handler(self)}

    @abstractmethod
    def agrees(self, reply: str) -> tuple[str, bool]:
        """The reading of the reply ("" if it declares nothing that can be told), and whether that is right.

        Raises PatternTooSlow.
        """

    def settled(self, files: Sequence[SourceFile]) -> Settled:
        read_as, right = self.agrees(reply_in(files))
        if right:
            return Settled(passed=True, read_as=read_as, reason="")
        said = f"The reply was read as {read_as[:200]!r}, which is not the answer." if read_as else _UNREAD
        return Settled(passed=False, read_as=read_as, reason=said)

    @property
    def after_closing(self) -> str:
        return self.explanation

    @property
    def is_guessable(self) -> bool:
        return not self.explanation and not self.salt

    @property
    def final_line(self) -> str:
        """How a reply declares its answer, in words for people and models."""
        return f"Final: <{'letter' if self.kind is Kind.CHOICE else 'answer'}>"

    @property
    def reference(self) -> FileSolution:
        return self._reply(f"Final: {self.answer}\n")

    @property
    def empty(self) -> FileSolution:
        return self._reply("")

    def _reply(self, text: str) -> FileSolution:
        return FileSolution(task_id=self.task_id, files=[SourceFile(path=ANSWER_PATH, content=text)])

    @property
    def files(self) -> list[ProblemFile]:
        return []

    @property
    def starter_files(self) -> list[SourceFile]:
        return [SourceFile(path=ANSWER_PATH, content="")]

    @property
    def starters(self) -> Mapping[str, list[SourceFile]]:
        return {"": self.starter_files}

    @property
    def cases(self) -> tuple[Case, ...]:
        return ()

    def times_rank(self, *, with_gpu: bool) -> bool:  # noqa: ARG002 - a question has no times
        return False

    @property
    def timed_work(self) -> TimedWork | None:
        return None

    @property
    def times_its_test(self) -> bool:
        return True

    @property
    def has_separate_harness(self) -> bool:
        return True

    @property
    def ending_early(self) -> FileSolution | None:
        return None

    @property
    def withheld(self) -> list[str] | None:
        return []

    @property
    def may_withhold(self) -> list[str]:
        return []

    @property
    def trial_runs_tests(self) -> bool:
        return False

    def public_facts(self) -> dict[str, JsonValue]:
        return {"grading": self.grading, "final_line": self.final_line}

    def rules(self) -> QuestionRules:
        return QuestionRules()

    def why_skipped(self, hardware: Hardware) -> str:  # noqa: ARG002 - needs no machine
        return ""


_UNREAD = "The reply declares no answer that can be told. End it with a line such as `Final: …`."
_LETTERED = re.compile(r"^\(?([A-Z])[.):]\s+")


class ChoiceProblem(QuestionProblem):
    """One of several texts is right; the answer is its letter."""

    kind: ClassVar[Kind] = Kind.CHOICE

    type: Literal["choice"] = "choice"
    choices: Annotated[list[Text], Field(min_length=2, max_length=len(lenient.LETTERS))]
    """The texts of A, B, C … without their letters."""

    @field_validator("choices")
    @classmethod
    def _without_letters(cls, choices: list[str]) -> list[str]:
        found = [_LETTERED.match(choice) for choice in choices]
        if all(one and one[1] == letter for one, letter in zip(found, lenient.LETTERS, strict=False)):
            choices = [_LETTERED.sub("", choice) for choice in choices]
        if len({choice.casefold() for choice in choices}) < len(choices):
            raise ValueError("lists one text twice")
        return choices

    @field_validator("answer")
    @classmethod
    def _is_a_letter(cls, answer: str) -> str:
        if not re.fullmatch(r"[A-Za-z]", answer.strip()):
            raise ValueError("must be the letter of a choice")
        return answer.strip().upper()

    @property
    def lettered_choices(self) -> list[tuple[str, str]]:
        return list(zip(lenient.LETTERS, self.choices, strict=False))

    def agrees(self, reply: str) -> tuple[str, bool]:
        if self.answer not in lenient.LETTERS[: len(self.choices)]:
            return "", False
        if self.grading == "pmpp-strict":
            read = strict.read(reply, strict.patterns_of_choice(self.final_answer_patterns))
            return read, strict.agrees(read, self.answer, 0.0)
        letter = lenient.chosen_letter(lenient.declared(reply, self.final_answer_patterns), self.choices)
        return letter, letter == self.answer

    def public_facts(self) -> dict[str, JsonValue]:
        return {**super().public_facts(), "choices": list(self.choices)}


class ShortAnswerProblem(QuestionProblem):
    """The answer is a number, a name or a few words."""

    kind: ClassVar[Kind] = Kind.SHORT_ANSWER

    type: Literal["short_answer"] = "short_answer"
    numeric_tolerance: Annotated[FiniteFloat, Field(ge=0)] = 0.0
    """Largest difference from the answer that is right, absolute, in the answer's unit."""
    accept: Annotated[list[Annotated[str, Field(min_length=1, max_length=500)]], Field(max_length=50)] = Field(
        default_factory=list
    )
    """Other texts that are as right as the answer. `pmpp-strict` knows none."""

    def agrees(self, reply: str) -> tuple[str, bool]:
        if self.grading == "pmpp-strict":
            read = strict.read(reply, self.final_answer_patterns)
            return read, strict.agrees(read, self.answer, self.numeric_tolerance)
        read = lenient.declared(reply, self.final_answer_patterns)
        right = [self.answer, *self.accept]
        return read, any(lenient.agrees(read, one, self.numeric_tolerance) for one in right)


_KINDS: Mapping[Kind, type[QuestionProblem]] = {Kind.CHOICE: ChoiceProblem, Kind.SHORT_ANSWER: ShortAnswerProblem}


def question_from(data: dict[str, Any], profile: Profile) -> QuestionProblem:
    """Read a question from decoded JSON whose `kind` is that of a question; raises RecordError."""
    fields = {key: value for key, value in data.items() if key != "kind"}
    try:
        return _KINDS[Kind(data["kind"])].model_validate(fields, context={"profile": profile})
    except ValidationError as error:
        raise RecordError(explain(error)) from error

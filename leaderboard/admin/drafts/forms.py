"""Forms of problems: one for each kind. They edit the decoded JSON of a record and keep what they do not show."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, get_args

from django import forms
from django.core.exceptions import ValidationError

from leaderboard.admin.drafts.fields import Blocks, Lines, Text, kept_text, overlay
from problems.actions.drafts import RecordRefused
from problems.spec.case import Dtype
from problems.spec.kinds import Kind
from problems.spec.podium_metadata import ProblemLimits
from problems.spec.profile import Profile

Fields = dict[str, Any]
FILE_FIELDS = frozenset({"context_files", "test_files", "baseline_solution", "starter", "known_bad"})
LIMITS = tuple(ProblemLimits.model_fields)
_DTYPES = [(one, one) for one in get_args(Dtype)]


def _small(words: str = "", **more: Any) -> forms.CharField:
    return forms.CharField(required=False, help_text=words, **more)


def _number(words: str = "", **more: Any) -> forms.FloatField:
    return forms.FloatField(required=False, help_text=words, widget=forms.NumberInput(attrs={"step": "any"}), **more)


class ProblemForm(forms.Form):
    """Fields of problems of every kind. `groups` are the fieldsets of the page: a heading and names of fields."""

    title = forms.CharField(required=False, max_length=300, help_text="Shown in lists; the task_id where it is empty.")
    task_id = forms.CharField(
        max_length=200, label="task_id", help_text="Names the problem in packs. Unique in its release."
    )
    group = forms.CharField(max_length=60, help_text="Boards sum up the results of each group.")
    difficulty = _small("As easy, medium, hard.", max_length=40)
    tags = _small("Separated by commas.", max_length=1000)
    date = _small("When it was written, as 2026-01-31.", max_length=40)
    do_not_release = forms.BooleanField(
        required=False, label="Do not release", help_text="Marks the problem as one that no export may give away."
    )
    prompt = Text(label="Statement", required=False, rows=18, help_text="Markdown.")

    is_podium = True
    groups: ClassVar[Sequence[tuple[str, Sequence[str]]]] = ()
    _podium_only: ClassVar[frozenset[str]] = frozenset({"title"})
    _words: ClassVar = ("task_id", "title", "group", "difficulty", "tags", "date", "do_not_release")

    def __init__(self, *args: Any, profile: str = Profile.PODIUM.value, **more: Any) -> None:
        super().__init__(*args, **more)
        self.is_podium = profile == Profile.PODIUM.value
        if not self.is_podium:
            for name in self._podium_only & self.fields.keys():
                del self.fields[name]

    @property
    def fieldsets(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Headings with their fields; a fieldset without one is left out."""
        both = [(heading, [self[name] for name in names if name in self.fields]) for heading, names in self.groups]
        return [(heading, fields) for heading, fields in both if fields]

    @property
    def words(self) -> list[forms.BoundField]:
        """The fields about the problem, the statement aside."""
        return [self[name] for name in self._words if name in self.fields]

    @classmethod
    def initial_of(cls, record: Fields) -> Fields:
        metadata = record["metadata"]
        podium = metadata.get("podium") or {}
        return {
            **record,
            **metadata,
            **podium,
            "tags": ", ".join(metadata.get("tags") or []),
            **{f"limit_{name}": value for name, value in (podium.get("limits") or {}).items()},
        }

    def clean_tags(self) -> list[str]:
        return [tag for one in self.cleaned_data["tags"].split(",") if (tag := one.strip())]

    def edit(self, record: Fields) -> None:
        """Set the record's fields to what was typed. Only for a valid form."""
        said, metadata = self.cleaned_data, record["metadata"]
        if said["task_id"] != record["task_id"]:
            _name_solutions(record, said["task_id"])
        for name in ("task_id", "group", "date"):
            record[name] = said[name]
        record["prompt"] = kept_text(record["prompt"], said["prompt"])
        overlay(metadata, "difficulty", said["difficulty"] or None, None)
        overlay(metadata, "tags", said["tags"], [])
        overlay(metadata, "do_not_release", said["do_not_release"], False)
        if self.is_podium:
            podium = metadata.setdefault("podium", {})
            overlay(podium, "title", said["title"], "")
            self.edit_podium(podium)
            if not podium:
                del metadata["podium"]

    def edit_podium(self, podium: Fields) -> None:
        """The same of the key `podium` of the metadata."""

    def show(self, refused: RecordRefused) -> dict[str, list[str]]:
        """Put each fault at its field. Returns those of files by their field's name."""
        of_files: dict[str, list[str]] = {}
        for fault in refused.faults:
            names = [str(part) for part in fault.path if part not in ("metadata", "podium")]
            if names and names[0] in FILE_FIELDS:
                rest = ".".join(names[1:])
                of_files.setdefault(names[0], []).append(f"{rest}: {fault.words}" if rest else fault.words)
                continue
            name = f"limit_{names[1]}" if names[:1] == ["limits"] and len(names) > 1 else "".join(names[:1])
            known = name if name in self.fields else None
            self.add_error(known, fault.words if known else f"{'.'.join(names)} {fault.words}".strip())
        return of_files


def _name_solutions(record: Fields, task_id: str) -> None:
    """The problem's own solutions carry its task_id."""
    for one in (record.get("baseline_solution"), *(record.get("other_baselines") or {}).values()):
        if one:
            one["task_id"] = task_id


class _Limits(forms.Form):
    """Bounds on one command; empty ones are the site's own."""

    limit_memory_bytes = forms.IntegerField(required=False, min_value=1, label="Memory (bytes)")
    limit_processes = forms.IntegerField(required=False, min_value=1, label="Processes")
    limit_file_bytes = forms.IntegerField(required=False, min_value=1, label="Largest file written (bytes)")
    limit_workspace_bytes = forms.IntegerField(required=False, min_value=1, label="Workspace (bytes)")
    limit_output_bytes = forms.IntegerField(required=False, min_value=1, label="Output kept (bytes)")
    limit_build_seconds = _number(label="Build (seconds)", min_value=0)

    def edit_limits(self, podium: Fields) -> None:
        typed = {name: value for name in LIMITS if (value := self.cleaned_data[f"limit_{name}"]) is not None}
        before = {name: value for name, value in (podium.get("limits") or {}).items() if value is not None}
        if typed != before:
            overlay(podium, "limits", typed, {})


_LIMIT_FIELDS = tuple(f"limit_{name}" for name in LIMITS)
_MODES = [
    ("process", "process: wall clock of the whole process"),
    ("kernels", "kernels: sum of kernel times"),
    ("region", "region: inside NVTX ranges"),
    ("gpu", "gpu: kernels and memory transfers"),
    ("custom", "custom: the benchmark prints its own time, which never ranks"),
]
_NUMBERS = ("flops", "bytes", "output_bytes", "working_set_bytes", "source_bytes")
_FLAGS = ("l2_flushed", "work_checked")


class CommandForm(_Limits, ProblemForm):
    """A problem judged by shell commands."""

    type = forms.ChoiceField(
        label="Language", choices=[(one, one) for one in ("cuda_cpp", "cuda_python", "cpp", "python")]
    )
    build_command = _small("Empty: nothing to build.")
    test_command = forms.CharField(help_text="Ends with status 0 if the solution is right.")
    benchmark_command = _small("Empty: nothing is timed.")
    visible_test_command = _small("Runs the visible tests when somebody tries a solution before submitting it.")
    timing_mode = forms.ChoiceField(label="Timed by", choices=_MODES)
    timing_include = Lines(label="Include", help_text="Globs over names of kernels or ranges, one a line.")
    timing_exclude = Lines(label="Exclude", help_text="Globs of names that are not timed, one a line.")
    time_type = forms.ChoiceField(
        label="Time of ranges", choices=[("kernel", "kernels inside"), ("wall_clock", "wall clock")], required=False
    )
    work_checked = forms.BooleanField(required=False, help_text="The benchmark verifies the very work that it times.")
    harness = forms.ChoiceField(
        choices=[("in_process", "shares a process with the solution"), ("separate", "runs in a process of its own")],
        required=False, help_text="A separate one is verified with a solution that ends its process at once.",
    )  # fmt: skip
    counts = _small("A line of the test's output that a pass needs, as: Summary: {passed} / {total} passed")
    flops = _number("Floating-point operations of one run.", min_value=0)
    bytes = _number("Bytes of one run, inputs and outputs.", min_value=0)
    output_bytes = _number("The part of them that is written.", min_value=0)
    flops_dtype = forms.ChoiceField(
        choices=_DTYPES, required=False, label="Fastest data type",
        help_text="The fastest arithmetic that the tolerances allow.",
    )  # fmt: skip
    dtype = forms.ChoiceField(choices=[("", "the fastest one"), *_DTYPES], required=False, label="Data type asked for")
    working_set_bytes = _number("What one timed iteration touches; empty: unknown.", min_value=0)
    l2_flushed = forms.BooleanField(
        required=False, label="L2 flushed", help_text="The benchmark empties the L2 cache before each iteration."
    )
    timeout_seconds = _number(
        "Of each command. Empty: a minute, and five for a benchmark.", label="Time limit (seconds)"
    )
    source_bytes = forms.IntegerField(
        required=False, min_value=1, label="Size of a solution (bytes)", help_text="Of its files together."
    )
    min_cuda_toolkit = _small("As 12.0.", label="Oldest CUDA toolkit")
    compute_capability = _small("The least that a GPU must have, as 8.0.")
    requires_datacenter_gpu = forms.BooleanField(required=False, label="Needs a datacenter GPU")
    names_all = Lines(label="Sources must name all of", help_text="Names that a solution must use, one a line.")
    names_any = Lines(label="and one of", help_text="One a line.")
    build_only_known = forms.ChoiceField(
        required=False,
        label="Files withheld from runs",
        choices=[("", "verifying finds out"), ("yes", "those listed below")],
    )
    build_only = Lines(label="Withheld files", help_text="Paths needed only to build, one a line.")

    groups = (
        ("Commands", ("type", "build_command", "test_command", "benchmark_command", "visible_test_command")),
        (
            "Timing",
            ("timing_mode", "timing_include", "timing_exclude", "time_type", "work_checked", "harness", "counts"),
        ),
        (
            "Declared work",
            ("flops", "bytes", "output_bytes", "flops_dtype", "dtype", "working_set_bytes", "l2_flushed"),
        ),
        ("Limits", ("timeout_seconds", "source_bytes", *_LIMIT_FIELDS)),
        (
            "Requirements",
            ("min_cuda_toolkit", "compute_capability", "requires_datacenter_gpu", "names_all", "names_any",
             "build_only_known", "build_only"),
        ),
    )  # fmt: skip
    _podium_only = frozenset(
        {"title", "visible_test_command", "harness", "counts", "flops_dtype", "dtype", "build_only_known", "build_only"}
        | {*_LIMIT_FIELDS, *_NUMBERS, *_FLAGS}
    )

    @classmethod
    def initial_of(cls, record: Fields) -> Fields:
        mode, names = record["timing_mode"], record["source_references"] or {}
        found = super().initial_of(record)
        return {
            "flops_dtype": "fp32",
            **found,
            "timing_mode": mode["type"],
            "timing_include": mode.get("include"),
            "timing_exclude": mode.get("exclude"),
            "time_type": mode.get("time_type"),
            "names_all": names.get("all"),
            "names_any": names.get("any"),
            "build_only_known": "" if found.get("build_only") is None else "yes",
        }

    def edit(self, record: Fields) -> None:
        super().edit(record)
        said = self.cleaned_data
        record.update({name: said[name] for name in ("type", "test_command", "requires_datacenter_gpu")})
        for name in ("build_command", "benchmark_command", "min_cuda_toolkit", "compute_capability"):
            record[name] = said[name] or None
        record["timeout_seconds"] = said["timeout_seconds"]
        record["timing_mode"] = self._timing_mode()
        names = {"any": said["names_any"] or None, "all": said["names_all"] or None}
        record["source_references"] = names if any(names.values()) else None

    def _timing_mode(self) -> Fields:
        said = self.cleaned_data
        mode: Fields = {"type": said["timing_mode"]}
        if mode["type"] in ("kernels", "region"):
            mode |= {"include": said["timing_include"] or None, "exclude": said["timing_exclude"] or None}
        if mode["type"] == "region":
            mode["time_type"] = said["time_type"] or "kernel"
        return mode

    def edit_podium(self, podium: Fields) -> None:
        said = self.cleaned_data
        self.edit_limits(podium)
        for name in _NUMBERS:
            overlay(podium, name, said[name], None)
        for name in _FLAGS:
            overlay(podium, name, said[name], False)
        overlay(podium, "harness", said["harness"] or "in_process", "in_process")
        overlay(podium, "flops_dtype", said["flops_dtype"] or "fp32", "fp32")
        for name in ("dtype", "counts", "visible_test_command"):
            overlay(podium, name, said[name] or None, None)
        overlay(podium, "build_only", said["build_only"] if said["build_only_known"] else None, None)


class FunctionForm(_Limits, ProblemForm):
    """A problem judged by calling a function. Its definition and manifest come from a pack."""

    packed = forms.FileField(
        required=False,
        label="Packed problem",
        help_text="A problem pack (.tar.gz) whose function problem replaces definition, manifest, languages, baselines"
        " and known-bad solutions. The words, the tags and the limits on this page stay as they are.",
    )
    time_limit_seconds = forms.FloatField(label="Time limit (seconds)", help_text="Of a whole run of one sample.")

    groups = (("Limits", ("time_limit_seconds", *_LIMIT_FIELDS)), ("Definition", ("packed",)))

    def edit(self, record: Fields) -> None:
        super().edit(record)
        record["time_limit_seconds"] = self.cleaned_data["time_limit_seconds"]

    def edit_podium(self, podium: Fields) -> None:
        self.edit_limits(podium)


class _QuestionForm(ProblemForm):
    answer = forms.CharField(max_length=500, help_text="Held out: only organisers see it.")
    grading = forms.ChoiceField(
        choices=[
            ("lenient", "lenient: as a fair person reads a reply"),
            ("pmpp-strict", "pmpp-strict: as pmpp-eval does"),
        ]
    )
    final_answer_patterns = Lines(
        label="Patterns of a final answer", help_text="Regular expressions that capture the answer, one a line."
    )
    explanation = Text(
        required=False, rows=6, help_text="Markdown. Held out until the release is closed, then everybody reads it."
    )
    salt = _small(
        "Random characters. Without them or an explanation the answer could be guessed from the release's digest.",
        max_length=200,
    )
    sources = Lines(help_text="Where the fact is documented, one a line: title | https://address | section.")

    @classmethod
    def initial_of(cls, record: Fields) -> Fields:
        sources = [" | ".join(filter(None, (one["title"], one["url"], one["section"]))) for one in record["sources"]]
        return super().initial_of(record) | {"sources": sources}

    def clean_sources(self) -> list[Fields]:
        found = []
        for number, line in enumerate(self.cleaned_data["sources"], 1):
            parts = [part.strip() for part in line.split(" | ")]
            if len(parts) not in (2, 3):
                raise ValidationError(f"Source {number} should read: title | https://address | section.")
            found.append({"title": parts[0], "url": parts[1], "section": parts[2] if len(parts) > 2 else ""})
        return found

    def edit(self, record: Fields) -> None:
        super().edit(record)
        said = self.cleaned_data
        for name in ("answer", "grading", "final_answer_patterns", "salt", "sources"):
            record[name] = said[name]
        record["explanation"] = kept_text(record["explanation"], said["explanation"])


class ChoiceForm(_QuestionForm):
    """One of several texts is right."""

    choices = Blocks(
        required=True, rows=6,
        help_text="The texts of A, B, C … one a line; with an empty line between them where one has several lines.",
    )  # fmt: skip

    groups = (
        ("Choices", ("choices",)),
        ("Held out: the answer", ("answer", "explanation", "sources", "salt")),
        ("How a reply is read", ("grading", "final_answer_patterns")),
    )

    def edit(self, record: Fields) -> None:
        super().edit(record)
        record["choices"] = self.cleaned_data["choices"]


class ShortAnswerForm(_QuestionForm):
    """The answer is a number, a name or a few words."""

    numeric_tolerance = forms.FloatField(
        min_value=0, help_text="Largest difference that is still right, in the answer's unit.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )  # fmt: skip
    accept = Lines(label="Other right answers", help_text="One a line.")

    groups = (
        ("Held out: the answer", ("answer", "accept", "numeric_tolerance", "explanation", "sources", "salt")),
        ("How a reply is read", ("grading", "final_answer_patterns")),
    )

    def edit(self, record: Fields) -> None:
        super().edit(record)
        record |= {name: self.cleaned_data[name] for name in ("numeric_tolerance", "accept")}


FORMS: Mapping[str, type[ProblemForm]] = {
    Kind.COMMAND: CommandForm,
    Kind.FUNCTION: FunctionForm,
    Kind.CHOICE: ChoiceForm,
    Kind.SHORT_ANSWER: ShortAnswerForm,
}

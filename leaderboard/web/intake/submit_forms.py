"""The forms by which samples come in: an upload, or one solution typed into a problem's page."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest

from leaderboard.actions.intake.keep_typed_draft import keep_typed_draft, typed_draft_of
from leaderboard.errors import Refused, Unavailable
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.intake.licences import BAD_LICENCE, LICENCE, LICENCE_HELP, MAX_LICENCE, SUGGESTED
from leaderboard.models import Entrant, Track, TypedDraft
from problems.formats.coverage import Coverage
from problems.formats.errors import PackRefused
from problems.models import Problem, Release
from problems.spec.kinds import SITE_KINDS, Kind
from problems.spec.sizes import Size
from problems.spec.solution import SourceFile

MEBIBYTE = 1024 * 1024
MAX_TYPED_FILES = 8
MAX_ANSWER_CHARACTERS = 500
COVERAGES = [
    ("", "As the file says. A solutions pack is full unless its groups say otherwise; other files are refused."),
    (Coverage.PARTIAL, "Submit as partial: it feeds the rankings of its problems and is not ranked on the board."),
    (Coverage.FULL, "Submit as full: it is ranked on the board, and what is absent counts as failed."),
]


class MetadataForm(forms.Form):
    """The fields that every submission has besides its samples."""

    refused_status = 422
    """HTTP status of the page that shows the form with a refusal."""

    entrant = forms.ModelChoiceField(Entrant.objects.none(), label="Model", to_field_name="slug", empty_label=None)
    tracks = forms.ModelMultipleChoiceField(
        Track.objects.none(), to_field_name="slug", widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one track: results are only comparable within one."},
    )  # fmt: skip
    note = forms.CharField(
        required=False, max_length=500, help_text="Shown on the submission's page: settings, prompts, anything."
    )
    licence = forms.RegexField(
        LICENCE, required=False, max_length=MAX_LICENCE, label="Licence of the code", help_text=LICENCE_HELP,
        error_messages={"invalid": BAD_LICENCE},
        widget=forms.TextInput(attrs={"list": "licences", "placeholder": "not stated", "autocomplete": "off"}),
    )  # fmt: skip

    def __init__(self, data: Any, files: Any, *, user: Any, tracks: Sequence[Track], initial: Any = None) -> None:
        super().__init__(data, files, initial=initial, label_suffix="")
        self.fields["entrant"].queryset = Entrant.objects.submittable_by(user)  # type: ignore[attr-defined]
        self.fields["tracks"].queryset = Track.objects.filter(pk__in=[t.pk for t in tracks])  # type: ignore[attr-defined]

    @property
    def has_entrants(self) -> bool:
        return bool(self.fields["entrant"].queryset)  # type: ignore[attr-defined]


class UploadForm(MetadataForm):
    """A solutions pack, a zip of folders or JSON lines."""

    file = forms.FileField(
        label="File", help_text="A solutions pack (.tar.gz), a zip of folders, or .jsonl.",
        error_messages={"required": "Choose a file.", "empty": "The file is empty. Choose one that holds solutions."},
        widget=forms.FileInput(attrs={"accept": ".gz,.tgz,.zip,.jsonl"}),
    )  # fmt: skip
    coverage = forms.ChoiceField(
        required=False, choices=COVERAGES, widget=forms.RadioSelect, label="If the file lacks problems", initial="",
    )  # fmt: skip
    counted = forms.BooleanField(
        required=False, initial=True, label="Let this submission count",
        help_text="The board shows it once it is finished. Until the release closes you can choose an earlier one,"
        " on its page.",
    )  # fmt: skip

    field_order = ("file", "entrant", "tracks", "coverage", "counted", "licence", "note")

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > settings.UPLOAD_MAX_BYTES:
            raise forms.ValidationError(
                f"The file has {file.size / MEBIBYTE:.1f} MiB; the most this site takes is "
                f"{settings.UPLOAD_MAX_BYTES / MEBIBYTE:.0f} MiB. Send fewer samples at a time."
            )
        return file


@dataclass(frozen=True)
class TypedFile:
    """A file of the form: its place among the fields, and why its path is refused, or ""."""

    place: int
    path: str
    content: str
    fault: str = ""


class TypedForm(MetadataForm):
    """One solution to one problem, as one or more files: `path-0`, `content-0`, `path-1` …

    It begins with the user's draft in `language`, one of the keys of `starters`, else with its starter code.
    """

    max_files = MAX_TYPED_FILES
    licences = SUGGESTED

    def __init__(
        self,
        data: Any,
        *,
        problem: Problem,
        language: str,
        draft: TypedDraft | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data, None, **kwargs)
        self.starters = problem.spec.starters
        self.offered_sizes: Sequence[Size] = problem.spec.trial_sizes
        self.language = language
        self.draft = draft
        self.drafts = draft.by_language if draft else {}
        self._problem = problem

    @property
    def has_one_path(self) -> bool:
        """Whether the problem prescribes one file by its name, so that the form offers no others."""
        return self._problem.kind == Kind.FUNCTION

    @property
    def other_languages(self) -> list[str]:
        """The other languages that a contestant may choose."""
        return [one for one in self.starters if one != self.language]

    @property
    def typed(self) -> list[SourceFile]:
        """The files as they were typed, else those of the draft, else the starter ones."""
        if not self.is_bound:
            return list(self.drafts.get(self.language) or self.starters[self.language])
        return [SourceFile(path=path, content=content) for _, path, content in self._typed_fields]

    @property
    def rows(self) -> list[TypedFile]:
        """The same files as fields."""
        if not self.is_bound:
            return [TypedFile(n, file.path, file.content) for n, file in enumerate(self.typed)]
        faults = self.path_faults
        return [TypedFile(n, path, content, faults.get(n, "")) for n, path, content in self._typed_fields]

    @cached_property
    def path_faults(self) -> dict[int, str]:
        """Reasons why paths are refused, by their places: the intake's own rule, and every file has a path of its
        own."""
        places, paths = [n for n, _, _ in self._typed_fields], [path for _, path, _ in self._typed_fields]
        rules = catalogue_of(self._problem.release).rules_for(self._problem.task_id)
        faults = {places[at]: reason for at, reason in rules.path_faults(paths).items()}
        for at, path in enumerate(paths):
            if path in paths[:at]:
                faults.setdefault(places[at], f"another file has the path {path!r}")
        return faults

    @property
    def blank(self) -> TypedFile | None:
        """A further file's empty fields; None where there are as many as may be."""
        place = max((row.place for row in self.rows), default=-1) + 1
        return TypedFile(place, "", "") if place < MAX_TYPED_FILES else None

    @cached_property
    def _typed_fields(self) -> list[tuple[int, str, str]]:
        """Place, path and content of each file that was typed. One without path and content is left out."""
        fields = [(n, str(self.data.get(f"path-{n}", "")).strip(), self._content(n)) for n in range(MAX_TYPED_FILES)]
        return [field for field in fields if field[1] or field[2].strip()]

    @property
    def sizes(self) -> dict[str, int]:
        """The own sizes of a run, `size-NAME`; those that are left empty are the smallest case's."""
        return {size.name: int(text) for size, text in self.size_fields if text}

    @property
    def size_fields(self) -> list[tuple[Size, str]]:
        """Each size that a run may choose, and what was typed."""
        return [(one, str(self.data.get(f"size-{one.name}", "")).strip()) for one in self.offered_sizes]

    def _content(self, n: int) -> str:
        """A browser sends CR LF whatever was typed."""
        return str(self.data.get(f"content-{n}", "")).replace("\r\n", "\n")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not any(file.content.strip() for file in self.typed):
            raise forms.ValidationError("Type a solution: no file has any content.")
        if self.path_faults:
            reasons = "; ".join(self.path_faults.values())
            raise forms.ValidationError(f"This would not be graded: {reasons}.")
        try:
            _ = self.sizes
        except ValueError:
            raise forms.ValidationError("A size of a run is a whole number.") from None
        return cleaned


class AnswerForm(MetadataForm):
    """The answer to a question: the letter of a choice, or a few words."""

    answer = forms.CharField(
        max_length=MAX_ANSWER_CHARACTERS, label="Answer", error_messages={"required": "Give an answer."}
    )
    offered_sizes: Sequence[Size] = ()
    sizes: Mapping[str, int] = {}

    def __init__(self, data: Any, *, path: str, choices: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(data, None, **kwargs)
        self.lettered = choices
        self._path = path
        if choices:
            self.fields["answer"] = forms.ChoiceField(
                choices=choices, error_messages={"required": "Choose one of the answers."}
            )

    @property
    def typed(self) -> list[SourceFile]:
        """The reply as a model would give it."""
        return [SourceFile(path=self._path, content=f"Final: {self.cleaned_data['answer']}\n")]


def refuse(form: MetadataForm, field: str | None, refusal: PackRefused | Refused) -> None:
    """Show the refusal's words at the field, or above the form."""
    form.add_error(field, refusal.message)
    if isinstance(refusal, Unavailable):
        form.refused_status = refusal.status


def keep_typed(user: Any, problem: Problem, form: TypedForm | AnswerForm) -> None:
    """Keep what is sent to run or to submit as the user's draft too, as far as one is kept."""
    if isinstance(form, TypedForm):
        with suppress(Refused):
            keep_typed_draft(user, problem, form.language, form.typed)


def typed_form_for(request: HttpRequest, problem: Problem, track: Track | None) -> TypedForm | AnswerForm | None:
    """The form on a problem's page; None for those who have not signed in."""
    if not request.user.is_authenticated:
        return None
    return typed_form(request, problem, initial={"tracks": [track] if track else []})


def typed_form(request: HttpRequest, problem: Problem, data: Any = None, initial: Any = None) -> TypedForm | AnswerForm:
    if problem.kind in SITE_KINDS:
        spec, tracks = problem.spec, offered_tracks(problem.release)
        path = spec.starter_files[0].path
        return AnswerForm(
            data, path=path, choices=spec.lettered_choices, user=request.user, tracks=tracks, initial=initial
        )
    draft = typed_draft_of(request.user, problem) if data is None else None
    return TypedForm(
        data,
        problem=problem,
        language=_language(problem, (data or request.GET).get("language", ""), draft),
        draft=draft,
        user=request.user,
        tracks=offered_tracks(problem.release),
        initial=initial,
    )


def _language(problem: Problem, asked: str, draft: TypedDraft | None) -> str:
    """The language that was asked for, else that of the draft, else the problem's usual one."""
    offered = problem.spec.starters
    wanted = [asked, draft.language if draft else ""]
    return next((one for one in wanted if one in offered), next(iter(offered)))


def offered_tracks(release: Release) -> list[Track]:
    return list(Track.objects.filter(on_releases__release=release))

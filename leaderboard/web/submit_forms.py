"""The forms by which samples come in: an upload, or one solution typed into a problem's page."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest

from leaderboard.errors import Refused, Unavailable
from leaderboard.licences import BAD_LICENCE, LICENCE, LICENCE_HELP, MAX_LICENCE
from leaderboard.models import Entrant, Track
from problems.formats.coverage import Coverage
from problems.formats.errors import PackRefused
from problems.models import Problem, Release
from problems.spec.kinds import SITE_KINDS
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
        help_text="The latest full submission that asks to count is the one on the board.",
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


class TypedForm(MetadataForm):
    """One solution to one problem, as one or more files: `path-0`, `content-0`, `path-1` …

    It begins with the starter code of `language`, one of the keys of `starters`.
    """

    def __init__(
        self,
        data: Any,
        *,
        starters: Mapping[str, list[SourceFile]],
        language: str,
        sizes: Sequence[Size] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(data, None, **kwargs)
        self.starters = starters
        self.offered_sizes = sizes
        self.language = language

    @property
    def other_languages(self) -> list[str]:
        """What else a contestant may choose."""
        return [one for one in self.starters if one != self.language]

    @property
    def typed(self) -> list[SourceFile]:
        """The files as they were typed, else the starter ones."""
        if not self.is_bound:
            return self.starters[self.language]
        names = [n for n in range(MAX_TYPED_FILES) if str(self.data.get(f"path-{n}", "")).strip()]
        return [SourceFile(path=str(self.data[f"path-{n}"]).strip(), content=self._content(n)) for n in names]

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
    tracks, starters = offered_tracks(problem.release), problem.spec.starters
    asked = str((data or request.GET).get("language", ""))
    language = asked if asked in starters else next(iter(starters))
    return TypedForm(
        data,
        starters=starters,
        language=language,
        sizes=problem.spec.trial_sizes,
        user=request.user,
        tracks=tracks,
        initial=initial,
    )


def offered_tracks(release: Release) -> list[Track]:
    return list(Track.objects.filter(on_releases__release=release))

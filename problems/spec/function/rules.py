"""Rules of a function problem for a solution: one file of an allowed language with the declared function."""

from collections.abc import Sequence
from dataclasses import dataclass

from problems.spec.function.language import language_of
from problems.spec.function.manifest import Parameter
from problems.spec.function.signature import FILE_NAMES, Language
from problems.spec.solution import SourceFile


@dataclass(frozen=True)
class FunctionRules:
    """The rules of one problem."""

    languages: tuple[Language, ...]
    parameters: tuple[Parameter, ...]

    def why_bad(self, files: Sequence[SourceFile]) -> str:
        """Say why these files may not be a solution, or return "" if they may."""
        if len(files) != 1:
            return f"the solution has {len(files)} files; give one: {self._names()}"
        return self._why_bad_text(files[0]) or self._why_bad_file(files[0])

    def path_faults(self, paths: Sequence[str]) -> dict[int, str]:
        """A file has the name of an allowed language. How many there may be is not a path's fault."""
        return {place: reason for place, path in enumerate(paths) if (reason := self._why_bad_name(path))}

    def _why_bad_name(self, path: str) -> str:
        if path not in FILE_NAMES.values():
            return f"{path!a} is not a solution's name; use {self._names()}"
        if path not in {FILE_NAMES[one] for one in self.languages}:
            return self._why_other_language(SourceFile(path=path, content=""))
        return ""

    def _why_other_language(self, file: SourceFile) -> str:
        return f"{file.path} is {language_of(file)}; this problem allows {', '.join(self.languages)}"

    def language(self, file: SourceFile) -> Language | None:
        """The language of an allowed file; None if the problem does not allow it."""
        found = language_of(file)
        if found == "python" and "python" not in self.languages and "triton" in self.languages:
            return "triton"  # an import of triton may be hidden from the reader
        return found if found in self.languages else None

    def language_of(self, files: Sequence[SourceFile]) -> str:
        """The language of a solution that the rules allow."""
        return self.language(files[0]) or ""

    def _names(self) -> str:
        return " or ".join(dict.fromkeys(FILE_NAMES[one] for one in self.languages))

    def _why_bad_text(self, file: SourceFile) -> str:
        if "\0" in file.content:
            return f"{file.path!r} holds a NUL character"
        try:
            file.content.encode()
        except UnicodeEncodeError:
            return f"{file.path!r} holds a lone surrogate, which cannot be written as UTF-8"
        return ""

    def _why_bad_file(self, file: SourceFile) -> str:
        if reason := self._why_bad_name(file.path):
            return reason
        language = self.language(file)
        if language is None:
            return self._why_other_language(file)
        if language in ("cuda", "cpp"):
            from problems.spec.function.c_check import why_bad_c  # only C++ needs the parser

            return why_bad_c(file, self.parameters, for_cuda=language == "cuda")
        from problems.spec.function.python_check import why_bad_python

        return why_bad_python(file, self.parameters)

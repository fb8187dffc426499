"""What a function problem demands of a solution: one file of an allowed language with the declared function."""

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
        if file.path not in FILE_NAMES.values():
            return f"{file.path!a} is not a solution's name; use {self._names()}"
        language = self.language(file)
        if language is None:
            return f"{file.path} is {language_of(file)}; this problem allows {', '.join(self.languages)}"
        if language in ("cuda", "cpp"):
            from problems.spec.function.c_check import why_bad_c  # only C++ needs the parser

            return why_bad_c(file, self.parameters, for_cuda=language == "cuda")
        from problems.spec.function.python_check import why_bad_python

        return why_bad_python(file, self.parameters)

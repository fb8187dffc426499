"""Makes a solution record of a reply, or says why the reply holds none."""

from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt

from podium.generation.asked import Asked
from podium.generation.endpoint import REQUEST_REFUSED, Reply
from problems.formats.compute_eval.replies import parse_reply, read_block
from problems.spec.kinds import SITE_KINDS
from problems.spec.question.rules import ANSWER_PATH
from problems.spec.solution import FileSolution, SourceFile

_MARKDOWN = frozenset({"markdown", "md"})
_BLOCKS = MarkdownIt("commonmark").disable(["inline", "html_block", "reference", "lheading", "heading"])
"""CommonMark's rules for fences: in list items, within longer ones, of tildes. Nothing within a line is read."""
LONGEST_REPLY = 400_000
"""Characters of which fences are read."""
DEEPEST = 4
"""Fences within each other that are read."""
_LANGUAGES = {"cuda": ".cu", "cu": ".cu", "cpp": ".cpp", "c++": ".cpp", "c": ".cpp", "python": ".py", "py": ".py"}
TRUNCATED, REFUSED = "length", "content_filter"


def without_thoughts(text: str) -> str:
    """The reply as a later turn quotes it: without lone surrogates too, which no request could carry."""
    return encodable(_unthought(text).strip())


def is_refused(reply: Reply) -> bool:
    """Whether asking further would only be refused again."""
    return bool(reply.refusal) or reply.finish_reason == REFUSED


def problem_of(solution: FileSolution) -> str:
    """Returns the reason why the record's reply holds no solution; empty if it holds one."""
    return str((solution.model_extra or {}).get("generation_problem", ""))


def solution_of(asked: Asked, text: str, finish_reason: str, refusal: str) -> FileSolution:
    """The record. A reply without a solution becomes one without files.

    `generation_problem` says what is wrong with a reply: it is refused, cut off, empty, no text, or holds no file.
    """
    files = _files(asked, text) if encodable(text) == text else []
    if finish_reason == TRUNCATED and asked.kind not in SITE_KINDS:
        files = []  # half of a program may pass by what it leaves out
    reason = encodable(_problem_of(files, text, finish_reason, refusal))
    said = {"generation_problem": reason} if reason else {}
    return FileSolution.model_validate({"task_id": asked.task_id, "files": files, **said})


def encodable(text: str) -> str:
    """The text with `?` for each lone surrogate."""
    return text.encode("utf-8", "replace").decode()


def _problem_of(files: list[SourceFile], text: str, finish_reason: str, refusal: str) -> str:
    if finish_reason == REQUEST_REFUSED:
        return f"The endpoint refused the request: {refusal[:300]}"
    if refusal or finish_reason == REFUSED:
        return f"The model refused: {refusal[:300]}" if refusal else "The endpoint's filter withheld the reply."
    if finish_reason == TRUNCATED:
        return "The reply was cut off at the limit of tokens."
    if not text.strip():
        return "The reply is empty."
    if encodable(text) != text:
        return "The reply holds a lone surrogate, half of a character, which no file can hold."
    return "" if files else "The reply holds no file in the form that was asked for."


def _files(asked: Asked, text: str) -> list[SourceFile]:
    if asked.kind in SITE_KINDS:
        return [SourceFile(path=ANSWER_PATH, content=text)] if text.strip() else []
    if asked.is_strict:
        return parse_reply(text)
    said = _unthought(text.replace("\r\n", "\n"))
    return _last_of_each(_named(said, asked)) or _by_language(said, asked)


def _unthought(text: str) -> str:
    """The reply without what stands between `<think>` and `</think>`, and the blanks before it."""
    kept, at = [], 0
    while (begin := text.find("<think>", at)) >= 0 and (end := text.find("</think>", begin)) >= 0:
        kept.append(text[at:begin].rstrip())
        at = end + len("</think>")
    return "".join([*kept, text[at:]])


def _named(text: str, asked: Asked) -> list[SourceFile]:
    """Files whose block names them. One-word comments that are no path are not taken for one."""
    known = set(asked.starter_paths)
    by_blocks = [file for _, block in _fences(text) if (file := read_block(block)) is not None]
    for files in (
        by_blocks,
        parse_reply(text),
    ):  # a fence whose lines are less indented than its list ends with the list
        if named := [file for file in files if file.path in known or "." in file.path]:
            return named
    return []


def _fences(text: str, n_levels: int = DEEPEST) -> Iterator[tuple[str, str]]:
    """The language and the content of each fence that has an end.

    A fence of Markdown, or of no known language, stands for those within it, if there are any.
    """
    lines = text[:LONGEST_REPLY].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for token in _BLOCKS.parse("\n".join([*lines, ""])):
        if token.type != "fence" or token.map is None or not _is_closed(token.content, token.map):
            continue
        language = next(iter(token.info.lower().split()), "")
        is_code = language in _LANGUAGES or not n_levels
        within = [] if is_code else list(_fences(token.content, n_levels - 1))
        if within or language in _MARKDOWN:
            yield from within
        else:
            yield language, token.content


def _is_closed(content: str, lines: Sequence[int]) -> bool:
    """Whether the fence's lines, given as the first and the one past the last, hold a line more than its content."""
    return content.count("\n") + 2 == lines[1] - lines[0]


def _last_of_each(files: list[SourceFile]) -> list[SourceFile]:
    """A file that is given twice was corrected."""
    return list({file.path: file for file in files}.values())


def _by_language(text: str, asked: Asked) -> list[SourceFile]:
    """The last block of a language whose starter code is one file; else, where only one file is asked for, the last
    block without a language that is known, or of C++ for a file of CUDA."""
    paths = asked.starter_paths
    blocks = [(_LANGUAGES.get(language, ""), block) for language, block in _fences(text)]
    for suffix, block in reversed(blocks):
        fitting = [path for path in paths if suffix and path.endswith(suffix)]
        if len(fitting) == 1:
            return [SourceFile(path=fitting[0], content=block)]
    for suffix, block in reversed(blocks):
        if len(paths) == 1 and (not suffix or (suffix == ".cpp" and paths[0].endswith(".cu"))):
            return [SourceFile(path=paths[0], content=block)]
    return []

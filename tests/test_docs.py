"""Documents are as long as their readers need and their links lead somewhere; docstrings name the thing."""

import ast
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    path.relative_to(ROOT)
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
MAX_WORDS = {
    "CHANGELOG.md": 600,
    "docs/architecture.md": 800,
    "docs/benchmarks.md": 1800,
    "docs/node-operators.md": 2000,
    "docs/organisers.md": 3400,
    "docs/scoring.md": 2500,
}
MAX_WORDS_OF_A_DECISION = 250
PACKAGES = ("leaderboard", "problems", "runners", "scoring", "podium", "demo", "benchmarks", "scripts")
RIDDLES = ("What", "Of", "Why", "By", "Who", "Whose", "That", "Such")
"""First words after which a reader waits for the subject. The docstring says "The limit of …", "The reason why …"."""
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def words(text: str) -> int:
    """How many words a text has; bars and rules of tables, and bullets, are none."""
    return sum(any(letter.isalnum() for letter in word) for word in text.split())


def anchor(heading: str) -> str:
    """The anchor that GitHub makes of a heading's text."""
    shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    kept = (one for one in shown if one in " -_" or unicodedata.category(one)[0] in "LN")
    return "".join(kept).replace(" ", "-")


def anchors(document: Path) -> set[str]:
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    return {anchor(line.lstrip("#")) for line in text.splitlines() if re.match(r"#{1,6} ", line)}


@pytest.mark.parametrize(("name", "limit"), MAX_WORDS.items())
def test_a_document_is_as_long_as_its_reader_needs(name: str, limit: int) -> None:
    assert words((ROOT / name).read_text(encoding="utf-8")) <= limit


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda path: path.name)
def test_a_decision_fits_a_page(decision: Path) -> None:
    assert words(decision.read_text(encoding="utf-8")) <= MAX_WORDS_OF_A_DECISION


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_every_link_of_a_document_leads_somewhere(document: Path) -> None:
    text = FENCE.sub("", (ROOT / document).read_text(encoding="utf-8"))
    dead = []
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, fragment = link.partition("#")
        target = (ROOT / document).parent / path if path else ROOT / document
        if not target.exists() or (fragment and target.suffix == ".md" and fragment not in anchors(target)):
            dead.append(link)
    assert not dead


def test_every_path_in_the_architecture_exists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    paths = re.findall(r"`([a-z_]+/[a-z_/]+\.(?:py|html))`", text)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_words_are_counted_without_the_bars_of_tables() -> None:
    assert words("| a figure | 3 % |\n| --- | --- |\n- one, two") == 5


def test_an_anchor_is_github_s() -> None:
    assert anchor("## `podium evaluate` on a GPU".lstrip("#")) == "podium-evaluate-on-a-gpu"
    assert anchor(" GFLOPS, GB/s and the roofline") == "gflops-gbs-and-the-roofline"


def riddles(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Docstrings and texts below values that begin with a word of `RIDDLES`: each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            first, *_ = node.value.value.split(None, 1) or [""]
            if first in RIDDLES:
                yield node.lineno, node.value.value


def test_a_docstring_names_the_thing() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[:60]}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "migrations" not in path.parts
        for line, text in riddles(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_a_text_below_a_value_is_read_too() -> None:
    assert list(riddles(ast.parse('LIMIT = 3\n"""Of one account."""'))) == [(2, "Of one account.")]
    assert list(riddles(ast.parse('def limit():\n    """The limit of one account."""'))) == []

"""TeX in statements: what is a formula, what stays text, and that it is readable and harmless without a script."""

import time

import pytest

from leaderboard.web.problems.statement import as_html


@pytest.mark.parametrize(
    ("markdown", "formula"),
    [
        ("a $x^2<y$ b", r"\(x^2&lt;y\)"),
        ("a $$x_1$$ b", r"\[x_1\]"),
        ("$$\na *b* = c\n$$", r"\[a *b* = c\]"),
        (r"a \(x_1*b*c\) b", r"\(x_1*b*c\)"),
        (r"a \[x\] b", r"\[x\]"),
        ("\\[\na\n- b\n\\]", "\\[a\n- b\\]"),
        ("- one\n\n  \\[\n  x\n  \\]", r"\[x\]"),
        (r"\(<script>alert(1)</script>\)", r"\(&lt;script&gt;alert(1)&lt;/script&gt;\)"),
        (r"\(\href{javascript:alert(1)}{x}\)", r"\(\href{javascript:alert(1)}{x}\)"),
    ],
)
def test_a_formula_keeps_its_source(markdown: str, formula: str) -> None:
    html = as_html(markdown)
    assert f">{formula}</code>" in html
    assert html.count('<code class="math') == 1


@pytest.mark.parametrize(
    "markdown",
    [
        "$5 and $6", "from $5-$6 to US$7", "a lone $", "$6 and `$x$`", r"\(a `x\)` b",
        r"\$x\$", "`$x$`", r"`\(x\)`", "```\n$x$\n\\[y\\]\n```",
        "    \\[\n    x\n    \\]", r"\( open", r"\[ open", "\\[\nopen\n\nother \\]", r"a\\(b\\)", r"\(\)", "\\[",
    ],
)  # fmt: skip
def test_what_is_no_formula_stays_as_it_is(markdown: str) -> None:
    assert "math" not in as_html(markdown)


@pytest.mark.parametrize("piece", ["$", "$x", r"\(", r"\[", "\\[\n", r"\$", "$$\n", "\\[\nx\n"])
def test_many_openings_take_no_long_time(piece: str) -> None:
    began = time.process_time()
    as_html(piece * (20_000 // len(piece)))
    assert time.process_time() - began < 2.0

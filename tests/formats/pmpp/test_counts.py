"""The line with counts is found in a harness's source as it will be printed."""

import pytest

from problems.formats.pmpp.counts import printed_counts


@pytest.mark.parametrize(
    ("source", "counts"),
    [
        ('printf("Summary: %d/%d passed\\n", p, t);', "Summary: {passed}/{total} passed"),
        ('printf("\\nResult: %3d / %3zu tests passed\\n", p, t);', "Result: {passed} / {total} tests passed"),
        ('puts("x"); std::printf("passed %d / %d\\n", p, t);', "passed {passed} / {total}"),
        ('printf("All done in %f ms: %d of %d passed (%s)\\n", ms, p, t, s);', "ms: {passed} of {total} passed ("),
        ('printf("Summary: "\n       "%d/%d passed\\n", p, t);', "Summary: {passed}/{total} passed"),
        ('printf("100%% sure: %d/%d passed\\n", p, t);', "sure: {passed}/{total} passed"),
        ('std::cout << "Passed: " << passed << "/" << total << "\\n";', "Passed: {passed}/{total}"),
        ('std::cout << "Result " << p << " / " << t << " passed" << std::endl;', "Result {passed} / {total} passed"),
        ('printf("Null after first free: %d / %d -> %s\\n", a, b, c);', ""),
        ('printf("All tests passed.\\n");', ""),
        ("", ""),
    ],
)
def test_the_line_is_found(source: str, counts: str) -> None:
    assert printed_counts(source) == counts

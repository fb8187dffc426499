"""The strengths of an entrant: of how many ranked entrants the mean beside its bars is."""

from typing import Any

import pytest

from tests.markup import markup
from tests.web.drawn_board import drawn_board


@pytest.mark.parametrize(("n", "words"), [(1, "Mean of 1 ranked entrant<"), (4, "Mean of 4 ranked entrants<")])
def test_the_mean_beside_a_bar_says_of_how_many_entrants_it_is(n: int, words: str, client: Any, db: Any) -> None:
    made, _ = drawn_board(n)
    groups = {
        "sums": {"solved": 1, "problems": 2, "pass_at_1": 0.5},
        "scans": {"solved": 1, "problems": 2, "pass_at_1": 1},
    }
    made.standings.update(groups=groups)
    text = markup(client.get(made.standings.get(rank=1).entrant.get_absolute_url()))
    assert words in text
    assert "of the first 100 where there are more" in text

"""Numbers agree with their nouns and verbs."""

import pytest

from problems.spec.numbered import numbered


@pytest.mark.parametrize(
    ("n", "noun", "verb", "words"),
    [
        (1, "sample", "is", "1 sample is"),
        (0, "sample", "was", "0 samples were"),
        (1204, "evaluation", "stops", "1,204 evaluations stop"),
        (2, "pass", "", "2 passes"),
    ],
)
def test_a_number_agrees_with_its_noun_and_verb(n: int, noun: str, verb: str, words: str) -> None:
    assert numbered(n, noun, verb) == words

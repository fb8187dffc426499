"""A value that several threads want at once is made once; the values asked for last are kept."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from runners.agent.ground.locks import Once
from tests.patience import SOON


def test_what_many_want_at_once_is_made_once() -> None:
    once: Once[str, int] = Once(4)
    ready, made = Barrier(4), []

    def make() -> int:
        made.append(1)
        return len(made)

    def get(_: int) -> int:
        ready.wait(SOON)
        return once.get("key", make)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(get, range(4))) == [1] * 4


def test_the_value_asked_for_longest_ago_is_forgotten_first() -> None:
    once: Once[str, int] = Once(2)
    once.get("old", lambda: 1)
    once.get("other", lambda: 2)
    once.get("old", lambda: 3)
    once.get("newest", lambda: 4)
    assert once.get("old", lambda: 5) == 1
    assert once.get("other", lambda: 6) == 6
